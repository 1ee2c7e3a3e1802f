"""What carries out writes to a SQLite file: a thread, a process of the server, or one that its workers share."""

import asyncio
import json
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from operator import itemgetter
from pathlib import Path
from pickle import PickleBuffer
from typing import Any, cast

from sidecall.kernel.concurrency.descendants import describe_end
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.messages import Messages, Told, pack_message
from sidecall.storage.sqlite.opened_file import FileId
from sidecall.storage.sqlite.tables import DatabaseRole
from sidecall.storage.sqlite.writer import LARGE
from sidecall.storage.sqlite.writer_connection import Ended, Hear, Kind, Order, Outcomes, Usable, WriterConnection

logger = logging.getLogger("sidecall")

# What the log says where one has ended by itself.
TELL_END = "%s: the process that wrote it %s; another takes its place"
# The path goes first, since Sidecall itself may lie on a part of it that only this process knows.
_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "import sidecall.storage.sqlite.writer_process as process; getattr(process, sys.argv[2])(*sys.argv[3:])"
)
_FOR_SERVER = "write_for_server"
_CHUNK = 65_536
_SECONDS_TO_END = 2.0
# Seconds in which a file must be open, what was left in its log read, and its tables brought up to date.
_SECONDS_TO_OPEN = 60.0
# Seconds without work after which it is looked what has become of the file.
_LOOK = 1.0
_Work = Callable[[], Outcomes]
# So many rows are written in a fraction of a millisecond.
_FEW = 32
_OF_ONE_ROW: frozenset[Kind] = frozenset(("key", "row"))
_KIND = itemgetter(2)


class ThreadWriter:
    """Write in a thread of this process; a little in memory at once, since that is sooner done than handed over."""

    def __init__(self, pen: WriterConnection) -> None:
        self._pen = pen
        self._sent: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._left = 0  # What the thread has still to do, or to tell.

    def open(self) -> Usable:
        """Open the file."""
        return self._pen.open()

    async def start(self, hear: Hear) -> None:
        """Begin to write."""
        self._loop, self._hear, self._left = asyncio.get_running_loop(), hear, 0
        threading.Thread(target=self._run, name="sidecall-ledger", daemon=True).start()

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:
        """Let a group be written."""
        if self._left or is_large or not self._pen.in_memory or not _is_short(group):
            self._hand_over(partial(self._pen.write, group))
        else:
            self._hear(self._pen.write(group))

    def try_again(self, is_damaged: bool) -> None:
        """Let it be tried whether the file can be used."""
        self._hand_over(partial(self._pen.try_again, is_damaged))

    def _hand_over(self, work: _Work) -> None:
        self._left += 1
        self._sent.put(work)

    def finish(self) -> None:
        """Write what was sent, and let go of the file."""
        self._sent.put(None)

    def give_up(self) -> None:
        """Do nothing: a thread cannot be ended."""

    def forget(self) -> None:
        """Do nothing more: the thread has ended."""

    def _run(self) -> None:
        look = None if self._pen.in_memory else _LOOK
        while True:
            try:
                work = self._sent.get(timeout=look)
            except queue.Empty:
                if (trouble := self._pen.look()) is not None:
                    _call_on(self._loop, self._hear, trouble)
                continue
            if work is None:
                break
            _call_on(self._loop, self._tell, work())
        self._pen.close()
        _call_on(self._loop, self._hear, Ended())

    def _tell(self, outcomes: Outcomes) -> None:
        self._left -= 1
        self._hear(outcomes)


def _is_short(group: Sequence[Order]) -> bool:
    """Return whether a group only writes some single rows; a query may read all of them."""
    return len(group) <= _FEW and _OF_ONE_ROW.issuperset(map(_KIND, group))


class LinkedWriter:
    """Write in another process, by a socket to it."""

    _link: socket.socket
    _transport: asyncio.WriteTransport
    _heard: "_Listener"

    def __init__(self, path: Path) -> None:
        """Name the file."""
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
        transport, self._heard = await loop.create_unix_connection(
            lambda: _Listener(hear, self._messages), sock=self._link
        )
        self._transport = cast("asyncio.WriteTransport", transport)

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:
        """Send a group to be written, together with what waits already."""
        if self._transport.is_closing():  # The end is about to be heard.
            self._heard.is_unsent = True
            return
        self._heard.is_group_last = True
        self._transport.writelines(pack_message([_spare_copies(order) for order in group] if is_large else group))

    def try_again(self, is_damaged: bool) -> None:
        """Try whether the file can be used again."""
        self._heard.is_group_last = False
        self._transport.writelines(pack_message(is_damaged))

    def finish(self) -> None:
        """Write what was sent, and close the file."""
        self._transport.write_eof()


