"""The clients of the process that writes a SQLite file: a server, or each of its workers."""

import os
import pickle
import select
import socket
from collections import deque
from collections.abc import Sequence
from typing import Any

from sidecall.storage.notice_words import Bundle
from sidecall.storage.sqlite.messages import CHUNK, Messages, Told, pack_message
from sidecall.storage.sqlite.writer_connection import Alive, Unavailable


class Client:
    """A client process and its socket; it never delays the others, however slowly it reads."""

    def __init__(self, link: socket.socket, pid: int) -> None:
        """Set the socket, and the process at its other end."""
        self._link = link
        self.pid = pid
        self.trouble: Unavailable | None = None  # Which it was told, and has not asked to try again since.
        self.polled = 0  # What was waited for last.
        self.has_ended = False
        self._messages = Messages()
        self._unsaid = deque[memoryview]()
        self._told = Bundle()  # By others; what one that does not read has to hear of has a bound.

    def fileno(self) -> int:
        """Return the descriptor of its socket."""
        return self._link.fileno()

    @property
    def awaited(self) -> int:
        """The events to poll for: its next message, once it has read all answers."""
        return select.POLLOUT if self._unsaid else select.POLLIN

    @property
    def lives(self) -> bool:
        """Whether its process is alive, even if another process holds its end of the socket."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True

    def receive(self) -> list[Any]:
        """Return the received messages, once it has read all answers."""
        if self._unsaid:
            self._flush()
            return []
        try:
            piece = self._link.recv(CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            piece = b""
        if not piece:
            self.has_ended = True
        return list(self._messages.feed(piece))

    def say(self, content: Any) -> None:
        """Send a message, at once or as soon as it reads."""
        self._unsaid.extend(map(memoryview, pack_message(content)))
        self._flush()

    def pass_on(self, words: Sequence[str]) -> None:
        """Send a notice of another worker, at once or as soon as it has read everything before."""
        for word in words:
            self._told.add(word)
        self._flush()

    def say_alive(self) -> None:
        """Send a heartbeat, unless it has not read the last one."""
        if not self._unsaid:
            self.say(Alive())

    def close(self) -> None:
        """Close the socket, which tells the process that nothing more comes."""
        self._link.close()

    def _flush(self) -> None:
        try:
            while self._unsaid or self._told:
                if not self._unsaid:
                    self._unsaid.extend(map(memoryview, pack_message(Told(self._told.take()))))
                sent = self._link.send(self._unsaid[0], socket.MSG_DONTWAIT)
                self._unsaid[0] = self._unsaid[0][sent:]
                if not self._unsaid[0]:
                    self._unsaid.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self.has_ended = True
            self._unsaid.clear()
            self._told.take()


def as_sent(outcomes: list[Any]) -> list[Any]:
    """Convert outcomes to a form that can be sent."""
    return [_as_sent(outcome) if isinstance(outcome, Exception) else outcome for outcome in outcomes]


def _as_sent(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301  just written
    except Exception:
        return ValueError(str(error))
    return error
