"""An in-memory database that is created at the first write: most servers store no calls."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sidecall.kernel.core.overload import PartUnavailable, StoreUnavailable
from sidecall.storage.database import Dialect, Row
from sidecall.storage.feature_tables import FeatureTables
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.tables import LEDGER

# What an empty one answers those who look again and again, and with each decision, by their statements.
_EMPTY: Mapping[str, Sequence[Row]] = {
    "find_suspended_call": [],
    "count_queued_calls": [(0,)],
    "measure_calls": [(0, 0)],
    "list_forgettable_calls": [],
    "find_aged_calls": [("[]", 0, 0)],
    "list_held_calls": [],
    "list_lost_calls": [],
    "list_own_calls": [],
    "list_unwanted_calls": [],
    "list_due_callbacks": [],
}


class LateDatabase:
    """Stands in for the database: reads find nothing until something is written.

    Its modules are not loaded before that either.
    """

    dialect: Dialect = "sqlite"
    is_shared = False

    def __init__(self, others: tuple[FeatureTables, ...] = ()) -> None:
        """Prepare without creating anything; `others` are features of other packages that have tables in it."""
        self._purpose = replace(LEDGER, others=others)
        self._turn = asyncio.Lock()
        self._is_open = False
        self._trouble: str | None = "It is not open."
        self._database: SqliteDatabase | None = None

    @property
    def trouble(self) -> str | None:
        """Why it is unavailable; None if it is available."""
        return self._trouble if self._database is None else self._database.trouble

    @property
    def unavailable_since(self) -> float | None:
        """When that began, in Unix seconds; None if it is available."""
        return None if self._database is None else self._database.unavailable_since

    async def open(self) -> None:
        """Allow the database to be created on demand."""
        self._is_open, self._trouble = True, None

    async def close(self) -> None:
        """Drop the data."""
        self._is_open = False
        database, self._database = self._database, None
        if database is not None:
            await database.close()

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Run a statement, and return the first row of its RETURNING.

        Raises:
            StoreUnavailable: It is closed, or cannot be made just now.
        """
        if self._database is not None:
            return self._database.write(statement, *values, size=size)
        return self._write_first(statement, values, size)

    async def _write_first(self, statement: str, values: Sequence[Any], size: int | None) -> Row | None:
        return await (await self._make()).write(statement, *values, size=size)

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: It is closed, or cannot be made just now.
        """
        if rows:
            await (self._database or await self._make()).write_all(statement, rows)

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return the rows that a query finds.

        Raises:
            StoreUnavailable: It is closed, or cannot be made just now.
        """
        if self._database is None and self._is_open and statement in _EMPTY:
            return [*_EMPTY[statement]]
        return await (self._database or await self._make()).read(statement, *values, where=where)

    async def _make(self) -> SqliteDatabase:
        async with self._turn:
            if not self._is_open:
                raise StoreUnavailable
            if self._database is None:
                try:
                    database = SqliteDatabase(purpose=self._purpose)
                    await database.open()
                except OSError as error:  # Files have run out.
                    raise StoreUnavailable from error
                except PartUnavailable as error:  # Something has to be loaded.
                    raise StoreUnavailable(error.message) from error
                self._database = database
            return self._database
