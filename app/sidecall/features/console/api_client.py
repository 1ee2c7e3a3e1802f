"""Ask the server's own API for what a page shows: in this process, with the credentials of the page's request.

So a page shows what its reader may read, and nothing else reads what is kept.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from starlette.requests import Request
from starlette.types import Message, Scope

from sidecall.features.console.sessions import put_credential
from sidecall.kernel.concurrency.pools import RESULTS

# Bytes of an answer from which it is read in a thread.
_LARGE = 128 * 1024
# What the page's own request says, and one for data does not.
_LEFT_OUT = frozenset(
    (
        b"accept",
        b"accept-encoding",
        b"content-length",
        b"content-type",
        b"if-none-match",
        b"origin",
        b"prefer",
        b"range",
    )
)
_PAGE_ONLY = b"sec-fetch-"
_KEPT = (
    "asgi",
    "app",
    "client",
    "extensions",
    "http_version",
    "root_path",
    "scheme",
    "server",
    "sidecall.peer",
    "type",
)
_FAILURES = 400


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What the API has answered: `data` is its JSON, with whole numbers of any length."""

    status: int
    headers: Mapping[str, str]
    data: Any

    @property
    def next_cursor(self) -> str | None:
        """The cursor of the next page of a list, from the header `Link`; None on the last one."""
        link = self.headers.get("link", "")
        query = parse_qs(urlsplit(link.partition("<")[2].partition(">")[0]).query)
        return query.get("cursor", [None])[0]


class ApiFailure(Exception):
    """The API has refused a request; `problem` is what it says (RFC 9457)."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('detail', '')}")
        self.status = status
        self.problem = problem

    @property
    def slug(self) -> str:
        """What the type of the problem ends with, such as `missing-scope`."""
        return str(self.problem.get("type", "")).rpartition(":")[2]


@dataclass(slots=True)
class _Exchange:
    """One request without a body, and its answer."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)
    is_sent: bool = False
    is_over: asyncio.Event = field(default_factory=asyncio.Event)

    async def receive(self) -> Message:
        if not self.is_sent:
            self.is_sent = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.is_over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]
            }
        else:
            self.body += message.get("body", b"")


async def get(
    request: Request, path: str, query: Mapping[str, Any] | None = None, bearer: str | None = None
) -> ApiAnswer:
    """Send GET to the API in the name of a page's reader, or of a credential.

    Args:
        request: The page's request.
        path: Below the place where the server is mounted; its parts are not escaped yet.
        query: Parameters; those that are None are left out, and a list is one of several values.
        bearer: A credential in place of the reader's.

    Raises:
        ApiFailure: The API refuses it.
    """
    exchange = _Exchange()
    try:
        await request.app(_make_scope(request, path, query or {}, bearer), exchange.receive, exchange.send)
    finally:
        exchange.is_over.set()
    data = await _read(bytes(exchange.body))
    if exchange.status >= _FAILURES:
        raise ApiFailure(exchange.status, data if isinstance(data, dict) else {})
    return ApiAnswer(exchange.status, exchange.headers, data)


def _make_scope(request: Request, path: str, query: Mapping[str, Any], bearer: str | None) -> Scope:
    sent = request.scope
    root = sent.get("root_path", "")
    values = [(name, it) for name, value in query.items() for it in _list_values(value)]
    headers = [it for it in sent["headers"] if it[0] not in _LEFT_OUT and not it[0].startswith(_PAGE_ONLY)]
    scope: Scope = {
        **{name: sent[name] for name in _KEPT if name in sent},
        "method": "GET",
        "path": root + path,
        "raw_path": quote(root + path).encode(),
        "query_string": urlencode(values).encode(),
        "headers": [*headers, (b"accept", b"application/json")],
        "state": {},
    }
    return scope if bearer is None else put_credential(scope, bearer)


def _list_values(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(it) for it in value] if isinstance(value, list | tuple) else [str(value)]


async def _read(body: bytes) -> Any:
    if len(body) < _LARGE:
        return _parse(body)
    return await RESULTS.run(_parse, body)


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
