"""Bound what a client may take: time for its request, size of its headers, number of its connections.

Timeouts are checked for all connections together every half second, not by a timer for each, so that a request which
arrives whole pays nothing.
"""

import logging
import math
import socket
import struct
import sys
from asyncio import AbstractEventLoop, BaseTransport, Transport
from collections.abc import Iterable
from contextlib import suppress
from operator import attrgetter
from typing import Any, Literal, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.refusals import (
    BODY_LATE,
    FULL,
    HEADERS_LATE,
    ROOM_FULL,
    SHUTTING_DOWN,
    Refusal,
    bytes_of,
    response_to,
)
from sidecall.server.request_reader import Keeper, RequestReader, RequestRoom, are_exhausted, room_beyond
from sidecall.server.responses import Lingering, disconnect

logger = logging.getLogger("sidecall")

# Seconds between two looks, and between two log lines about clients.
SWEEP = 0.5

_QUIET = 10.0

# What we want of a client, at a request, with so many bytes that it has not taken.
_Wanted = Literal["headers", "a body", "a request", "another request", "a reader", "an end", "nothing"]

_Sight = tuple[_Wanted, Any, int]


class Connections(ServerState):
    """The shared state of a server's connections; it cuts off the slow ones."""

    def __init__(
        self, lifecycle: Lifecycle, patience: Patience, max_connections: int, keep_alive: float, room: RequestRoom
    ) -> None:
        super().__init__()
        self.room = room
        self.tasks = lifecycle.in_flight
        self.connections = lifecycle.connections
        self.lifecycle = lifecycle
        self.limits: dict[_Wanted, float] = {
            "headers": patience.header_timeout,
            "a body": patience.body_timeout,
            "a request": patience.header_timeout,
            "another request": keep_alive,
            # Longer by a look: what a client has read is known later, when its system next says so.
            "a reader": patience.body_timeout + SWEEP,
            "an end": patience.body_timeout + SWEEP,
            "nothing": math.inf,
        }
        self.max_connections = max_connections
        self.late = 0
        self.refused = 0
        # Refused at once and still taken from until their clients have the answer, the oldest first.
        self.turned_away: dict[Connection, None] = {}
        self.most_turned_away = room_beyond(max_connections)
        self.unreadable = 0
        self.crowded_out = 0
        self._quiet_until = 0.0

    @property
    def open(self) -> list["Connection"]:
        """A copy of the open connections."""
        return cast("list[Connection]", list(self.connections))

    @property
    def has_coming(self) -> bool:
        """Whether a connection has not asked anything yet, or is about to."""
        return any(connection.wanted in ("a request", "headers") for connection in self.open)

    @property
    def idle_sockets(self) -> list[Any]:
        """The sockets of connections that are kept without a request."""
        idle = ("a request", "another request")
        return [found.transport.get_extra_info("socket") for found in self.open if found.wanted in idle]

    def sweep(self, now: float) -> None:
        """Cut off connections that will be overdue at the next sweep, and log what happened."""
        for connection in self.open:
            connection.look(now)
        is_scarce = self.room.used * 2 > self.room.most
        coming: list[Keeper] = [found for found in self.open if found.has_kept_waiting] if is_scarce else []
        self.room.late = sorted(coming, key=attrgetter("since"), reverse=True)
        if now >= self._quiet_until and self.complain():
            self._quiet_until = now + _QUIET

    def complain(self) -> bool:
        """Log what has been refused since the last line of that, and return whether something was."""
        complaints = self._complaints()
        for complaint in complaints:
            logger.warning(complaint)
        return bool(complaints)

    def _complaints(self) -> list[str]:
        complaints = []
        if self.refused:
            limit = f"the limit of {self.max_connections} connections (SIDECALL_MAX_CONNECTIONS) is reached"
            complaints.append(f"{limit}; refused with 503: {self.refused}")
        if self.crowded_out:
            limit = f"the limit of {self.room.most} bytes of requests (SIDECALL_MAX_BODY_BYTES_IN_FLIGHT) is reached"
            complaints.append(f"{limit}; refused with 503: {self.crowded_out}")
        if self.late:
            complaints.append(f"requests that did not arrive in time were cut off: {self.late}")
        if self.unreadable:
            complaints.append(f"requests that could not be read or were too large were refused: {self.unreadable}")
        if are_exhausted():
            complaints.append("no more files can be opened, so connections are closed unanswered; raise the limit")
        self.refused = self.late = self.unreadable = self.crowded_out = 0
        return complaints


