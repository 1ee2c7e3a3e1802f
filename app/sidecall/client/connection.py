"""The configuration of both clients: address, credentials, timeouts, retries."""

import os
import re
from collections.abc import Mapping
from typing import Any, TypedDict

import httpx

from sidecall.client.operations import HEADER, Operations
from sidecall.client.retries import Persistence
from sidecall.client.steps import Sending
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


DEFAULT_URL = "http://127.0.0.1:8000"
# What a header may hold; other letters end a connection before it begins, or change on their way.
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")

_LAST_PORT = 65535
# What is in no name of a machine; such an address would be looked for in vain, again and again.
_NO_HOST = re.compile(r"[\s<>|\\^*\"'`{}]")

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def read_address(url: str | None) -> httpx.URL:
    """Return the address of a server; the default is SIDECALL_URL.

    Raises:
        ValueError: It is none.
    """
    said = (url or os.environ.get("SIDECALL_URL") or DEFAULT_URL).strip()
    try:
        address = httpx.URL(said)
    except (httpx.InvalidURL, ValueError) as error:
        raise ValueError(f"{said!r:.200} is no address of a server: give one such as {DEFAULT_URL}") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise ValueError(f"{said!r:.200} begins with neither http:// nor https://: give one such as {DEFAULT_URL}")
    # Of http://http://tools the host is http.
    if re.search(r"\s", said) or _NO_HOST.search(address.host) or address.path.startswith("//"):
        raise ValueError(f"{said!r:.200} is no address of a server: give one such as {DEFAULT_URL}")
    if address.port is not None and not 0 < address.port <= _LAST_PORT:
        raise ValueError(f"{said!r:.200} has a port that there is not: give an address such as {DEFAULT_URL}")
    if address.query or address.fragment:
        raise ValueError(f"{said!r:.200} is no address of a server: leave out what follows ? or #")
    return address


def require_value(text: Any, what: str) -> str:
    """Validate a text as a header's value.

    Raises:
        ValueError: It has a line break, or letters that are none of ASCII.
    """
    if not isinstance(text, str) or not _HEADER_VALUE.fullmatch(text):
        raise ValueError(f"{what} is a text without line breaks, of printable letters of ASCII")
    return text


def require_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Validate headers.

    Raises:
        ValueError: One cannot.
    """
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f"{name!r:.200} is no name of a header")
        require_value(value, f"the header {name}")
    return headers


def find_proof(given: Mapping[str, Any], address: httpx.URL) -> Any:
    """Return the credential for each request, a text or a function; None without one.

    The default is SIDECALL_API_KEY.

    Raises:
        ValueError: There are two, or it cannot be sent.
    """
    key, token = given.get("api_key"), given.get("token")
    names = {"api_key": key, "token": token, "the address": address.userinfo or None}
    own = [name for name in given.get("headers", {}) if name.lower() == "authorization"]
    found = [name for name, value in names.items() if value is not None] + [f"the header {name}" for name in own]
    if len(found) > 1:
        raise ValueError(f"give {' or '.join(found)}, not both")
    if callable(token):
        return token
    kept = "" if found and not key else os.environ.get("SIDECALL_API_KEY", "").strip()
    proof = token if token is not None else key or kept
    return require_value(proof, "a key or a token") if proof else None
