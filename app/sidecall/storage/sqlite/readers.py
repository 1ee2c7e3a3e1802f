"""Connections that read a SQLite file, each in a thread while it does."""

import asyncio
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Row
from sidecall.storage.sqlite.errors import is_unsettled
from sidecall.storage.sqlite.file import SqliteFile
from sidecall.storage.sqlite.opened_file import ReadSource

# Seconds for which a statement is waited for, and at the end for all; on a disk that is stuck they take for ever.
_PATIENCE = 10.0
_SECONDS_TO_CLOSE = 2.0
# Seconds in which another process has taken the place of one that wrote and was killed, and between two looks.
_UNTIL_SETTLED = 2.0
_MOMENT = 0.01
# Steps of SQLite's machine between two looks whether a query is still awaited; they take a millisecond or so.
_STEPS = 50_000


class Reading:
    """A running query, which is interrupted when its result is no longer awaited."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self.is_given_up = False

    def give_up(self) -> None:
        """End the statement, so that its thread and its connection are free again."""
        with self._lock:
            self.is_given_up = True
            if self._connection is not None:
                self._connection.interrupt()

    @contextmanager
    def begin_on(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Run it on a connection within the body.

        Raises:
            sqlite3.OperationalError: The read was given up.
        """
        with self._lock:
            if self.is_given_up:
                raise sqlite3.OperationalError("interrupted")
            self._connection = connection
        # SQLite forgets an interrupt that comes before the statement has begun.
        connection.set_progress_handler(lambda: self.is_given_up, _STEPS)
        try:
            yield
        finally:
            connection.set_progress_handler(None, _STEPS)
            with self._lock:
                self._connection = None


class Readers:
    """Reads committed data; a few queries at a time, independent of each other and of the writer."""

    def __init__(self, file: SqliteFile, most: int = 6) -> None:
        self._file = file
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="sidecall-ledger-reader")
        self._free: deque[tuple[ReadSource, sqlite3.Connection]] = deque()

    async def read(self, statement: str, values: Row, source: ReadSource) -> list[Row]:
        """Return the rows that a query finds.

        Raises:
            sqlite3.Error: It cannot be carried out.
            StoreUnavailable: It takes too long.
        """
        loop, reading = asyncio.get_running_loop(), Reading()
        try:
            async with asyncio.timeout(_PATIENCE):
                return await loop.run_in_executor(
                    self._threads, partial(self._read, statement, values, source, reading)
                )
        except TimeoutError as error:
            raise StoreUnavailable from error
        finally:
            reading.give_up()

    async def close(self) -> None:
        """Finish running queries, within a bounded time, and disconnect."""
        ending = asyncio.ensure_future(SERVER.run(self._threads.shutdown))
        await asyncio.wait([ending], timeout=_SECONDS_TO_CLOSE)
        while self._free:
            self._free.pop()[1].close()

    def _read(self, statement: str, values: Row, source: ReadSource, reading: Reading) -> list[Row]:
        until = time.monotonic() + _UNTIL_SETTLED
        while True:
            try:
                return self._read_now(statement, values, source, reading)
            except sqlite3.Error as error:
                if reading.is_given_up:
                    return []  # Nobody hears of it.
                if not is_unsettled(error) or time.monotonic() > until:
                    raise
            time.sleep(_MOMENT)

    def _read_now(self, statement: str, values: Row, source: ReadSource, reading: Reading) -> list[Row]:
        connection = self._connect(source)
        try:
            with reading.begin_on(connection):
                rows = connection.execute(statement, values).fetchall()
        except sqlite3.Error:
            connection.close()
            raise
        self._free.append((source, connection))
        return rows

    def _connect(self, source: ReadSource) -> sqlite3.Connection:
        """Take a free connection, unless its file is gone."""
        while self._free:
            try:
                made_for, connection = self._free.pop()
            except IndexError:  # Another thread was faster.
                break
            if made_for == source:
                return connection
            connection.close()
        return self._file.open_reader(source[1])
