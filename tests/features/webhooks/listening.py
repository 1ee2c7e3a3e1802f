"""Receivers of webhooks, on sockets of their own."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@dataclass
class Heard:
    """A message."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def said(self) -> Any:
        """What it says."""
        return json.loads(self.body)


@dataclass
class Listening:
    """Keep messages, and answer them with these statuses, the last again and again; once `go` is set if it is there."""

    statuses: Sequence[int] = (204,)
    heard: list[Heard] = field(default_factory=list)
    port: int = 0
    go: asyncio.Event | None = None

    @property
    def host(self) -> str:
        """What an operator names."""
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one message, unless its sender ends before it is whole."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers["content-length"]))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        status = self.statuses[min(len(self.heard), len(self.statuses) - 1)]
        self.heard.append(Heard(head[0].split()[1], headers, body))
        if self.go is not None:
            await self.go.wait()
        writer.write(b"HTTP/1.1 %d Done\r\nContent-Length: 0\r\n\r\n" % status)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def listen(*statuses: int) -> AsyncIterator[Listening]:
    """Listen on a free port of this machine."""
    listening = Listening(statuses or (204,))
    server = await asyncio.start_server(listening.answer, "127.0.0.1", 0)
    listening.port = server.sockets[0].getsockname()[1]
    try:
        yield listening
    finally:
        server.close()
