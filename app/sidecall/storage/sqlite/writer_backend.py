"""The server's view of the process that writes a SQLite file."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, cast

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.messages import Messages, pack_message
from sidecall.storage.sqlite.roles import DatabaseRole
from sidecall.storage.sqlite.writer import LARGE
from sidecall.storage.sqlite.writer_connection import Hear, Order, Usable

# The path goes first, since Sidecall itself may lie on a part of it that only this process knows.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "import sidecall.storage.sqlite.process as process; getattr(process, sys.argv[2])(*sys.argv[3:])"
)
_FOR_SERVER = "write_for_server"
_CHUNK = 65_536
_SECONDS_TO_END = 2.0
# Seconds in which a file must be open, what was left in its log read, and its tables brought up to date.
_SECONDS_TO_OPEN = 60.0


class LinkedWriter:
    """Writes through a socket to another process."""

    _link: socket.socket
    _transport: asyncio.WriteTransport

    def __init__(self, path: Path) -> None:
        """Set the file."""
        self._path = path

    def await_opening(self) -> Usable:
        """Wait until the process has opened the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self._messages = Messages()
        self._link.settimeout(_SECONDS_TO_OPEN)
        while piece := self._receive():
            for found in self._messages.feed(piece):
                if isinstance(found, Usable):
                    return found
                if isinstance(found, int):
                    self.note_process(found)
                    continue
                kind, why = found
                raise kind(why)
        raise StoreUnfit(f"The process that writes {self._path} has ended before it could open it.")

    def note_process(self, pid: int) -> None:
        """Note the id of the writing process, which it reports if another process has started it."""

    def _receive(self) -> bytes:
        try:
            return self._link.recv(_CHUNK)
        except TimeoutError:
            raise StoreUnfit(f"{self._path} could not be opened in {_SECONDS_TO_OPEN:g} s.") from None

    async def start(self, hear: Hear) -> None:
        """Begin to write."""
        self._link.setblocking(False)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_unix_connection(lambda: _Listener(hear, self._messages), sock=self._link)
        self._transport = cast("asyncio.WriteTransport", transport)

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:
        """Send a group to be written, together with what waits already."""
        if not self._transport.is_closing():  # Otherwise the waiters are about to be told.
            self._transport.writelines(pack_message([_spare_copies(order) for order in group] if is_large else group))

    def try_again(self, is_damaged: bool) -> None:
        """Try whether the file can be used again."""
        self._transport.writelines(pack_message(is_damaged))

    def finish(self) -> None:
        """Write what was sent, and close the file."""
        self._transport.write_eof()


class ProcessWriter(LinkedWriter):
    """Writes in a separate process, which ends with this one in any case."""

    def __init__(self, path: Path, patience: float, purpose: DatabaseRole) -> None:
        super().__init__(path)
        self._series = purpose.series
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Usable:
        """Start the process, and wait until it has opened the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self.forget()
        if self._process is not None and self._process.poll() is None:
            raise StoreUnfit(
                f"{self._path}: what writes it does not answer and cannot be ended; the disk may be stuck."
            )
        self._link, theirs = socket.socketpair()
        with theirs:
            self._process = start_process(_FOR_SERVER, self._series, self._path, self._patience, theirs)
        try:
            return self.await_opening()
        except BaseException:
            self._link.close()
            self.give_up()
            self.forget()
            raise

    def give_up(self) -> None:
        """Kill the process; on a stuck disk it ends once that recovers."""
        if self._process is not None:
            self._process.kill()

    def forget(self) -> None:
        """Wait for a while for the end of the process, which has announced it."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_END)


def start_process(
    function: str, series: str, path: Path, patience: float, handed: socket.socket
) -> "subprocess.Popen[bytes]":
    """Start a process that writes a file, and pass it a socket.

    Raises:
        OSError: The system has none left to give.
    """
    given = [json.dumps(sys.path), function, series, str(path), str(patience), str(handed.fileno()), str(os.getpid())]
    # In a session of its own, where Ctrl-C does not reach it: the server writes until it has drained.
    return subprocess.Popen(  # noqa: S603  the command is our own
        [sys.executable, "-P", "-c", _PROGRAM, *given],
        stdin=subprocess.DEVNULL,
        pass_fds=[handed.fileno()],
        start_new_session=True,
    )


def _spare_copies(order: Order) -> Order:
    """Return an order whose large values are sent without copying."""
    statement, values, kind = order
    if kind != "many":
        for value in values:  # A generator would cost more than what it looks for.
            if type(value) is bytes and len(value) > LARGE:
                return statement, [PickleBuffer(one) if type(one) is bytes else one for one in values], kind
    return order


class _Listener(asyncio.Protocol):
    """Delivers the process's messages, and its end."""

    def __init__(self, hear: Hear, messages: Messages) -> None:
        self._hear = hear
        self._messages = messages

    def data_received(self, data: bytes) -> None:
        for outcomes in self._messages.feed(data):
            self._hear(outcomes)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, _error: Any) -> None:
        self._hear(None)
