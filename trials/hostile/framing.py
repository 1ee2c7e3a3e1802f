"""Read what torn connections say with the server's protocol and with h11, and compare which requests both have seen."""

import asyncio
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import h11
from starlette.types import Receive, Scope, Send

from tests.server.clients import Client, settle
from trials.finding import Finding
from trials.hostile.torn_requests import Torn, tear

CONNECTIONS = int(os.environ.get("FRAMING_CONNECTIONS", "100000"))
FIRST_SEED = int(os.environ.get("FRAMING_SEED", "1"))
SHORTLY = 2000
# What we refuse and close for, where h11 does not.
STRICTER = frozenset(
    (
        "odd ends of lines",  # Line feeds alone, which h11 takes.
        "a fold",
        "a name with a space",  # As the first of its line, which is a fold for h11.
        "the same length twice",
        "length and chunked",  # Chunks win for h11, as they may.
        "a blank after a size",
        "a size beyond 64 bits",
        "a length among the trailers",
        "an odd sign in a value",
        "an odd extension",
        "an odd start",  # Unknown methods.
        "an odd target",
        "an odd version",
        "CONNECT",
        "a whole URL",  # Of another server than `Host` says.
        "HTTP/1.0",  # With chunks, which it does not know.
        "HEAD that expects",  # Its answer closes, body or not.
        "mutated",
    )
)
# What h11 refuses and we do not; it does not change where a request ends.
LAXER = frozenset(("two spaces",))  # Before the version.
# Where the request, and not the server, is to blame: an unknown coding, and an unknown version.
_REFUSALS_OF_FORM = frozenset((b"501", b"505"))


@dataclass(frozen=True, slots=True)
class Request:
    """A request as a reader saw it: method, target, headers and body."""

    method: bytes
    path: bytes
    who: tuple[bytes, ...]
    body: bytes


@dataclass
class Reading:
    """The complete requests that a reader saw on a connection, and whether it ended with a refusal."""

    requests: list[Request] = field(default_factory=list)
    is_refused: bool = False
    is_closed: bool = False
    statuses: list[bytes] = field(default_factory=list)


@dataclass
class Comparison:
    """Count what was compared; differences are kept by their numbers."""

    connections: int = 0
    requests: int = 0
    refused: int = 0
    differences: dict[int, str] = field(default_factory=dict)


def read_with_h11(sent: bytes) -> Reading:
    """Read a connection as h11 does, answering each request with 200."""
    reading = Reading()
    connection = _begin(sent)
    request, body = None, b""
    try:
        while (event := connection.next_event()) not in (h11.NEED_DATA, h11.PAUSED):
            if isinstance(event, h11.Request):
                request, body = event, b""
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                assert request is not None
                reading.requests.append(_request_of(request, body))
                if request.method == b"CONNECT":  # What follows would be a tunnel's.
                    break
                connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
                connection.send(h11.EndOfMessage())
                if connection.our_state is not h11.DONE:
                    reading.is_closed = True
                    break
                connection = _begin(connection.trailing_data[0])
    except h11.RemoteProtocolError:
        reading.is_refused = True
    return reading


