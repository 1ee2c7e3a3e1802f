"""Speak ASGI to an application without a client in between, which would tidy up what is sent."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# For modules whose requests are sent both past the framework and through it.
BOTH_WAYS = pytest.mark.parametrize("is_door_open", [True, False], ids=["in front", "framework"])

Headers = Iterable[tuple[str, str]]
JSON = ("content-type", "application/json")


class Passing:
    """Pass every request on; that it is there closes the door in front of the framework."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Do nothing else."""
        await self._app(scope, receive, send)


def scope_of(method: str, target: str, headers: Headers = ()) -> dict[str, Any]:
    """Make the scope of a request, its headers exactly as they are given."""
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8000),
        "state": {},
    }


def sized(body: bytes, *headers: tuple[str, str]) -> list[tuple[str, str]]:
    """Declare a body's length and type, besides other headers."""
    return [("content-length", str(len(body))), JSON, *headers]


@dataclass
class Peer:
    """Be the client's end of one request: send a body, take an answer, hang up."""

    body: Iterable[bytes] = (b"",)
    sent: list[Message] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    takes: asyncio.Event | None = None

    def __post_init__(self) -> None:
        *chunks, last = self.body
        self.messages: list[Message] = [
            *({"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks),
            {"type": "http.request", "body": last, "more_body": False},
        ]
        self.asked = 0

    async def receive(self) -> Message:
        """Give the next part of the body, then nothing until the client hangs up."""
        self.asked += 1
        if self.messages:
            return self.messages.pop(0)
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Take a part of the answer; wait before each until the client takes any, where it is slow."""
        if self.takes is not None and message["type"] == "http.response.body":
            await self.takes.wait()
        self.sent.append(message)

    @property
    def status(self) -> int:
        """The status code of the answer."""
        status: int = self.sent[0]["status"]
        return status

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The headers of the answer, sorted."""
        return sorted((name.decode("latin-1"), value.decode("latin-1")) for name, value in self.sent[0]["headers"])

    @property
    def content(self) -> bytes:
        """The received part of the answer's body."""
        return b"".join(message.get("body", b"") for message in self.sent[1:])


async def exchange(app: ASGIApp, scope: Scope, *body: bytes) -> Peer:
    """Send a request, its body in these parts, and take the answer."""
    peer = Peer(body or (b"",))
    await app(scope, peer.receive, peer.send)
    return peer


class Wire(asyncio.Transport):
    """Be the network below a server's protocol, and keep what is written, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.is_open = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Keep it."""
        self.pieces.append(bytes(data))

    def is_closing(self) -> bool:
        """Return whether it was closed."""
        return not self.is_open

    def close(self) -> None:
        """Note it."""
        self.is_open = False

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return a protocol that ignores all input."""
        return asyncio.BaseProtocol()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Have nothing to read anyway."""

    def can_write_eof(self) -> bool:
        """Return that it may end for sending alone."""
        return True

    def write_eof(self) -> None:
        """Note it, as the client would."""
        self.is_open = False

    def get_write_buffer_size(self) -> int:
        """Report an empty buffer, so that no writer waits."""
        return 0

    def pause_reading(self) -> None:
        """Have nothing to read anyway."""

    def resume_reading(self) -> None:
        """Have nothing to read anyway."""
