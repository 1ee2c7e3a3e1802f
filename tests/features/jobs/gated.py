"""A database whose statements wait at gates."""

import asyncio
from collections import Counter
from typing import Any

from sidecall.storage.database import Database, Row
from tests.kit.faulty import FaultyDatabase
from tests.kit.waiting import until


class GatedDatabase(FaultyDatabase):
    """Another database; statements in `gates` wait until theirs is open, and all are counted once they are done.

    Those in `behind` are carried out, and then wait before they say so.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.gates: dict[str, asyncio.Event] = {}
        self.behind: dict[str, asyncio.Event] = {}
        self.came: Counter[str] = Counter()
        self.done: Counter[str] = Counter()

    async def write(self, statement: str, *values: Any, size: int | None = None) -> Row | None:
        """Carry out a statement once its gate is open."""
        self.came[statement] += 1
        if statement in self.gates:
            await self.gates[statement].wait()
        row = await super().write(statement, *values, size=size)
        await self._note(statement)
        return row

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Find rows."""
        rows = await super().read(statement, *values, where=where)
        await self._note(statement)
        return rows

    async def _note(self, statement: str) -> None:
        self.done[statement] += 1
        if statement in self.behind:
            await self.behind[statement].wait()

    def shut(self, statement: str) -> asyncio.Event:
        """Let a statement wait from now on, until what is returned is set."""
        gate = self.gates[statement] = asyncio.Event()
        return gate

    async def meet(self, statement: str) -> None:
        """Wait until a statement has come to its gate."""
        await until(lambda: self.came[statement] > 0)

    def shut_behind(self, statement: str) -> asyncio.Event:
        """Let what a statement says wait from now on, until what is returned is set."""
        gate = self.behind[statement] = asyncio.Event()
        self.done[statement] = 0
        return gate

    async def meet_behind(self, statement: str) -> None:
        """Wait until a statement has come to the gate behind it."""
        await until(lambda: self.done[statement] > 0)
