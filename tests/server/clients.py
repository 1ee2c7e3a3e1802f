"""A client of one connection, in process: what it sends in which pieces, and what the application and it get."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.types import Receive, Scope, Send

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.kit.asgi import Wire


@dataclass
class Seen:
    """A request as the application saw it."""

    line: str
    headers: list[tuple[bytes, bytes]]
    body: bytes
    client: str | None = field(default=None, compare=False)
    scheme: str = field(default="http", compare=False)


@dataclass
class Application:
    """Keep the requests, read whole, and answer each with 200; wait before that when asked to.

    Those to `/early` are answered without a look at their bodies.
    """

    seen: list[Seen] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    gone: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        body, more = b"", scope["path"] != "/early"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone += 1
                return
            body, more = body + message["body"], message["more_body"]
        client = scope["client"] and scope["client"][0]
        self.seen.append(Seen(f"{scope['method']} {scope['path']}", scope["headers"], body, client, scope["scheme"]))
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})


_CONFIG = uvicorn.Config(Application(), log_config=None, ws="none")
_CONFIG.load()


class Network(Wire):
    """A network that keeps what nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self.is_read = True
        self.is_ended = False
        self.unread: list[bytes] = []
        self.protocol: Any = None

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Give what comes to another."""
        self.protocol = protocol

    def get_protocol(self) -> Any:
        """Return who gets what comes."""
        return self.protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep it; as in uvloop nothing can be written after the end."""
        if self.is_ended:
            raise RuntimeError("Cannot call write() after write_eof()")
        super().write(data)

    def is_closing(self) -> bool:
        """Return whether it was closed, not only ended."""
        return super().is_closing() and not self.is_ended

    def can_write_eof(self) -> bool:
        """Return that it may end for sending alone."""
        return True

    def write_eof(self) -> None:
        """Be closed, as a client sees it."""
        self.is_open, self.is_ended = False, True

    def pause_reading(self) -> None:
        """Keep what comes."""
        self.is_read = False

    def resume_reading(self) -> None:
        """Let it through again."""
        self.is_read = True


class Client:
    """Be connected to an application of its own."""

    def __init__(self, *, is_quick: bool = True, room: RequestRoom | None = None) -> None:
        self.application = Application()
        if is_quick:
            self.application.may_answer.set()
        state: dict[str, Any] = {}
        connections = Connections(Lifecycle(), Patience(), 100, 5, room or RequestRoom(1_000_000_000))
        self.connection = Connection(_CONFIG, connections, state, asyncio.get_running_loop())
        self.connection.serve(self.application)
        # As in a server; pytest listens to that log, and answers would go another way.
        self.connection.access_log = False
        self.wire = Network()
        self.wire.protocol = self.connection
        self.connection.connection_made(self.wire)

    async def send(self, *pieces: bytes) -> None:
        """Send pieces, each when everything that the one before could cause has happened."""
        self.wire.unread += pieces
        while self.wire.unread and self.wire.is_open and self.wire.is_read:
            self.connection.data_received(self.wire.unread.pop(0))
            await settle()
        await settle()

    @property
    def lines(self) -> list[str]:
        """The first lines of the requests that the application saw."""
        return [seen.line for seen in self.application.seen]

    @property
    def statuses(self) -> list[bytes]:
        """The status codes of the answers."""
        return [part[:3] for part in b"".join(self.wire.pieces).split(b"HTTP/1.1 ")[1:] if part[:3].isdigit()]


async def settle() -> None:
    """Let everything happen that waits for nothing but its turn."""
    for _ in range(10):
        await asyncio.sleep(0)


def splits(request: bytes) -> Iterator[tuple[bytes, ...]]:
    """List the ways to send a request: whole, byte by byte, and in two parts at each of its bytes."""
    yield (request,)
    yield tuple(request[at : at + 1] for at in range(len(request)))
    for at in range(1, len(request)):
        yield (request[:at], request[at:])
