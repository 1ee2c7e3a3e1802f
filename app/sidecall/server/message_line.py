"""Send messages between the supervisor and a worker, in both directions, on one socket."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

_HEAD = struct.Struct("!I")

Message = dict[str, Any]


class MessageLine:
    """One end of a socket pair; messages are JSON objects behind their length.

    Numbers may be no numbers (NaN), which JSON of others does not have.
    """

    def __init__(self, sock: socket.socket) -> None:
        """Take one end, which is closed with the line."""
        self._sock = sock
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Begin, on the running loop."""
        self._reader, self._writer = await asyncio.open_connection(sock=self._sock)

    async def send(self, message: Message) -> None:
        """Send a message; it is lost where the other end is gone."""
        if self._writer is None:
            return
        body = json.dumps(message).encode()
        with suppress(OSError):
            self._writer.write(_HEAD.pack(len(body)) + body)
            await self._writer.drain()

    async def messages(self) -> AsyncIterator[Message]:
        """Yield what comes, until the other end is gone."""
        assert self._reader is not None
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                (size,) = _HEAD.unpack(await self._reader.readexactly(_HEAD.size))
                yield json.loads(await self._reader.readexactly(size))

    def close(self) -> None:
        """End it."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._sock.close()
