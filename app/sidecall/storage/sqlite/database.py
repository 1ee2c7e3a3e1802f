"""SQLite in a file, of this process or of one server's workers, or in memory."""

import asyncio
import math
import re
import sqlite3
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Dialect, Row
from sidecall.storage.feature_tables import FeatureTables
from sidecall.storage.notifications import (
    EVERYWHERE,
    Bundle,
    NoNotifications,
    NotificationKind,
    NotificationListener,
    Notifications,
    hand_on,
    write_word,
)
from sidecall.storage.sqlite.backends import ProcessWriter, SharedWriter, ThreadWriter
from sidecall.storage.sqlite.errors import FileChanged, advise_fault, is_damage, is_fault
from sidecall.storage.sqlite.file import SqliteFile, StoreWithoutRoom
from sidecall.storage.sqlite.readers import Readers
from sidecall.storage.sqlite.tables import LEDGER, DatabaseRole
from sidecall.storage.sqlite.writer import HANGS_AFTER, NOT_OPEN, Writer, WriterBackend
from sidecall.storage.sqlite.writer_connection import WriterConnection
from sidecall.storage.statements import read_statements

_PLACEHOLDER = re.compile(r"\$(\d+)")

_WHERE = "{where}"
# A statement that changes the row of its key at most, and returns that key.
_KEYED = re.compile(r"((?:INSERT|UPDATE|DELETE)\b.*)\bRETURNING id\s*", re.DOTALL)


