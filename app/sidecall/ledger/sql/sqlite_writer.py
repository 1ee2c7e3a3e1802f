"""The one thread that writes a SQLite file: what waits shares a commit."""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from sidecall.core.overload import StoreUnavailable, StoreUnfit
from sidecall.ledger.sql.database import Row
from sidecall.ledger.sql.sqlite_faults import FileMoved, describe_fault, is_fault, is_passing
from sidecall.ledger.sql.sqlite_file import SqliteFile

logger = logging.getLogger("sidecall")

Kind = Literal["row", "rows", "many"]
# What an operation takes beside its texts and bytes.
_BESIDE = 512
# More in one group would let the first of them wait for long.
_LARGEST_GROUP = 1000
# Seconds until a file that could not be used is tried again.
_PAUSE = 0.5
_SECONDS_TO_CLOSE = 2.0
# Changes nothing, but has to be written like any other.
_TRIAL = "UPDATE schema_version SET name = name WHERE version = 1"
# As tuples, which are made for each call: what waits for it, statement, values, kind, size.
_Operation = tuple[asyncio.Future[Any], str, Any, Kind, int]


class Writer:
    """Carry out statements in the order in which they come, many in one transaction.

    While the file cannot be used all are refused at once; it is tried again until it can.
    """

    def __init__(self, file: SqliteFile, most_waiting: int) -> None:
        """Write a file; `most_waiting` is in bytes."""
        self._file = file
        self._most_waiting = most_waiting
        self._waiting = 0  # Counted on the event loop only.
        self._queue: deque[_Operation] = deque()
        self._wake = threading.Event()
        self._is_closing = False
        self._needs_reopening = False
        self.trouble: str | None = "It is not open."
        self.generation = 0  # Of the file: the connections of an earlier one lead to what is gone.

    def open(self) -> None:
        """Open the file.

        Raises:
            StoreUnfit: It cannot be used.
        """
        self._connection = self._file.open()
        self._cursor = self._connection.cursor()

    def start(self) -> None:
        """Begin to write, for this event loop."""
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        self._is_closing = False
        self.trouble = None
        threading.Thread(target=self._run, name="sidecall-ledger", daemon=True).start()

    async def close(self) -> None:
        """Write what waits, for a few seconds, and let go of the file."""
        self._is_closing = True
        self._wake.set()
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._ended), _SECONDS_TO_CLOSE)

    def ask(self, statement: str, values: Any, kind: Kind) -> asyncio.Future[Any]:
        """Let a statement be carried out with the next group.

        Raises:
            StoreUnavailable: The file cannot be used, or too much waits for it.
        """
        if self.trouble is not None or self._is_closing:
            raise StoreUnavailable
        size = _BESIDE + (sum(map(_measure, values)) if kind == "many" else _measure(values))
        if self._waiting + size > self._most_waiting and self._waiting:
            raise StoreUnavailable("More waits to be written than this server can keep.")
        self._waiting += size
        future = self._loop.create_future()
        self._queue.append((future, statement, values, kind, size))
        if not self._wake.is_set():
            self._wake.set()
        return future

    def _run(self) -> None:
        while not self._is_closing or self._queue:
            self._wake.wait(None if self.trouble is None else _PAUSE)
            self._wake.clear()
            while self._queue:
                self._write(self._take(_LARGEST_GROUP))
            if self.trouble is not None and not self._is_closing:
                self._try_again()
        self._connection.close()
        self._file.close()
        self._call_on_loop(_finish, self._ended)

    def _take(self, most: int) -> list[_Operation]:
        return [self._queue.popleft() for _ in range(min(most, len(self._queue)))]

    def _write(self, group: list[_Operation]) -> None:
        try:
            outcomes = self._commit(group)
        except Exception as error:
            self._suffer(error)
            group += self._take(len(self._queue))
            outcomes = [StoreUnavailable() for _ in group]
        self._call_on_loop(self._settle, group, outcomes)

    def _commit(self, group: Sequence[_Operation]) -> list[Any]:
        """Carry out a group in one transaction; what fails by itself fails alone."""
        if self._file.has_moved:
            raise FileMoved
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
            outcomes = [self._carry_out(statement, values, kind) for _, statement, values, kind, _ in group]
            self._cursor.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._roll_back("ROLLBACK")
        return outcomes

    def _carry_out(self, statement: str, values: Any, kind: Kind) -> Any:
        try:
            if kind == "many":
                return self._carry_out_all(statement, values)
            rows = self._cursor.execute(statement, values).fetchall()
        except Exception as error:
            self._renew()
            if is_fault(error) or not self._connection.in_transaction:
                raise
            return error
        return rows if kind == "rows" else rows[0] if rows else None

    def _carry_out_all(self, statement: str, rows: Sequence[Row]) -> None:
        self._cursor.execute("SAVEPOINT many")
        try:
            for row in rows:
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

    def _suffer(self, error: Exception) -> None:
        # What is in memory would be lost.
        self._needs_reopening = not (is_passing(error) or self._file.in_memory)
        trouble = f"{self._file}: {describe_fault(error)}."
        if self.trouble is None:
            purpose = self._file.purpose
            logger.error("%s cannot be written, so %s: %s", purpose.name, purpose.loss, trouble)
        self.trouble = trouble

    def _try_again(self) -> None:
        try:
            if self._needs_reopening:
                self._connection.close()
                self.open()
                self.generation += 1
            self._commit([])
            self._cursor.execute(_TRIAL)
        except StoreUnfit as error:
            self.trouble = error.message
        except Exception as error:
            self._suffer(error)
        else:
            self.trouble = None
            logger.warning("%s can be written again: %s", self._file.purpose.name, self._file)

    def _call_on_loop(self, function: Any, *args: Any) -> None:
        with suppress(RuntimeError):  # The loop is closed, and nobody waits any more.
            self._loop.call_soon_threadsafe(function, *args)

    def _settle(self, group: Sequence[_Operation], outcomes: Sequence[Any]) -> None:
        for (future, _, _, _, size), outcome in zip(group, outcomes, strict=True):
            self._waiting -= size
            if future.done():  # Whoever asked has gone.
                continue
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _measure(values: Row) -> int:
    size = 0
    for value in values:
        if type(value) is str or type(value) is bytes:
            size += len(value)
    return size
