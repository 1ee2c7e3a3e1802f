"""A database that breaks off when a test says so."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Database, Dialect, Row


class FaultyDatabase:
    """A database whose next statements fail: `before` of them without effect, `after` of them although carried out."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()

    @property
    def dialect(self) -> Dialect:
        """The dialect of the database."""
        return self._database.dialect

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write it."""
        return self._database.is_shared

    @property
    def trouble(self) -> str | None:
        """The database's own reason of being unavailable."""
        return self._database.trouble

    @property
    def unavailable_since(self) -> float | None:
        """When it became unavailable."""
        return self._database.unavailable_since

    async def open(self) -> None:
        """Open it."""
        await self._database.open()

    async def close(self) -> None:
        """Close it."""
        await self._database.close()

    async def write(self, statement: str, *values: Any, size: int | None = None) -> Row | None:
        """Carry out a statement, and perhaps say that it was not."""
        _break_off(self.before, statement)
        row = await self._database.write(statement, *values, size=size)
        _break_off(self.after, statement)
        return row

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for many rows."""
        await self._database.write_all(statement, rows)

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Find rows."""
        _break_off(self.before, statement)
        return await self._database.read(statement, *values, where=where)


def _break_off(times: Counter[str], statement: str) -> None:
    if times[statement] > 0:
        times[statement] -= 1
        error = StoreUnavailable()
        error.retry_after = 0  # What comes again does so at once.
        raise error


class SlowDatabase(FaultyDatabase):
    """A database whose reads with a certain text among their values never end."""

    def __init__(self, database: Database, text: str) -> None:
        super().__init__(database)
        self._text = text
        self.begun = 0

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Read, or wait until it is given up."""
        if self._text in values:
            self.begun += 1
            await asyncio.Event().wait()
        return await super().read(statement, *values, where=where)
