"""The places where a ledger is kept, so that one set of tests holds for all of them."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import asyncpg

from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.rule_stores import MemoryRules, SqlRules
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.features.audit.stores import AuditTrail, MemoryAudit, SqlAudit
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.contents.sql_store import SqlContents
from sidecall.features.credentials.stores import MemorySecrets, SqlSecrets
from sidecall.features.store.items import Items
from sidecall.features.store.memory_store import MemoryItems
from sidecall.features.store.sql_store import SqlItems
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.ports.secrets import SealedSecrets
from sidecall.storage.database import Database
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.postgres import empty_tables


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


class Place(Protocol):
    """An empty place for a ledger."""

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
        """Give the database of calls in this place."""

    async def count_bytes(self) -> int:
        """Count what the approvals take."""


class InMemory:
    """A ledger in memory."""

    def __init__(self) -> None:
        self._database: SqliteDatabase | None = None

    def approvals(
        self, ttl: float, most: int, clock: Callable[[], float], most_bytes: int = 32 * 1024 * 1024
    ) -> Approvals:
        """Make what keeps approvals here."""
        self._approvals = MemoryApprovals(ttl, most, clock, most_bytes)
        return self._approvals

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
        """Give the database of calls in this place."""
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
        return self._approvals.taken


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
        """Give the database of calls in this place."""
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
    """A database that tests share, emptied for each."""

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
                if table not in ("schema_version", "feature_versions"):
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
