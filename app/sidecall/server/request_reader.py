"""Read the requests of one client as far as there is room, and answer them in order."""

import errno
import logging
import os
import sys
from abc import abstractmethod
from asyncio import AbstractEventLoop, BaseTransport, Task, Transport
from contextvars import Context
from typing import Any, Protocol, cast

from uvicorn.config import Config
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.flow_control import HIGH_WATER_LIMIT
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.server import ServerState

from sidecall.features.access.auth_methods import PEER
from sidecall.http.application import Application
from sidecall.http.backlog import Backlog
from sidecall.http.fast_path import NOTHING
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.server.read_turns import ReadTurns
from sidecall.server.refusals import MAX_HEADER_BYTES, NO_PROXY, ROOM_FULL
from sidecall.server.request_parser import HASH, SLASH, RequestParser, complete_scope
from sidecall.server.responses import Cycle, Flow

if sys.platform != "win32":  # which has no such limit
    import resource

logger = logging.getLogger("sidecall")

# Files that tools, logs and libraries open besides the connections.
RESERVE = 256
# Connections beyond the most, which are refused and still taken from until their clients have the answer.
_MOST_TURNED_AWAY = 256

_LEAST_TURNED_AWAY = 16
# What loading a part of the server takes when it is first needed.
_TO_LOAD = 8