def _begin(sent: bytes) -> h11.Connection:
    """Read on, past empty lines, which a server ignores (RFC 9112, 2.2) and h11 does not."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1_000_000)
    if rest := sent.lstrip(b"\r\n"):
        connection.receive_data(rest)
    return connection


def _request_of(request: h11.Request, body: bytes) -> Request:
    who = tuple(value for name, value in request.headers if name == b"x-who")
    return Request(request.method, _path_of(request.target), who, body)


def _path_of(target: bytes) -> bytes:
    if target.startswith(b"http://"):
        target = b"/" + target[7:].partition(b"/")[2]
    return target.partition(b"#")[0]


class _Application:
    """Keep each request that was read whole, and answer it when that is allowed."""

    def __init__(self, *, is_slow: bool) -> None:
        self.seen: list[Request] = []
        self.may_answer = asyncio.Event()
        if not is_slow:
            self.may_answer.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message["body"], message["more_body"]
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        # Trailing blanks are not part of a value; readers strip them.
        who = tuple(value.rstrip(b" \t") for name, value in scope["headers"] if name == b"x-who")
        self.seen.append(Request(scope["method"].encode(), target, who, body))
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


async def read_with_ours(torn: Torn) -> Reading:
    """Read a connection as the server does, piece by piece."""
    client = Client()
    application = _Application(is_slow=torn.is_slow)
    connection: Any = client.connection
    connection.serve(application)
    if torn.is_unread:
        connection.pause_writing()
    await client.send(*torn.pieces)
    application.may_answer.set()
    if torn.is_unread:
        connection.resume_writing()
    await _go_on(client, application)
    is_open = client.wire.is_open
    if torn.is_hung_up and is_open:
        connection.eof_received()
        client.wire.close()
    connection.connection_lost(None)
    await settle()
    statuses = [status for status in client.statuses if status != b"100"]
    is_refused = any(not status.startswith(b"2") for status in statuses)
    return Reading(application.seen, is_refused, not is_open, statuses)


async def _go_on(client: Client, application: _Application) -> None:
    """Let everything happen, however many requests wait behind each other."""
    before = -1
    while before != len(application.seen):
        before = len(application.seen)
        await client.send()
        await client.send()


def compare(torn: Torn, ours: Reading, reference: Reading) -> str:
    """Name what differs, in a word; nothing when we have seen the same requests, or fewer for a reason of ours."""
    if any(status.startswith(b"5") for status in ours.statuses if status not in _REFUSALS_OF_FORM):
        return f"answered with {ours.statuses}"
    if len(ours.statuses) < len(ours.requests):
        return "not every request was answered"
    common = reference.requests[: len(ours.requests)]
    if ours.requests[: len(common)] != common:
        return "another request"
    more = ours.requests[len(common) :]
    if more and not torn.oddities & LAXER:
        return "more requests"
    if len(ours.requests) < len(reference.requests) and not ours.is_closed:
        return "fewer requests, although the connection is open"
    # What cannot be read takes with it what was sent before it and is not answered yet.
    is_explained = reference.is_refused or torn.oddities & STRICTER
    if len(ours.requests) < len(reference.requests) and not is_explained:
        return "stricter for no known reason"
    return ""


def run_shortly() -> Iterator[Finding]:
    """Try some thousand connections of S7, the same ones each time."""
    yield _judge(_try_all(range(1, SHORTLY + 1)))


def run() -> Iterator[Finding]:
    """Try S7: torn connections, read by the server's protocol and by h11."""
    yield _judge(_try_all(range(FIRST_SEED, FIRST_SEED + CONNECTIONS)))


def _try_all(seeds: range) -> Comparison:
    return asyncio.run(_compare_all(seeds))


async def _compare_all(seeds: range) -> Comparison:
    compared = Comparison()
    for seed in seeds:
        torn = tear(seed)
        ours, reference = await read_with_ours(torn), read_with_h11(torn.sent)
        compared.connections += 1
        compared.requests += len(ours.requests)
        compared.refused += ours.is_refused
        if difference := compare(torn, ours, reference):
            compared.differences[seed] = difference
    return compared


def _judge(compared: Comparison) -> Finding:
    seeds = ", ".join(f"{seed} {what}" for seed, what in itertools.islice(compared.differences.items(), 5))
    return Finding(
        "S7",
        f"{compared.connections:,} connections of right and wrong requests, sent ahead, cut at every byte, read slowly "
        "or hung up, and the same bytes read by h11",
        "the same requests with the same bodies, none more; fewer only after a refusal",
        f"{compared.requests:,} requests, {compared.refused:,} refusals, {len(compared.differences)} differences"
        + (f" (seeds {seeds})" if seeds else ""),
        compared.requests > compared.connections // 2 and compared.refused > 0 and not compared.differences,
    )
