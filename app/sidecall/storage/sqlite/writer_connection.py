"""What writes a SQLite file, in a thread or a process of its own: groups of statements, each in one transaction."""

import logging
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal

from msgspec import Struct

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.sqlite.errors import (
    FileChanged,
    FileDamaged,
    LogChanged,
    advise_fault,
    is_damage,
    is_fault,
    is_full,
    is_passing,
)
from sidecall.storage.sqlite.file import SqliteFile, StoreChanged
from sidecall.storage.sqlite.opened_file import FileIdentity
from sidecall.storage.sqlite.tables import OURS
from sidecall.storage.sqlite.wide_inserts import NotTogether, inserts_rows, put_together

logger = logging.getLogger("sidecall")

# Bytes that all that is sent at once hardly comes to.
_MUCH = 128 * 1024 * 1024
# Seconds in which no program fills that much.
_SOON = 0.05
# Bytes that have to be free beyond what was too little, so that it is not too little again at once.
_SPARE = 256 * 1024
# Bytes that each order takes in pages of its own.
_PAGES = 8 * 4096
# Changes nothing, but has to be written like any other. SQLite writes no row that is what it was.
_TRIAL = f"PRAGMA application_id = {OURS}"

# Orders whose rows one statement may insert.
_ALIKE = itemgetter(0, 2)
_VALUES = itemgetter(1)
_KEY = itemgetter(slice(1))
# Python looks for what adapts each None, in vain, which takes longer than all else that it does with a value.
_same: Mapping[None, None] = {None: None}
sqlite3.register_adapter(type(None), _same.__getitem__)

Kind = Literal["key", "row", "rows", "many"]
# A statement, its values or rows of them, and what is wanted of it: its key where it has changed something, its first
# row, all rows, or to be carried out for each row. A tuple, since one is made for each call.
Order = tuple[str, Any, Kind]


class Unavailable(Struct, frozen=True):
    """Why a file cannot be used, in words for an operator; what came with it was not written.

    `is_final` says that it is not the file that was opened, and is not used again.
    """

    text: str
    is_final: bool = False


class Usable(Struct, frozen=True):
    """That a file can be used, and which one that is."""

    identity: FileIdentity | None


class Alive(Struct, frozen=True):
    """A sign of life: something is being written, and the disk takes its time."""


class Ended(Struct, frozen=True):
    """That nothing more will come; `is_unread` says that the group sent last was not read, so nothing of it written."""

    is_unread: bool = False


# The result of each order of a group, an exception for a failed one; or the file's state; or a heartbeat.
Outcomes = list[Any] | Unavailable | Usable | Alive
# Receives the results in the order of sending, and the end.
Hear = Callable[[Outcomes | Ended], None]


