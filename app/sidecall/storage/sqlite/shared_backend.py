"""A worker's view of the process that writes a SQLite file for all workers."""

import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.messages import Told, pack_message
from sidecall.storage.sqlite.writer_backend import LinkedWriter
from sidecall.storage.sqlite.writer_connection import Hear, Outcomes, Usable


class SharedWriter(LinkedWriter):
    """Writes through a process that other workers share, and that the supervisor restarts when it ends."""

    def __init__(self, path: Path, writer: socket.socket) -> None:
        """Set the file, and the socket on which the process accepts clients."""
        super().__init__(path)
        writer.set_inheritable(False)
        self._listener = writer
        self._writer: int | None = None
        self._asked: socket.socket | None = None
        self._is_finishing = False
        self._begin: Callable[[], None] = lambda: None
        self._hear_others: Callable[[Sequence[str]], None] = lambda _: None

    def attach(self, begin: Callable[[], None], hear: Callable[[Sequence[str]], None]) -> None:
        """Set callbacks: for each new writing process, and for notices of other workers."""
        self._begin, self._hear_others = begin, hear

    def open(self) -> Usable:
        """Connect, and wait until the file is open; if the process is down, wait for the next one.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self._writer, self._is_finishing = None, False
        self._link, theirs = socket.socketpair()
        self._asked = self._link
        try:
            with theirs:
                whose = str(os.getpid()).encode()
                socket.send_fds(self._listener, [whose], [theirs.fileno()], socket.MSG_DONTWAIT)
            return self.await_opening()
        except OSError as error:
            self._link.close()
            raise StoreUnfit(f"The process that writes {self._path} cannot be asked: {error.strerror}.") from error
        except BaseException:
            self.give_up()
            self._link.close()
            raise

    def note_process(self, pid: int) -> None:
        """Note the id of the writing process."""
        self._writer = pid

    async def start(self, hear: Hear) -> None:
        """Begin to write, and to receive notices of other workers."""

        def sort(message: Outcomes | Told | None) -> None:
            if isinstance(message, Told):
                self._hear_others(message.words)
            else:
                hear(message)

        await super().start(sort)
        self._begin()

    def tell(self, words: list[str]) -> None:
        """Let the process pass notices to the other workers; they are lost if it has ended."""
        if not self._transport.is_closing():
            self._transport.writelines(pack_message(Told(words)))

    def give_up(self) -> None:
        """Kill the process because it does not answer, unless only this worker is ending."""
        if self._writer is not None and not self._is_finishing:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._writer, signal.SIGKILL)

    def finish(self) -> None:
        """Write what was sent, and stop asking."""
        self._is_finishing = True
        super().finish()

    def forget(self) -> None:
        """Do not wait: the process continues for the others."""
        if self._asked is not None:
            with suppress(OSError):
                self._asked.shutdown(socket.SHUT_RDWR)
