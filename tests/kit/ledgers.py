"""The places where a ledger is kept, so that one set of tests holds for all of them."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

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
from sidecall.ledger.sql.postgres import PostgresDatabase
from sidecall.ledger.sql.rules import SqlRules
from sidecall.ledger.sql.secrets import SqlSecrets
from sidecall.ledger.sql.sqlite.opened import SqliteDatabase


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


@asynccontextmanager
async def open_place(kind: str, folder: Path, url: str) -> AsyncIterator[Place]:
    """Make a place of one of `KINDS`, which may write into the folder, and into the database of the URL."""
    if kind == "memory":
        in_memory = InMemory()
        yield in_memory
        await in_memory.close()
        return
    database: Database
    database = SqliteDatabase(folder / "ledger.db") if kind == "sqlite" else PostgresDatabase(url)
    await database.open()
    try:
        yield InDatabase(database)
    finally:
        await database.close()
