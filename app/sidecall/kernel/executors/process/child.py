"""The server's side of one tool process."""

import asyncio
import logging
import select
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.executors.process.frames import CHUNK, LARGE, Frames, Message, unpack

# Awaited with what the tool says while it runs: the kind of event, and its content. Reading is paused until it returns.
Listen = Callable[[str, Any], Awaitable[None]]
# Awaited while a large message is read, with all its bytes; reading is paused until it returns.
Prepare = Callable[[int], Awaitable[None]]
# Makes the reply, a message, to what the tool asks while it runs.
MakeReply = Callable[[list[Any]], Awaitable[bytes]]


class ProcessDied(Exception):
    """The process ended before it answered; `has_begun` says whether it had taken the request."""

    def __init__(self, code: int | None, has_begun: bool) -> None:
        super().__init__(f"the tool's process {describe_end(code)}")
        self.has_begun = has_begun


class Child:
    """Sends requests to a process and awaits its answers, on any event loop."""

    def __init__(self, number: int, sock: socket.socket, generation: int, greeting: bytes = b"") -> None:
        """Send the greeting; what does not fit in its non-blocking socket is sent with the first request."""
        self.number = number
        self.generation = generation
        self._socket = sock
        self._frames = Frames()
        self._unsent = greeting
        with suppress(OSError):  # Dead already; the next borrower will find out.
            self._unsent = greeting[sock.send(greeting) :]

    async def ask(
        self, request: bytes, call: str, listen: Listen, prepare: Prepare | None = None, reply: MakeReply | None = None
    ) -> Any:
        """Send a request and return the answer to this call, skipping other messages.

        Questions that the process asks during the call are answered with `reply`.

        Raises:
            ProcessDied: There will be no answer.
        """
        loop = asyncio.get_running_loop()
        unsent, self._unsent = self._unsent, b""
        is_sent = await self._send(loop, unsent + request)
        while True:
            for kind, subject, content in await self._receive(loop):
                if kind == "end":
                    code, is_unread = content
                    raise ProcessDied(code, has_begun=is_sent and not is_unread)
                if kind == "log":
                    _log(subject, *content)
                elif subject == call and kind == "answer":
                    return content
                elif subject == call:
                    await self._hear(loop, kind, content, listen, reply)
            if prepare is not None and self._frames.coming > LARGE:
                await prepare(self._frames.coming)

    async def _hear(
        self, loop: asyncio.AbstractEventLoop, kind: str, content: Any, listen: Listen, reply: MakeReply | None
    ) -> None:
        """Pass on the tool's progress, and reply to its questions."""
        if kind != "ask":
            await listen(*content)
        elif reply is not None:
            await self._send(loop, await reply(content))

    async def _send(self, loop: asyncio.AbstractEventLoop, request: bytes) -> bool:
        try:
            await loop.sock_sendall(self._socket, request)
        except OSError:  # It is dead then, and what it leaves to be read says why.
            return False
        return True

    async def _receive(self, loop: asyncio.AbstractEventLoop) -> Iterable[Message]:
        is_unread = False
        try:
            piece = await loop.sock_recv(self._socket, CHUNK)
        except OSError as error:
            # So Linux says that it closed the socket with our request in it.
            piece, is_unread = b"", isinstance(error, ConnectionResetError)
        if not piece:
            return [Message("end", None, (None, is_unread))]
        # Off the event loop what is large: others would wait until it is read.
        return [
            unpack(message) if len(message) < LARGE else await RESULTS.run(unpack, message)
            for message in self._frames.split(piece)
        ]

    def has_ended(self) -> bool:
        """Return whether the process has ended."""
        poll = select.poll()
        poll.register(self._socket, 0)
        return bool(poll.poll(0))

    async def wait_until_gone(self) -> None:
        """Wait until it has ended and the fork server has reaped it, discarding its messages."""
        loop = asyncio.get_running_loop()
        with suppress(OSError):
            while await loop.sock_recv(self._socket, CHUNK):
                pass

    def close(self) -> None:
        """Close the socket that leads to it."""
        try:
            # The loop may have to forget the socket first, so that it does not mistake the next one of that number for
            # it.
            asyncio.get_running_loop().call_soon(self._socket.close)
        except RuntimeError:
            self._socket.close()


def _log(name: str | None, level: int, text: str, named: dict[str, Any]) -> None:
    logging.getLogger(name).log(level, text, extra=named)


def describe_end(code: int | None) -> str:
    """Describe how a process ended, by its exit code."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
        return f"was ended by {name}{', as by a limit of memory' if name == 'SIGKILL' else ''}"
    except ValueError:
        return f"was ended by signal {-code}"