class ProcessWriter(LinkedWriter):
    """Writes in a separate process, which ends with this one in any case."""

    def __init__(self, path: Path, patience: float, purpose: DatabaseRole) -> None:
        super().__init__(path)
        self._purpose = purpose
        self._patience = patience
        self._known: FileId | None = None
        self._is_end_told = True
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> Usable:
        """Start the process, and wait until it has opened the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self.forget()
        self._tell_end()
        if self._process is not None and self._process.poll() is None:
            raise StoreUnfit(
                f"{self._path}: what writes it does not answer and cannot be ended; the disk may be stuck."
            )
        self._link, theirs = socket.socketpair()
        with theirs:
            self._process = start_process(_FOR_SERVER, self._purpose, self._path, self._patience, theirs, self._known)
        try:
            usable = self.await_opening()
        except BaseException:
            self._link.close()
            self.give_up()
            self.forget()
            raise
        self._known = usable.identity[0] if usable.identity is not None else None
        self._is_end_told = False
        return usable

    def _tell_end(self) -> None:
        """Log how the last process has ended, unless that was told, was wanted, or is not known."""
        code = None if self._process is None else self._process.poll()
        if code and not self._is_end_told:
            logger.error(TELL_END, self._path, describe_end(code))
        self._is_end_told = True

    def give_up(self) -> None:
        """Kill the process; on a stuck disk it ends once that recovers."""
        if self._process is not None:
            self._is_end_told = True
            self._process.kill()

    def forget(self) -> None:
        """Wait for a while for the end of the process, which has announced it."""
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_SECONDS_TO_END)


class SharedWriter(LinkedWriter):
    """Ask the writer process that all workers share; the supervisor restarts it when it ends."""

    def __init__(self, path: Path, writer: socket.socket) -> None:
        """Name the file, and the socket on which the process hears who wants to ask it."""
        super().__init__(path)
        writer.set_inheritable(False)
        self._listener = writer
        self._writer: int | None = None
        self._asked: socket.socket | None = None
        self._is_finishing = False
        self._begin: Callable[[], None] = lambda: None
        self._hear_others: Callable[[Sequence[str]], None] = lambda _: None

    def attach(self, begin: Callable[[], None], hear: Callable[[Sequence[str]], None]) -> None:
        """Have one called for each process that writes from now on, the other with what the other workers tell."""
        self._begin, self._hear_others = begin, hear

    def open(self) -> Usable:
        """Ask to be let in, and wait until the file is open; where the process is not there, for the next one.

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
        """Note which process it is that writes."""
        self._writer = pid

    async def start(self, hear: Hear) -> None:
        """Begin to write, and to hear what other workers tell."""

        def sort(message: Outcomes | Told | Ended) -> None:
            if isinstance(message, Told):
                self._hear_others(message.words)
            else:
                hear(message)

        await super().start(sort)
        self._begin()

    def tell(self, words: list[str]) -> None:
        """Have the process pass words on to the other workers; one that has ended does not."""
        if not self._transport.is_closing():
            self._heard.is_group_last = False
            self._transport.writelines(pack_message(Told(words)))

    def give_up(self) -> None:
        """Kill the process, since it does not answer, unless it is only this worker that ends."""
        if self._writer is not None and not self._is_finishing:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._writer, signal.SIGKILL)

    def finish(self) -> None:
        """Write what was sent, and ask for nothing more."""
        self._is_finishing = True
        super().finish()

    def forget(self) -> None:
        """Do not wait; the process goes on for the other workers."""
        if self._asked is not None:
            with suppress(OSError):
                self._asked.shutdown(socket.SHUT_RDWR)


def start_process(
    function: str, purpose: DatabaseRole, path: Path, patience: float, handed: socket.socket, known: FileId | None
) -> subprocess.Popen[bytes]:
    """Start a process that writes a file, the one that is known where there was one before, and hand it a socket.

    Raises:
        OSError: The system has none left to give.
    """
    given = [json.dumps(sys.path), function, purpose.series, str(path), str(patience)]
    given += [str(handed.fileno()), str(os.getpid()), json.dumps([known, purpose.others])]
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
        self.is_group_last = False  # Of what was sent.
        self.is_unsent = False  # A group that came when the process had ended.

    def data_received(self, data: bytes) -> None:
        for outcomes in self._messages.feed(data):
            self._hear(outcomes)

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, error: Exception | None) -> None:
        # The system says so where the other end has left something unread, or was gone before it was sent.
        is_unread = self.is_group_last and isinstance(error, ConnectionError)
        self._hear(Ended(is_unread or self.is_unsent))


def _call_on(loop: asyncio.AbstractEventLoop, function: Callable[..., Any], *args: Any) -> None:
    with suppress(RuntimeError):  # The loop is closed, and nobody waits any more.
        loop.call_soon_threadsafe(function, *args)
