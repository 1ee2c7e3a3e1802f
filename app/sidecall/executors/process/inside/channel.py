"""What leads from a tool's process to its server."""

import logging
import socket
import threading
from collections.abc import Iterator
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.executors.process.frames import CHUNK, Frames, Message, pack
from sidecall.telemetry.text import shorten

# What every log line has, and what a formatter adds.
_USUAL = frozenset((*vars(logging.makeLogRecord({})), "message", "asctime"))


class Channel:
    """The socket that leads to the server; any thread may write to it."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._frames = Frames()
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Message]:
        # Never into the message after: a request that is still in the socket when this process ends has not begun.
        while piece := self._socket.recv(min(self._frames.missing, CHUNK)):
            yield from self._frames.feed(piece)

    def say(self, kind: str, subject: str | None, content: Any) -> None:
        """Send a message."""
        message = pack(kind, subject, content)
        with self._lock:
            self._socket.sendall(message)


class LogToServer(logging.Handler):
    """Sends log lines to the server, which writes them as it writes its own."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        """Send a line, with the traceback if it has one, and with the fields that its author has named."""
        try:
            named = {name: value for name, value in vars(record).items() if name not in _USUAL}
            said = [record.levelno, shorten(self.format(record)), to_jsonable_python(named, fallback=str)]
            self._channel.say("log", record.name, said)
        except Exception:
            self.handleError(record)