class Connection(RequestReader):
    """Serves one client, within bounds."""

    __slots__ = ("_is_leaving", "_seen", "_shared", "_slow", "since")

    def __init__(
        self,
        config: Config,
        server_state: Connections,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop, server_state.lifecycle, server_state.room)
        self._shared = server_state
        self._seen: _Sight = ("nothing", None, 0)
        self.since = 0.0
        self._is_leaving = False
        self._slow: Any = None  # what was being answered at the last look, if requests waited behind it

    def connection_made(self, transport: BaseTransport) -> None:
        """Accept the connection, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) - len(self._shared.turned_away) > self._shared.max_connections:
            self._shared.refused += 1
            self._turn_away()

    def _turn_away(self) -> None:
        """Refuse the connection, with an answer that arrives even if its client is sending a request."""
        self.refuse(FULL)
        others = self._shared.turned_away
        if len(others) >= self._shared.most_turned_away:
            oldest = next(iter(others))
            del others[oldest]
            oldest.transport.close()  # Its client has had the most time.
        others[self] = None
        self.leave()

    def connection_lost(self, exc: Exception | None) -> None:
        """Notify the running application that its client has disconnected."""
        if self._running is not None and not self._running.response_complete:
            disconnect(self._running)
        self._shared.turned_away.pop(self, None)
        self._leave_room()
        self._forget_ahead()
        super().connection_lost(exc)

    def refuse(self, refusal: Refusal) -> None:
        """Answer without a valid request, and close."""
        if self.transport.is_closing() or self._is_leaving:
            return
        running = self._running
        if running is None or running.response_complete or not running.response_started:
            self.transport.write(bytes_of(refusal, self._shared.default_headers))
            self._lifecycle.refused[refusal.status] += 1
        if running is not None:
            disconnect(running)
        self._leave_room()
        if refusal is ROOM_FULL:
            self._shared.crowded_out += 1
        if refusal is SHUTTING_DOWN:
            self.transport.close()
        elif refusal is not FULL:
            self.leave()

    def send_400_response(self, msg: str) -> None:
        """Answer an unreadable request, and count it for the log, which thousands of them would fill."""
        if self._refusal is not ROOM_FULL:
            self._shared.unreadable += 1
        super().send_400_response(msg)

    @property
    def has_kept_waiting(self) -> bool:
        """Whether its request's body had begun at the last sweep and is still incomplete."""
        return self._seen[0] == "a body" and self._seen[1] is self.scope and self.wanted == "a body"

    def give_way(self) -> None:
        """Refuse the incomplete request, to make room for others."""
        if self.has_kept_waiting:
            self.refuse(ROOM_FULL)

    def leave(self) -> None:
        """Close the connection for sending, and discard what the client sends until it has seen that."""
        if self.transport.is_closing() or self._is_leaving:
            return
        self._is_leaving = True
        self._forget_ahead()
        self.transport.set_protocol(Lingering(self))
        self.flow.listen()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        else:  # With TLS one side cannot end alone.
            self.transport.close()

    def look(self, now: float) -> None:
        """Cut the client off if one step has taken too long."""
        if self.flow.is_held:
            if self._slow is self._running:
                self.flow.listen()
            self._slow = self._running
        wanted = self.wanted
        scope, unread = self.scope, self.transport.get_write_buffer_size()
        untaken = count_untaken(self.transport) if unread or wanted in ("a reader", "an end") else 0
        if unread or self.flow.size:
            self.flow.look(unread, is_moving=untaken < self._seen[2])
        # Scopes of equal requests are equal, so the same one is told by what it is.
        if (wanted, untaken) != self._seen[::2] or scope is not self._seen[1]:
            self._seen, self.since = (wanted, scope, untaken), now
        elif now - self.since > self._shared.limits[wanted] - SWEEP:
            self._cut(wanted)

    @property
    def wanted(self) -> _Wanted:
        """What the server waits for."""
        if self.transport.is_closing() or self._is_leaving:
            return "an end"
        if self.flow.write_paused:
            return "a reader"
        cycle: Any = self.cycle  # None before the first request
        if cycle is None or cycle.response_complete:
            is_in_headers = self.scope is not None and "method" not in self.scope
            return "headers" if is_in_headers else "a request" if cycle is None else "another request"
        if cycle.more_body and not (self.flow.read_paused or self.flow.is_held):
            return "a body"
        return "nothing"

    def _cut(self, wanted: _Wanted) -> None:
        if wanted in ("a reader", "an end"):
            self.transport.abort()
        elif wanted in ("a request", "another request"):
            self.transport.close()
        else:
            self._shared.late += 1
            self.refuse(HEADERS_LATE if wanted == "headers" else BODY_LATE)
            if wanted == "a body":
                disconnect(self.cycle)

    def discourage(self) -> None:
        """Close the connection after the pending answers, and tell its client so.

        An answer that has begun has said that the connection is kept, and its client may already send another request
        when it ends: that one is told.
        """
        for cycle in (self._running, *(cycle for cycle, _ in self.pipeline)):
            if cycle is not None and not cycle.response_started:
                cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close, unless an answer is due; called by the server on shutdown."""
        if self.wanted == "headers":
            self.refuse(SHUTTING_DOWN)
        elif self._is_leaving:
            self.transport.close()
        else:
            super().shutdown()

    async def interrupt(self) -> None:
        """Answer the running request with a 503 that may be retried, even if the tool continues.

        The connection is closed, so clients also resend pipelined requests.
        """
        cycle: Any = self._running  # uvicorn's types and Starlette's say the same in different words
        if cycle is None or cycle.response_complete:
            return
        cycle.logger = _SILENT
        if not cycle.response_started:
            await response_to(cycle.scope, SHUTTING_DOWN)(cycle.scope, cycle.receive, cycle.send)
            disconnect(cycle)


# What uvicorn would say of the cancelled request is not news: it was answered, and logged by us.
_SILENT = logging.Logger("sidecall.interrupted", logging.CRITICAL + 1)


if sys.platform != "win32":
    import fcntl
    import termios

# Bytes of answers that the system takes beyond those on their way to the client. So a client that reads 60 KB/s
# is seen to take something about once a second, and not every half minute.
_MOST_UNSENT = 128 * 1024


def bound_unsent(sockets: Iterable[Any]) -> None:
    """Set a small send buffer limit for connections of these listening sockets."""
    for sock in sockets:
        with suppress(OSError):  # Not every kind of socket has such a bound, nor every system.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MOST_UNSENT)


def count_untaken(transport: Transport) -> int:
    """Return how many bytes the client's system has not acknowledged, including this system's buffer."""
    waiting = transport.get_write_buffer_size()
    sock = transport.get_extra_info("socket")
    if sock is None or sys.platform == "win32":
        return waiting
    try:
        (queued,) = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))
    except (OSError, ValueError):  # It is closed, or the system does not say.
        return waiting
    return waiting + int(queued)