class WriterConnection:
    """Write a file; after an error nothing is written until the file has been tried again.

    Where it is not the file any more that was opened, nothing is written to it again, not even to close it.
    """

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._is_connected = False
        self._needs_reopening = False
        self._needs_room = False
        self._needs_check = False
        self._has_lost_log = False
        self._roomy_until = 0.0
        self._trouble: Unavailable | None = None

    @property
    def in_memory(self) -> bool:
        """Whether there is no file that others could do anything to."""
        return self._file.in_memory

    @property
    def identity(self) -> FileIdentity | None:
        """Which file was opened."""
        return self._file.identity

    def open(self) -> Usable:
        """Open the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self._connection = self._file.open()
        self._cursor = self._connection.cursor()
        # What takes back a part of a transaction would go into a file among the temporary ones, and may be large.
        self._cursor.execute("PRAGMA temp_store = MEMORY")
        self._is_connected = True
        # Once for all who ask: to open it anew for each would put another log in the place of what the others read.
        self._needs_reopening = False
        self._trouble = None
        return Usable(self._file.identity)

    @property
    def is_over(self) -> bool:
        """Whether the file is not the one any more that was opened."""
        return self._trouble is not None and self._trouble.is_final

    def close(self) -> None:
        """Let go of the file; not of one that was changed, for SQLite would write to it once more."""
        if self.is_over:
            self._save_log()
            if self._has_lost_log:
                logger.error("%s: what stood in the -wal that was deleted or replaced is lost.", self._file)
            return
        self._disconnect()
        self._file.close()

    def _disconnect(self) -> None:
        # A cursor may hold a statement of what has failed, with which SQLite would keep the file open.
        with suppress(sqlite3.Error):
            self._cursor.close()
        self._connection.close()
        self._is_connected = False

    def write(self, group: Sequence[Order]) -> list[Any] | Unavailable:
        """Carry out a group durably; what fails by itself fails alone."""
        if self._trouble is None:
            try:
                return self._commit(group)
            except Exception as error:
                self._suffer(error)
        assert self._trouble is not None
        return self._trouble

    def look(self) -> Unavailable | None:
        """Look, while there is nothing to write, whether the file is the same, and the disk full; say so once."""
        if self._trouble is not None:
            self._save_log()
            return None
        try:
            if self._file.purpose.is_seldom:
                self._make_room([])
            self._file.require_same()
        except Exception as error:
            self._suffer(error)
        return self._trouble

    def try_again(self, is_damaged: bool = False) -> Unavailable | Usable:
        """Try whether the file can be used again; all of it where who reads it says that it is damaged."""
        if self._trouble is not None and self._trouble.is_final:
            return self._trouble
        if is_damaged:
            self._needs_check = self._needs_reopening = not self._file.in_memory
        try:
            self._reopen()
            self._make_room([], spare=_SPARE)
            self._commit([])
            self._cursor.execute(_TRIAL)
        except StoreUnfit as error:
            self._trouble = Unavailable(error.message, is_final=isinstance(error, StoreChanged))
        except Exception as error:
            self._suffer(error)
        else:
            self._trouble, self._needs_check = None, False
        return self._trouble or Usable(self._file.identity)

    def _reopen(self) -> None:
        """Open the file anew where what has failed takes that, and look through it where it was found damaged."""
        if self._is_connected:  # Else SQLite itself may have removed the log.
            self._file.require_same()
        if self._needs_room:
            self._file.require_room()
        if self._needs_reopening:
            self._disconnect()
            self.open()
        if self._needs_check:
            self._check()

    def _check(self) -> None:
        """Check the whole file: most of a damaged one can be written as before."""
        if self._cursor.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise FileDamaged("database disk image is malformed")

    def _suffer(self, error: Exception) -> None:
        if isinstance(error, FileChanged):
            self._has_lost_log = isinstance(error, LogChanged)
            self._trouble = Unavailable(f"{self._file}: {advise_fault(error)}", is_final=True)
            self._save_log()
            return
        # What is in memory would be lost.
        self._needs_reopening = not (is_passing(error) or self._file.in_memory)
        self._needs_room = is_full(error)
        self._needs_check = self._needs_reopening and (self._needs_check or is_damage(error))
        self._trouble = Unavailable(f"{self._file}: {advise_fault(error)}")

    def _save_log(self) -> None:
        """Save acknowledged writes from a lost log, as soon as no reader uses it."""
        if self._has_lost_log:
            with suppress(sqlite3.Error, OSError):
                self._file.save_log(self._connection)
                self._has_lost_log = False

    def _make_room(self, group: Sequence[Order], spare: int = 0) -> None:
        """Write the log into the file while there is room for that: on a full disk it could never become smaller."""
        now = time.monotonic()
        if now < self._roomy_until:
            return
        if self._file.find_lack(_MUCH) is None:
            self._roomy_until = now + _SOON
            return
        size = _measure_pages(group) + spare
        if self._file.find_lack(size) is not None:
            self._cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if (lack := self._file.find_lack(size)) is not None:
                raise lack

    def _commit(self, group: Sequence[Order]) -> list[Any]:
        self._file.require_same()
        self._make_room(group)
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            try:
                outcomes = self._carry_out_together(group)
            except NotTogether:
                self._cursor.execute("ROLLBACK")
                self._cursor.execute("BEGIN IMMEDIATE")
                outcomes = [self._carry_out(statement, values, kind) for statement, values, kind in group]
            self._cursor.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._roll_back("ROLLBACK")
        self._file.require_same()  # Who asked is about to hear that it is durable.
        return outcomes

    def _carry_out_together(self, group: Sequence[Order]) -> list[Any]:
        """Carry out orders in sequence; rows that come one after the other are inserted by one statement.

        Raises:
            NotTogether: Some of these changed nothing, so that each order has to be carried out by itself.
        """
        outcomes: list[Any] = []
        for (statement, kind), alike in groupby(group, _ALIKE):
            rows = [*map(_VALUES, alike)]
            if kind == "key" and len(rows) > 1:
                self._change(statement, rows)
                outcomes += map(_KEY, rows)
            else:
                outcomes += [self._carry_out(statement, values, kind) for values in rows]
        return outcomes

    def _change(self, statement: str, rows: Sequence[Any]) -> None:
        """Carry out a statement that changes one row at most, for each of these values."""
        try:
            if inserts_rows(statement):
                changed = sum(self._cursor.execute(*part).rowcount for part in put_together(statement, rows))
            else:
                changed = self._cursor.executemany(statement, rows).rowcount
        except Exception as error:
            self._renew()
            if is_fault(error) or not self._connection.in_transaction:
                raise
            raise NotTogether from error
        if changed < len(rows):
            raise NotTogether

    def _carry_out(self, statement: str, values: Any, kind: Kind) -> Any:
        try:
            if kind == "many":
                return self._carry_out_all(statement, values)
            cursor = self._cursor.execute(statement, values)
            if kind == "key":
                return values[:1] if cursor.rowcount > 0 else None
            rows = cursor.fetchall()
        except Exception as error:
            self._renew()
            if is_fault(error) or not self._connection.in_transaction:
                raise
            return error
        return rows if kind == "rows" else rows[0] if rows else None

    def _carry_out_all(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        if len(rows) == 1:  # One statement is carried out whole, or not at all.
            self._cursor.execute(statement, rows[0])
            return
        self._cursor.execute("SAVEPOINT many")
        try:
            for part in put_together(statement, rows):
                self._cursor.execute(*part)
        except Exception:
            self._renew()
            self._roll_back("ROLLBACK TO many")
            raise
        finally:
            if self._connection.in_transaction:
                self._cursor.execute("RELEASE many")

    def _renew(self) -> None:
        # The cursor of Python 3.13 keeps a statement that has failed as it is, and then cannot use it again.
        with suppress(sqlite3.Error):
            self._cursor.close()
        self._cursor = self._connection.cursor()

    def _roll_back(self, statement: str) -> None:
        with suppress(sqlite3.Error):
            self._cursor.execute(statement)


def measure(values: tuple[Any, ...]) -> int:
    """Return about how many bytes a row takes while it waits.

    Raises:
        TypeError: A value of it cannot be written.
    """
    size = 0
    for value in values:
        if type(value) is str or type(value) is bytes:
            size += len(value)
        elif value is not None and not isinstance(value, (int, float, str, bytes)):
            raise TypeError(f"A {type(value).__name__} cannot be written into a database.")
    return size


def _measure_pages(group: Sequence[tuple[str, Any, str]]) -> int:
    """Return about how many bytes the orders of a group take in a file."""
    rows = [row for _, values, kind in group for row in (values if kind == "many" else [values])]
    return len(rows) * _PAGES + sum(len(value) for row in rows for value in row if isinstance(value, (str, bytes)))
