"""The channel from a tool's process to its server."""

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.kernel.core.log_text import shorten
from sidecall.kernel.executors.process.frames import CHUNK, Frames, Message, pack

# What every log line has, and what a formatter adds.
_USUAL = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime"))


class Channel:
    """The socket to the server; thread-safe."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._frames = Frames()
        self._lock = threading.Lock()
        # Held while a reply is awaited; its holder's code must not ask meanwhile.
        self._asking = threading.Lock()
        self._is_open = False
        self._pid = os.getpid()

    def __iter__(self) -> Iterator[Message]:
        # Never into the message after: a request that is still in the socket when this process ends has not begun.
        while piece := self._socket.recv(min(self._frames.missing, CHUNK)):
            yield from self._frames.feed(piece)

    def say(self, kind: str, subject: str | None, content: Any) -> None:
        """Send a message."""
        message = pack(kind, subject, content)
        with self._lock:
            self._socket.sendall(message)

    def ask(self, kind: str, subject: str | None, content: Any) -> Any:
        """Send a question and return its reply; threads take turns.

        Raises:
            RuntimeError: The call has ended, or this is a copy of the process in which it runs.
        """
        if os.getpid() != self._pid:
            raise RuntimeError("The store belongs to the process of the tool; its copies cannot use it.")
        with self._asking:
            if not self._is_open:
                raise RuntimeError("The call has ended, and with it the use of its store.")
            self.say(kind, subject, content)
            for message in self:
                return message.content
        raise ConnectionError("the server is gone")

    async def ask_without_blocking(self, kind: str, subject: str | None, content: Any) -> Any:
        """Ask outside of the event loop, if one runs; a caller that cannot wait fails before anything is sent."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return self.ask(kind, subject, content)
        await asyncio.sleep(0)
        return await asyncio.to_thread(self.ask, kind, subject, content)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Allow questions within the body; wait at its end for pending replies, so that no later call reads them."""
        self._is_open = True
        try:
            yield
        finally:
            # First of all, since a thread that asks again and again may be faster at the lock for as long as it likes.
            self._is_open = False
            with self._asking:
                pass


class LogToServer(logging.Handler):
    """Sends log records to the server, which logs them as its own."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record, with its traceback and the author's extra fields."""
        try:
            named = {name: value for name, value in vars(record).items() if name not in _USUAL}
            said = [record.levelno, shorten(self.format(record)), to_jsonable_python(named, fallback=str)]
            self._channel.say("log", record.name, said)
        except Exception:
            self.handleError(record)
