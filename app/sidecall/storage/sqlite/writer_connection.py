"""The connection that writes a SQLite file, in a thread or process: groups of statements, each in one transaction."""

import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any, Literal

from sidecall.dataclasses import dataclass
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.database import Row
from sidecall.storage.sqlite.faults import (
    DiskFull,
    FileDamaged,
    LogBusy,
    LogMoved,
    advise_fault,
    is_damage,
    is_fault,
    is_full,
    is_passing,
)
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.file_identity import FileIdentity
from sidecall.storage.sqlite.sizes import measure_pages

# Bytes that all that is sent at once hardly comes to.
_MUCH = 128 * 1024 * 1024
# Seconds in which no program fills that much.
_SOON = 0.05
# Bytes that must be free beyond what was too little, so that it does not fail again at once.
_SPARE = 256 * 1024
# Changes nothing, but has to be written like any other.
_TRIAL = "UPDATE schema_version SET name = name WHERE version = 1"

# Rows that one statement inserts: each time that one is carried out, other threads of this process are in its way.
_TOGETHER = 32
_VALUES = re.compile(r"\bVALUES\s*\(([^()]*)\)")
_PLACEHOLDER = re.compile(r"\?\d+")

Kind = Literal["key", "row", "rows", "many"]
# A statement, its values or rows of them, and what is wanted of it: its key where it has changed something, its first
# row, all rows, or to be carried out for each row. A tuple, since one is made for each call.
Order = tuple[str, Any, Kind]


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a file cannot be used, in words for an operator; what came with it was not written."""

    text: str


@dataclass(frozen=True, slots=True)
class Usable:
    """The file can be used, and its identity."""

    identity: FileIdentity | None


@dataclass(frozen=True, slots=True)
class Alive:
    """A heartbeat: a write is running, and the disk is slow."""


# The result of each order of a group, an exception for a failed one; or the file's state; or a heartbeat.
Outcomes = list[Any] | Unavailable | Usable | Alive
# Receives the results in the order of sending; None when nothing more will come.
Hear = Callable[[Outcomes | None], None]


@cache
def widen(statement: str) -> str | None:
    """Return a statement that inserts many rows instead of one; None if that is impossible."""
    values = _VALUES.search(statement)
    found = [] if values is None else values[1].replace(" ", "").replace("\n", "").split(",")
    numbered = [f"?{number}" for number in range(1, len(found) + 1)]
    if values is None or found != numbered or len(_PLACEHOLDER.findall(statement)) != len(found):
        return None
    row = f"({', '.join('?' * len(found))})"
    return f"{statement[: values.start()]}VALUES {', '.join([row] * _TOGETHER)}{statement[values.end() :]}"


class WriterConnection:
    """Writes a file; after a fault nothing is written until it is retried, not even orders sent before."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self._needs_reopening = False
        self._needs_room = False
        self._needs_check = False
        self._has_log = False  # Nor is there one once it was deleted, and what stood in it saved.
        self._roomy_until = 0.0
        self._trouble: Unavailable | None = None

    @property
    def in_memory(self) -> bool:
        """Whether there is no file that others could change."""
        return self._file.in_memory

    @property
    def identity(self) -> FileIdentity | None:
        """The identity of the opened file."""
        return self._file.identity

    def open(self) -> Usable:
        """Open the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self._connection = self._file.open()
        self._cursor = self._connection.cursor()
        self._has_log = True
        # Once for all who ask: to open it anew for each would put another log in the place of what the others read.
        self._needs_reopening = False
        self._trouble = None
        return Usable(self._file.identity)

    def close(self) -> None:
        """Close the file."""
        self._disconnect()
        self._file.close()

    def _disconnect(self) -> None:
        # A cursor may hold a statement of what has failed, with which SQLite would keep the file open.
        with suppress(sqlite3.Error):
            self._cursor.close()
        self._connection.close()
        self._has_log = False

    def write(self, group: Sequence[Order]) -> list[Any] | Unavailable:
        """Run a group durably; a faulty statement fails alone."""
        if self._trouble is None:
            try:
                return self._commit(group)
            except Exception as error:
                self._suffer(error)
        assert self._trouble is not None
        return self._trouble

    def look(self) -> Unavailable | None:
        """Check, while idle, whether the log is lost or the disk full; report it once."""
        if self._trouble is not None:
            return None
        try:
            if self._file.purpose.is_seldom:
                self._make_room([])
            self._save_log()
            self._require_log()
        except Exception as error:
            self._suffer(error)
        return self._trouble

    def try_again(self, is_damaged: bool = False) -> Unavailable | Usable:
        """Try whether the file can be used again; check all of it if a reader has found it damaged."""
        if is_damaged:
            self._needs_check = self._needs_reopening = not self._file.in_memory
        try:
            if self._needs_room:
                self._file.require_room()
            if self._needs_reopening or self._file.has_lost_log:
                self._reopen()
            if self._needs_check:
                self._check()
            self._make_room([], spare=_SPARE)
            self._commit([])
            self._cursor.execute(_TRIAL)
        except StoreUnfit as error:
            self._trouble = Unavailable(error.message)
        except Exception as error:
            self._suffer(error)
        else:
            self._trouble, self._needs_check = None, False
        return self._trouble or Usable(self._file.identity)

    def _reopen(self) -> None:
        self._needs_reopening = True
        self._save_log()
        self._disconnect()
        self.open()

    def _save_log(self) -> None:
        """Checkpoint a log that was deleted or replaced into the file: only this connection still has it."""
        if self._has_log and self._file.has_lost_log:
            [(is_busy, *_)] = self._cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if is_busy:
                raise LogBusy("database is locked")
            self._file.drop_other_log()
            self._has_log = False

    def _require_log(self) -> None:
        if not self._has_log:
            raise LogMoved

    def _check(self) -> None:
        """Check the whole file: most of a damaged one can be written as before."""
        if self._cursor.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise FileDamaged("database disk image is malformed")

    def _suffer(self, error: Exception) -> None:
        # What is in memory would be lost.
        self._needs_reopening = not (is_passing(error) or self._file.in_memory)
        self._needs_room = is_full(error)
        self._needs_check = self._needs_reopening and (self._needs_check or is_damage(error))
        self._trouble = Unavailable(f"{self._file}: {advise_fault(error)}")

    def _make_room(self, group: Sequence[Order], spare: int = 0) -> None:
        """Checkpoint while there is room for it: on a full disk the log could never shrink."""
        now = time.monotonic()
        if now < self._roomy_until:
            return
        if self._file.has_room_for(_MUCH):
            self._roomy_until = now + _SOON
            return
        size = measure_pages(group) + spare
        if not self._file.has_room_for(size):
            self._cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if not self._file.has_room_for(size):
                raise DiskFull("database or disk is full")

    def _commit(self, group: Sequence[Order]) -> list[Any]:
        self._file.require_same()
        self._require_log()
        self._make_room(group)
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            outcomes = [self._carry_out(statement, values, kind) for statement, values, kind in group]
            self._cursor.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._roll_back("ROLLBACK")
        self._save_log()  # The caller is about to be told that it is durable.
        return outcomes

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

    def _carry_out_all(self, statement: str, rows: Sequence[Row]) -> None:
        self._cursor.execute("SAVEPOINT many")
        try:
            wide = widen(statement) if len(rows) >= _TOGETHER else None
            done = 0
            while wide is not None and done + _TOGETHER <= len(rows):
                self._cursor.execute(wide, tuple(chain.from_iterable(rows[done : done + _TOGETHER])))
                done += _TOGETHER
            for row in rows[done:]:
                self._cursor.execute(statement, row)
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