def room_for(connections: int) -> int:
    """Raise the limit of open files as far as allowed, and return how many connections fit."""
    if sys.platform == "win32":
        return connections
    wanted = connections + RESERVE
    limit = _raise_limit(wanted + _MOST_TURNED_AWAY)
    if limit >= wanted:
        return connections
    fitting = max(limit - RESERVE, limit // 2 - _TO_LOAD, 1)
    logger.warning(
        "only %d connections fit under the limit of %d open files, not SIDECALL_MAX_CONNECTIONS=%d; raise it "
        "(ulimit -n, LimitNOFILE, --ulimit nofile)",
        fitting,
        limit,
        connections,
    )
    return fitting


def room_beyond(connections: int) -> int:
    """Return how many more connections may be open while they are being refused."""
    if sys.platform == "win32":
        return _LEAST_TURNED_AWAY
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = _MOST_TURNED_AWAY if limit == resource.RLIM_INFINITY else limit - RESERVE - connections
    return max(_LEAST_TURNED_AWAY, min(_MOST_TURNED_AWAY, left))


def _raise_limit(wanted: int) -> int:
    if sys.platform == "win32":
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    target = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    except (OSError, ValueError):  # macOS allows less than it says
        return soft
    return target


def are_exhausted() -> bool:
    """Test whether one more file can be opened; the event loop closes connections silently if not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


# What the bodies of most calls do not reach, and the part of the room that is kept for those, one in so many.
SMALL = 16 * 1024

_KEPT_FREE = 8


class Keeper(Protocol):
    """Holds bytes of an incomplete request."""

    def give_way(self) -> None:
        """Drop the request and its bytes, if it is still incomplete."""


class RequestRoom:
    """Counts buffered bytes, and makes room by dropping the requests that have been incomplete for longest."""

    __slots__ = ("late", "most", "shared", "turns", "unread", "used")

    def __init__(self, most: int, largest: int = 0, unread: Backlog | None = None) -> None:
        """Allow `most` bytes, at least for the `largest` body; `unread` bytes have a bound of their own."""
        self.most = max(most, largest)
        # What those that are not small may use up.
        self.shared = max(most - most // _KEPT_FREE, largest)
        self.used = 0
        self.unread = unread or Backlog()
        self.turns = ReadTurns()
        # Those whose requests have been coming for a while, the first of them last.
        self.late: list[Keeper] = []

    def make(self, size: int, asker: Keeper, *, kept: int) -> bool:
        """Return whether there is room for `size` more bytes of a keeper that holds `kept` already."""
        most = self.most if kept + size <= SMALL else self.shared
        while self.used + size > most and self.late:
            keeper = self.late.pop()
            if keeper is asker:
                return False
            keeper.give_way()
        return self.used + size <= most


def _ignore() -> None:
    """Take note that an answer is complete, for the second time."""


async def _fail(error: BaseException) -> None:
    try:
        raise error
    finally:
        del error  # Its traceback holds this frame, and would so hold itself.


# Bytes that are read at once from a packet with many requests or lines. A request costs far more memory once it is
# read; a line takes as long to read as a thousand bytes of a body.
_PIECE = 1024
# Lines of a packet, from headers or chunks, from which on it is read so.
_MANY_LINES = 256
# Bytes of requests that wait behind a slow one, beyond those of one packet.
_MOST_AHEAD = 256 * 1024


class RequestReader(RequestParser):
    """Reads requests, and begins each answer when the previous one is done."""

    __slots__ = ("_ahead", "_is_deaf", "_kept", "_lifecycle", "_plain_app", "_room", "_running")

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        loop: AbstractEventLoop | None,
        lifecycle: Lifecycle,
        room: RequestRoom,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        self.flow: Flow
        self.serve(config.loaded_app)
        self._lifecycle = lifecycle
        # Where all share it, and what this one has of it for bodies.
        self._room = room
        self._kept = 0
        self._is_deaf = False
        # What has come but is not read yet, since requests before it wait to be answered.
        self._ahead = bytearray()
        # What is being answered; uvicorn's `cycle` is the last that came, when a client sends requests ahead.
        self._running: RequestResponseCycle | None = None

    @abstractmethod
    def give_way(self) -> None:
        """Drop a request that is incomplete."""

    def serve(self, app: Any) -> None:
        """Serve requests with an application; the proxy middleware is skipped where no proxy is trusted."""
        self.app = app
        plain: Any = app.app if isinstance(app, ProxyHeadersMiddleware) else app
        # Which every call of an object would look for again.
        self._plain_app: Any = plain.serve if isinstance(plain, Application) else plain.__call__

    def connection_made(self, transport: BaseTransport) -> None:
        """Accept the connection."""
        super().connection_made(cast("Transport", transport))
        self.flow = Flow(cast("Transport", transport), self._room.unread)

    def data_received(self, data: bytes) -> None:
        """Read more, unless enough requests are queued, or others have to have their turn."""
        if self._ahead or self.flow.is_held or (len(data) > _PIECE and _takes_long(data)):
            self._keep(data)
        else:
            self._read(data)

    def _keep(self, data: bytes) -> None:
        """Buffer held bytes; beyond the bound the connection ends after the pending answer."""
        if self._is_deaf:
            return
        self._ahead += data
        self._room.used += len(data)
        self._read_ahead()
        if self.flow.is_held and len(self._ahead) > _MOST_AHEAD:
            self._end_with_answer()
        elif self._ahead and not self._room.make(0, self, kept=len(self._ahead)):
            self._refusal = ROOM_FULL
            self.send_400_response("")

    def _read_ahead(self) -> None:
        """Read a piece of what was buffered, and the rest in turn with other connections."""
        if not self.flow.is_behind and self.read_piece():
            self.flow.fall_behind()
            self._room.turns.join(self)

    def read_piece(self) -> bool:
        """Read a piece of what was buffered; return whether there is more to read now.

        What follows the start of a request that has to wait for others has to wait, too.
        """
        if self._ahead and not self.flow.is_held:
            piece = bytes(self._ahead[:_PIECE])
            del self._ahead[:_PIECE]
            self._room.used -= len(piece)
            self._read(piece)
        if self._ahead and not self.flow.is_held:
            return True
        if self.flow.is_behind:
            self._catch_up()
        return False

    def _catch_up(self) -> None:
        self.flow.is_behind = False
        is_full = self.cycle is not None and len(self.cycle.body) > HIGH_WATER_LIMIT
        if self.flow.read_paused and not is_full and not self.transport.is_closing():
            self.flow.resume_reading()

    def _end_with_answer(self) -> None:
        """Close the connection after the pending answer; further input is discarded."""
        assert self._running is not None
        self._running.keep_alive = False
        self._is_deaf = self.flow.is_held = True
        self._forget_ahead()

    def _forget_ahead(self) -> None:
        self._room.used -= len(self._ahead)
        self._ahead.clear()
        self.pipeline.clear()

    def _leave_room(self) -> None:
        self._room.used -= self._kept
        self._kept = 0

    def on_headers_complete(self) -> None:
        """Begin to answer, once the headers are valid."""
        if self.parser.should_upgrade():
            if self.parser.get_method() == b"CONNECT":  # after which the connection would not be ours
                self._object(NO_PROXY)
            return
        version, url = self.parser.get_http_version(), self.url
        if (
            version != "1.1"
            or self._hosts != 1
            or self._is_coded
            or url[0] != SLASH
            or HASH in url
            or self._header_bytes > MAX_HEADER_BYTES
        ):
            self._check_head(version)
        complete_scope(self.scope, self.parser.get_method(), version, url, self.root_path)
        before = self.cycle
        self.cycle = Cycle(self)
        app = self._note_peer() if self._is_forwarded else self._plain_app
        if before is None or before.response_complete:
            self._running = self.cycle
            self._begin(self.cycle, app)
        else:
            self.flow.pause_reading()
            self.flow.is_held = True
            self.pipeline.appendleft((self.cycle, app))
        if self._lifecycle.phase == "draining":  # Not by its property, which takes several times as long.
            self.cycle.keep_alive = False

    def _note_peer(self) -> Any:
        """Note the peer of a request that names its client, and return the proxy middleware, which reads the name."""
        cast("dict[str, Any]", self.scope)[PEER] = self.scope["client"]
        return self.app

    def _begin(self, cycle: Cycle, app: Any) -> None:
        # Its context variables are its own; those of here may be what the request before it has set.
        # Made here, since the loop would make up a name for each.
        task = cycle.task = Task(self._answer(cycle, app), loop=self.loop, name="request", context=Context())
        self.tasks.add(task)

    async def _answer(self, cycle: Cycle, app: Any) -> None:
        """Answer a request. Its task leaves by itself, since a callback would take one more turn of the loop."""
        try:
            try:
                coming = app(cycle.scope, cycle.receive, cycle.send)
            except BaseException as error:
                coming = _fail(error)
            if coming is NOTHING:  # It is answered, so that nothing is left to do but what uvicorn does in the end.
                cycle.on_response = _ignore
            else:
                await cycle.run_asgi(lambda *_: coming)
        finally:
            self.tasks.discard(cycle.task)

    def on_body(self, body: bytes) -> None:
        """Buffer a part of a body; called by the parser."""
        self._bare_bytes = 0
        cycle = self.cycle
        if cycle.response_complete:
            return
        size, room = len(body), self._room
        if room.used + size > room.shared and not room.make(size, self, kept=self._kept):
            self._object(ROOM_FULL)
        room.used += size
        self._kept += size
        cycle.body += body
        if len(cycle.body) > HIGH_WATER_LIMIT:
            self.flow.pause_reading()
        cycle.message_event.set()

    def on_message_complete(self) -> None:
        """Note that the body is complete; called by the parser."""
        self._hosts = self._chunks = 0
        self._is_coded = self._is_forwarded = False
        if self.parser.should_upgrade():
            return
        cycle: Any = self.cycle
        cycle.more_body = False
        if not cycle.message_event.is_set:  # As with the last of its bytes.
            cycle.message_event.set()

    def on_response_complete(self) -> None:
        """Continue with the next request; called by uvicorn, which would set a timer for idle connections.

        Idle connections are closed by the sweep.
        """
        self.server_state.total_requests += 1
        self._room.used -= self._kept
        self._kept = 0
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._running, app = self.pipeline.pop()
            self._begin(cast("Cycle", self._running), app)
            if not self.pipeline:
                self.flow.is_held = False
                self._read_ahead()
            else:
                self.flow.pause_reading()
        if self.flow.read_paused:
            self.flow.resume_reading()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer an unreadable request; called by uvicorn.

        An earlier request is answered first, and the connection closed with that.
        """
        if self._running is None or self._running.response_complete or self._running.more_body:
            self.refuse(self._refusal)
            return
        self._end_with_answer()


def _takes_long(data: bytes) -> bool:
    """Return whether a packet has more than one request, or very many lines."""
    return data.count(b"\r\n\r\n") > 1 or data.count(b"\r\n") > _MANY_LINES
