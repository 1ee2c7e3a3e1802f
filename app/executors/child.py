"""One child process, as the server sees it."""

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from app.executors.frames import CHUNK, Frames

# Hears what the tool says while it runs: the kind of event, and its content.
Hear = Callable[[str, Any], None]


class ProcessDied(Exception):
    """The process ended before it answered; `has_begun` says whether it had begun the call."""

    def __init__(self, code: int | None, has_begun: bool) -> None:
        super().__init__(f"the tool's process {_end(code)}")
        self.has_begun = has_begun


class Child:
    """Ask a process and wait for its answer, on whatever event loop asks."""

    def __init__(self, number: int, sock: socket.socket, generation: int) -> None:
        self.number = number
        self.generation = generation
        self._socket = sock
        self._frames = Frames()

    async def ask(self, request: bytes, call: str, hear: Hear) -> Any:
        """Send a request and return the answer to this call, whatever else comes before it.

        Raises:
            ProcessDied: There will be no answer.
        """
        loop = asyncio.get_running_loop()
        has_begun = False
        with suppress(OSError):  # It is dead then, and what it leaves to be read says why.
            await loop.sock_sendall(self._socket, request)
        while True:
            for kind, subject, content in self._frames.feed(await self._received(loop, has_begun)):
                if kind == "end":
                    raise ProcessDied(content, has_begun)
                if kind == "log":
                    level, text, named = content
                    logging.getLogger(subject).log(level, text, extra=named)
                elif subject == call and kind == "answer":
                    return content
                elif subject == call:
                    has_begun = has_begun or kind == "begun"
                    hear(kind, content)

    async def _received(self, loop: asyncio.AbstractEventLoop, has_begun: bool) -> bytes:
        try:
            received = await loop.sock_recv(self._socket, CHUNK)
        except OSError:
            received = b""
        if not received:
            raise ProcessDied(None, has_begun)
        return received

    def close(self) -> None:
        """Hear no more of it."""
        try:
            # The loop may have to forget the socket first, lest it takes the next one of that number for this one.
            asyncio.get_running_loop().call_soon(self._socket.close)
        except RuntimeError:
            self._socket.close()


def _end(code: int | None) -> str:
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
