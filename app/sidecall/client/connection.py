"""The configuration of both clients: address, credentials, timeouts, retries."""

from collections.abc import Mapping
from typing import Any, TypedDict

import httpx

from sidecall.client.addresses import find_proof, read_address, require_headers, require_value
from sidecall.client.conversations import HEADER
from sidecall.client.operations import Operations
from sidecall.client.steps import Persistence, Sending
from sidecall.version import __version__

_CONNECT = 10.0
# What an answer may take on its way beyond the time that its server has.
_SLACK = 10.0


class ClientOptions(TypedDict, total=False):
    """How to reach a server.

    `api_key` or `token` (a bearer token, or a function that returns the current one) authenticate the caller. `timeout`
    is how many seconds may pass without data (600). Requests refused for lack of capacity are retried `retries` times
    (4), unless the server asks for more than `longest_wait` seconds (60) of waiting. With `makes_keys` each call has an
    `Idempotency-Key`, so that it is also retried after a lost connection, and never runs twice. `transport` is httpx's,
    or a function that makes one.
    """

    api_key: str
    token: Any
    headers: Mapping[str, str]
    timeout: float
    retries: int
    longest_wait: float
    makes_keys: bool
    transport: Any


class _BearerAuth(httpx.Auth):
    def __init__(self, token: Any) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Any:
        token = self._token() if callable(self._token) else self._token
        request.headers["Authorization"] = f"Bearer {require_value(token, 'a token')}"
        yield request


def arrange(url: str | None, options: ClientOptions) -> dict[str, Any]:
    """Return the arguments for an httpx client; defaults are SIDECALL_URL and SIDECALL_API_KEY.

    Raises:
        ValueError: The address, a header or a credential cannot be used, or there are two credentials.
    """
    address = read_address(url)
    proof = find_proof(options, address)
    arranged: dict[str, Any] = {
        "base_url": address,
        "headers": {"User-Agent": f"sidecall-client/{__version__}", **require_headers(options.get("headers", {}))},
        "timeout": httpx.Timeout(options.get("timeout", 600.0), connect=_CONNECT),
        "auth": None if proof is None else _BearerAuth(proof),
    }
    return {**arranged, "transport": options["transport"]} if "transport" in options else arranged


def make_transport(arranged: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments, with the transport made if it was a function."""
    made = arranged.get("transport")
    return {**arranged, "transport": made()} if callable(made) else dict(arranged)


def make_operations(options: ClientOptions) -> Operations:
    """Make the requests that both clients share."""
    persistence = Persistence(options.get("retries", 4), options.get("longest_wait", 60.0))
    names_conversation = any(name.lower() == HEADER.lower() for name in options.get("headers", {}))
    return Operations(persistence, options.get("makes_keys", False), names_conversation)


def prepare_request(client: httpx.Client | httpx.AsyncClient, sending: Sending) -> httpx.Request:
    """Build the httpx request; its timeout includes the time that the server may take."""
    return client.build_request(
        sending.method,
        sending.path,
        # A link to a next page has its query in the path.
        params=httpx.QueryParams(tuple(sending.params)) if sending.params else None,
        headers=dict(sending.headers),
        content=sending.body,
        timeout=_choose_timeout(client.timeout, sending),
    )


def _choose_timeout(usual: httpx.Timeout, sending: Sending) -> httpx.Timeout:
    """Return the timeout of a request: its own, else the client's."""
    known = usual.as_dict()
    if sending.limit is not None:
        connect = min(sending.limit, known["connect"] or sending.limit)
        return httpx.Timeout(sending.limit, connect=connect)
    if sending.patience and usual.read is not None and usual.read < sending.patience + _SLACK:
        return httpx.Timeout(**{**known, "read": sending.patience + _SLACK})
    return usual