class SqliteDatabase:
    """A database in a file; without a path it is in memory, until it is closed."""

    dialect: Dialect = "sqlite"

    def __init__(
        self,
        path: Path | None = None,
        patience: float = 2.0,
        most_waiting: int = 64 * 1024 * 1024,
        statements: Mapping[str, str] | None = None,
        purpose: DatabaseRole = LEDGER,
        hangs_after: float = HANGS_AFTER,
    ) -> None:
        """Prepare a file's database.

        Args:
            path: Where it is.
            patience: Seconds to wait for other programs that have locked it.
            most_waiting: Most bytes of what waits to be written.
            statements: What can be carried out, by name; our own when None.
            purpose: What it is for.
            hangs_after: Seconds without a heartbeat after which the writer counts as stuck.
        """
        others = purpose.others
        self._statements = _read_numbered(others) if statements is None else _number_all(statements)
        self._changes = _find_changes(others) if statements is None else strip_keys(self._statements)
        self._file = SqliteFile(path, patience, purpose)
        # No other process sees what is in memory, nor does a disk hold it up; Windows hands on no sockets.
        backend: WriterBackend = ThreadWriter(WriterConnection(self._file))
        hangs_after = math.inf if path is None else hangs_after
        self.notifications: Notifications = NoNotifications()
        if self._file.path is not None and purpose.writer is not None:
            backend = shared = SharedWriter(self._file.path, purpose.writer)
            self.notifications = WorkerNotifications(shared)
        elif self._file.path is not None and purpose.is_apart and sys.platform != "win32":
            backend = ProcessWriter(self._file.path, patience, purpose)
        self.is_shared = purpose.writer is not None
        self.on_change: Callable[[str], object] = lambda _: None
        self._writer = Writer(backend, str(self._file), most_waiting, purpose, hangs_after, self._report_change)
        self._readers: Readers | None = None

    @property
    def trouble(self) -> str | None:
        """Why it is unavailable, for an operator; None if it is available."""
        return self._writer.trouble

    @property
    def unavailable_since(self) -> float | None:
        """When that began, in Unix seconds; None if it is available, or never was."""
        return self._writer.unavailable_since

    async def open(self) -> None:
        """Lock the file and migrate it; if its disk is full, as soon as there is room.

        Raises:
            StoreUnfit: It is newer than this program, used by another process, or none of ours.
        """
        try:
            if self._file.in_memory:
                self._writer.open()  # Which is done at once, and needs no thread of the loop.
            else:
                await SERVER.run(self._writer.open)
            await self._writer.start()
        except StoreWithoutRoom as error:
            self._writer.start_late(error.message)
        except BaseException:
            self._file.close()
            raise
        self._readers = None if self._file.in_memory else Readers(self._file)

    async def close(self) -> None:
        """Write the queue, for a few seconds, and release the file."""
        readers, self._readers = self._readers, None
        try:
            if readers is not None:
                await readers.close()
        finally:
            await self._writer.close()

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Run a statement durably, and return the first row of its RETURNING.

        Raises:
            StoreUnavailable: The file cannot be used just now; nothing of this was written, unless the disk is slow, or
                the process that writes was killed, or its log deleted, in the moment of the commit.
        """
        text = self._changes.get(statement)
        if text is not None:
            return self._writer.ask(text, values, "key", size)
        return self._writer.ask(self._statements[statement], values, "row", size)

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement durably for each of these rows, all or none.

        Raises:
            StoreUnavailable: The file cannot be used just now; nothing of this was written.
        """
        await self._writer.ask(self._statements[statement], rows, "many")

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return the rows that a query finds among durable data; `where` replaces `{where}` in it.

        Raises:
            StoreUnavailable: The file cannot be used just now.
        """
        text = self._statements[statement].replace(_WHERE, _number(where))
        source = self._writer.source
        if source[0] == NOT_OPEN:
            raise StoreUnavailable
        if self._readers is None:
            rows: list[Row] = await self._writer.ask(text, values, "rows")
            return rows
        try:
            return await self._readers.read(text, values, source)
        except sqlite3.Error as found:
            error = self._file.find_change(source[1]) or found
            is_news = self.trouble is None and source == self._writer.source
            if is_damage(error) or (is_news and isinstance(error, FileChanged)):
                self._writer.doubt(advise_fault(error), is_damaged=is_damage(error))
            if is_fault(error):
                raise StoreUnavailable from error
            raise

    def _report_change(self, change: str) -> None:
        self.on_change(change)


def try_file(path: Path) -> None:
    """Prepare a file before the server starts, so that errors are reported at once.

    Raises:
        StoreUnfit: It is newer than this program, used by another process, or none of ours.
    """
    file = SqliteFile(path, patience=2.0)
    try:
        file.open().close()
    finally:
        file.close()


@cache
def _read_numbered(others: tuple[FeatureTables, ...]) -> Mapping[str, str]:
    """Return our own statements and those of other packages, with numbered placeholders."""
    return _number_all(read_statements("sqlite", others))


@cache
def _find_changes(others: tuple[FeatureTables, ...]) -> Mapping[str, str]:
    """Return those that return only their key."""
    return strip_keys(_read_numbered(others))


def strip_keys(statements: Mapping[str, str]) -> Mapping[str, str]:
    """Remove a RETURNING of the key alone, which the caller knows: this saves four fifths of the time."""
    return {name: found[1] for name, text in statements.items() if (found := _KEYED.fullmatch(text)) is not None}


def _number_all(statements: Mapping[str, str]) -> Mapping[str, str]:
    return {name: _number(text) for name, text in statements.items()}


def _number(statement: str) -> str:
    """Convert placeholders to the form that takes tuples, which are cheaper than mappings."""
    return _PLACEHOLDER.sub(r"?\1", statement)


# Minimum seconds between two messages: notifications in between are bundled.
_APART = 0.005


class WorkerNotifications:
    """Sends notifications over the socket for writes, and receives those of other workers.

    Notifications sent while the writing process is being replaced are lost; afterwards everything is checked once.
    """

    def __init__(self, backend: SharedWriter) -> None:
        """Send for the worker with this backend."""
        self._backend = backend
        backend.attach(self._begin, self._hear)
        self._listener: NotificationListener | None = None
        self._waiting = Bundle()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = -math.inf
        self._is_linked = False
        self._is_open = False

    def attach(self, listener: NotificationListener) -> None:
        """Pass what others send to a listener."""
        self._listener = listener

    def tell(self, kind: NotificationKind, call_id: str = "") -> None:
        """Send a notification soon, bundled with others; never waits, and never fails."""
        if self._is_open and self._is_linked:
            self._add(write_word(kind, call_id))

    async def open(self) -> None:
        """Begin to send and receive, as soon as the file is open."""
        self._is_open, self._sent_at = True, -math.inf
        if self._is_linked:
            self._look_everywhere()

    async def close(self) -> None:
        """Send what is queued, and nothing more."""
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._send()

    def _begin(self) -> None:
        """Note a new process that passes notifications on."""
        self._is_linked = True
        if self._is_open:
            self._look_everywhere()

    def _look_everywhere(self) -> None:
        """Check everything once, and let the others do so: earlier notifications were lost on both sides."""
        self._waiting.take()
        self._add(EVERYWHERE)
        if self._listener is not None:
            self._listener.miss()

    def _hear(self, words: Sequence[str]) -> None:
        if self._is_open and self._listener is not None:
            hand_on(words, self._listener)

    def _add(self, word: str) -> None:
        self._waiting.add(word)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._sent_at + _APART), self._send)

    def _send(self) -> None:
        self._timer, self._sent_at = None, asyncio.get_running_loop().time()
        self._backend.tell(self._waiting.take())
