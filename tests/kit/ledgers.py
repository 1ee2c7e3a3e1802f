"""The places where a ledger is kept, so that one set of tests holds for all of them."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import asyncpg

from sidecall.core.contents import Contents
from sidecall.core.decisions.audit import AuditTrail
from sidecall.core.decisions.places import ApprovalRules, Approvals
from sidecall.core.secrecy.places import SealedSecrets
from sidecall.core.store.items import Items
from sidecall.ledger.memory.approvals import MemoryApprovals
from sidecall.ledger.memory.audit import MemoryAudit
from sidecall.ledger.memory.contents import MemoryContents
from sidecall.ledger.memory.items import MemoryItems
from sidecall.ledger.memory.room import Room
from sidecall.ledger.memory.rules import MemoryRules
from sidecall.ledger.memory.secrets import MemorySecrets
from sidecall.ledger.sql.approvals import SqlApprovals
from sidecall.ledger.sql.audit import SqlAudit
from sidecall.ledger.sql.contents import SqlContents
from sidecall.ledger.sql.database import Database
from sidecall.ledger.sql.items import SqlItems
from sidecall.ledger.sql.postgres.database import PostgresDatabase
from sidecall.ledger.sql.rules import SqlRules
from sidecall.ledger.sql.secrets import SqlSecrets
from sidecall.ledger.sql.sqlite.opened import SqliteDatabase
from tests.kit.postgres import empty_tables


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


class Place(Protocol):
    """Where a ledger is kept, with nothing in it."""

    def approvals(self, ttl: float, most: int, clock: Callable[[], float], most_bytes: int = ...) -> Approvals:
        """Make what keeps approvals here."""

    def contents(self, ttl: float, most: int, clock: Callable[[], float], quota: int | None = None) -> Contents:
        """Make what keeps contents here."""

    def items(self, clock: Callable[[], float]) -> Items:
        """Make what keeps items here."""

    def rules(self, most: int, clock: Callable[[], float], most_of_tenant: int = 1000) -> ApprovalRules:
        """Make what keeps decisions for later calls here."""

    def audit(self, ttl: float, most: int, clock: Callable[[], float]) -> AuditTrail:
        """Make what keeps the audit here."""

    def secrets(self, most: int, clock: Callable[[], float]) -> SealedSecrets:
        """Make what keeps the secrets of callers here."""

    async def open_database(self) -> Database:
        """Give the database in which calls are remembered here."""

    async def count_bytes(self) -> int:
        """Count what the approvals take."""


class InMemory:
    """What this process keeps itself."""

    def __init__(self) -> None:
        self._database: SqliteDatabase | None = None

    def approvals(
        self, ttl: float, most: int, clock: Callable[[], float], most_bytes: int = 32 * 1024 * 1024
    ) -> Approvals:
        """Make what keeps approvals here."""
        self.room = Room(most_bytes)
        return MemoryApprovals(ttl, most, clock, self.room)

    def contents(self, ttl: float, most: int, clock: Callable[[], float], quota: int | None = None) -> Contents:
        """Make what keeps contents here."""
        return MemoryContents(ttl, most, clock, quota)

    def items(self, clock: Callable[[], float]) -> Items:
        """Make what keeps items here."""
        return MemoryItems(clock=clock)

    def rules(self, most: int, clock: Callable[[], float], most_of_tenant: int = 1000) -> ApprovalRules:
        """Make what keeps decisions for later calls here."""
        return MemoryRules(most, clock, most_of_tenant)

    async def open_database(self) -> Database:
        """Give the database in which calls are remembered here."""
        if self._database is None:
            self._database = SqliteDatabase()
            await self._database.open()
        return self._database

    async def close(self) -> None:
        """Forget everything."""
        if self._database is not None:
            await self._database.close()

    def audit(self, ttl: float, most: int, clock: Callable[[], float]) -> AuditTrail:
        """Make what keeps the audit here."""
        return MemoryAudit(ttl, most, clock)

    def secrets(self, most: int, clock: Callable[[], float]) -> SealedSecrets:
        """Make what keeps the secrets of callers here."""
        return MemorySecrets(most, clock)

    async def count_bytes(self) -> int:
        """Count what the approvals take."""
        return self.room.taken


class InDatabase:
    """A database that is open."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def approvals(
        self, ttl: float, most: int, clock: Callable[[], float], most_bytes: int = 32 * 1024 * 1024
    ) -> Approvals:
        """Make what keeps approvals here."""
        return SqlApprovals(self.database, "this process", ttl, most, most_bytes, clock)

    def contents(self, ttl: float, most: int, clock: Callable[[], float], quota: int | None = None) -> Contents:
        """Make what keeps contents here."""
        return SqlContents(self.database, ttl, most, clock, quota)

    def items(self, clock: Callable[[], float]) -> Items:
        """Make what keeps items here."""
        items = SqlItems(self.database, clock=clock)
        items.attach()
        return items

    def rules(self, most: int, clock: Callable[[], float], most_of_tenant: int = 1000) -> ApprovalRules:
        """Make what keeps decisions for later calls here."""
        return SqlRules(self.database, most, clock, most_of_tenant)

    async def open_database(self) -> Database:
        """Give the database in which calls are remembered here."""
        return self.database

    def audit(self, ttl: float, most: int, clock: Callable[[], float]) -> AuditTrail:
        """Make what keeps the audit here."""
        return SqlAudit(self.database, ttl, most, clock)

    def secrets(self, most: int, clock: Callable[[], float]) -> SealedSecrets:
        """Make what keeps the secrets of callers here."""
        return SqlSecrets(self.database, most, clock)

    async def count_bytes(self) -> int:
        """Count what the approvals take."""
        [(_, taken)] = await self.database.read("count_approvals")
        return int(taken)


KINDS = ("memory", "sqlite", "postgres")


class Kept:
    """A database that many tests share, each of which finds nothing in it."""

    def __init__(self, database: Database, empty: Callable[[], Awaitable[None]]) -> None:
        """Share a database that is open, and has to be emptied like this."""
        self._database = database
        self._empty = empty

    async def offer(self) -> Place:
        """Give it with nothing in it."""
        await self._empty()
        return InDatabase(self._database)


@asynccontextmanager
async def open_file(path: Path) -> AsyncIterator[Kept]:
    """Open a ledger in a file."""
    database = SqliteDatabase(path)
    await database.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        async def empty() -> None:
            tables = other.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                if table != "schema_version":
                    other.execute(f'DELETE FROM "{table}"')

        try:
            yield Kept(database, empty)
        finally:
            await database.close()


@asynccontextmanager
async def open_postgres(url: str) -> AsyncIterator[Kept]:
    """Open a ledger in the PostgreSQL database of a URL."""
    database = PostgresDatabase(url)
    await database.open()
    other = await asyncpg.connect(url)
    try:
        yield Kept(database, partial(empty_tables, other))
    finally:
        await other.close()
        await database.close()
