"""Audit entries in a database."""

import json
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.storage.database import Database, Row

AuditAction = Literal[
    "denied",
    "approved",
    "rejected",
    "rule_made",
    "rule_revoked",
    "key_made",
    "key_revoked",
    "secret_set",
    "secret_deleted",
    "token_granted",
    "token_denied",
    "token_lost",
    "token_deleted",
    "reloaded",
    "tools_accepted",
]


class AuditEntry(BaseModel, defer_build=True):
    """One decision, or several refusals of the same kind, which are counted."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)

    id: str
    at: datetime = Field(description="When; of several refusals the first.")
    action: AuditAction
    by: str | None = Field(default=None, description="Who decided, or was refused; null for a caller who is not known.")
    tenant: str = Field(exclude=True)
    target: str | None = Field(
        default=None,
        description="What it is about: the id of an approval, a rule or a key, the name of a secret, a provider or "
        "an MCP server.",
    )
    details: dict[str, Any] = Field(default_factory=dict, description="More about it; never a secret.")
    count: int = Field(default=1, description="How many refusals it stands for.")


class AuditFilter(Struct, frozen=True):
    """Filters for entries; times are in seconds since 1970."""

    tenant: str
    action: AuditAction | None = None
    by: str | None = None
    since: float | None = None
    until: float | None = None


class AuditPage(Struct, frozen=True):
    """A page of entries, and the cursor of the next one; None at the end."""

    entries: Sequence[AuditEntry]
    cursor: str | None = None


class AuditTrail(Protocol):
    """Stores audit entries for a time, up to a maximum number; refusals take at most half of it.

    So a caller who is refused again and again cannot push out other entries.
    """

    ttl: float

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry, unless there is one with its id."""

    async def list(self, wanted: AuditFilter, limit: int = 100, cursor: str | None = None) -> AuditPage:
        """List entries, latest first, up to `limit`, after the cursor of the page before."""

    async def forget(self) -> None:
        """Delete entries that are too old or too many."""


class SqlAudit:
    """Keep about `most` entries for `ttl` seconds; `forget` deletes the rest."""

    def __init__(
        self,
        database: Database,
        ttl: float = 7_776_000.0,
        most: int = 100_000,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.ttl = ttl
        self._database = database
        self._most = most
        self._clock = clock

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry, unless there is one with its id.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        what = (entry.action, entry.by, entry.target, json.dumps(entry.details), entry.count)
        await self._database.write("add_audit_entry", entry.id, entry.tenant, entry.at.timestamp(), *what)

    async def list(self, wanted: AuditFilter, limit: int = 100, cursor: str | None = None) -> AuditPage:
        """List entries, latest first, up to `limit`, after the cursor of the page before."""
        where, values = _write_clauses(wanted, self._clock() - self.ttl, cursor)
        values.append(limit + 1)
        where = f"{where} ORDER BY number DESC LIMIT ${len(values)}"
        rows = await self._database.read("list_audit_entries", *values, where=where)
        shown = rows[:limit]
        return AuditPage([_to_entry(row) for row in shown], str(shown[-1][0]) if len(rows) > limit else None)

    async def forget(self) -> None:
        """Delete entries that are too old or too many.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        old = self._clock() - self.ttl
        await self._database.write("forget_refusals", max(1, self._most // 2))
        await self._database.write("forget_audit_entries", old, self._most)


def _write_clauses(wanted: AuditFilter, old: float, cursor: str | None) -> tuple[str, list[Any]]:
    given = [
        ("tenant = ", wanted.tenant),
        ("at > ", old),
        ("action = ", wanted.action),
        ("subject = ", wanted.by),
        ("at >= ", wanted.since),
        ("at < ", wanted.until),
        ("number < ", None if cursor is None else int(cursor)),
    ]
    present = [(clause, value) for clause, value in given if value is not None]
    clauses = [f"{clause}${number}" for number, (clause, _) in enumerate(present, 1)]
    return "WHERE " + " AND ".join(clauses), [value for _, value in present]


def _to_entry(row: Row) -> AuditEntry:
    _, entry_id, tenant, at, action, subject, target, details, count = row
    return AuditEntry(
        id=entry_id,
        tenant=tenant,
        at=to_datetime(at),
        action=action,
        by=subject,
        target=target,
        details=json.loads(details),
        count=count,
    )


class MemoryAudit:
    """Remember up to `most` entries for `ttl` seconds; they are lost when the process ends."""

    # No method awaits, so each is atomic on the event loop.

    def __init__(self, ttl: float = 7_776_000.0, most: int = 100_000, clock: Callable[[], float] = time.time) -> None:
        self.ttl = ttl
        self._most = most
        self._clock = clock
        self._entries: dict[str, tuple[int, AuditEntry]] = {}
        self._number = 0
        self._denials: dict[str, None] = {}

    async def add(self, entry: AuditEntry) -> None:
        """Store an entry, unless there is one with its id."""
        if entry.id in self._entries:
            return
        self._number += 1
        self._entries[entry.id] = (self._number, entry)
        if entry.action == "denied":
            self._denials[entry.id] = None
            if len(self._denials) > max(1, self._most // 2):
                self._drop(next(iter(self._denials)))
        if len(self._entries) > self._most:
            self._drop(next(iter(self._entries)))

    async def list(self, wanted: AuditFilter, limit: int = 100, cursor: str | None = None) -> AuditPage:
        """List entries, latest first, up to `limit`, after the cursor of the page before."""
        await self.forget()
        before = self._number + 1 if cursor is None else int(cursor)
        found = [
            (number, entry)
            for number, entry in reversed(self._entries.values())
            if number < before and _is_wanted(entry, wanted)
        ]
        shown = found[:limit]
        return AuditPage([entry for _, entry in shown], str(shown[-1][0]) if len(found) > limit else None)

    async def forget(self) -> None:
        """Delete entries that are too old."""
        old = self._clock() - self.ttl
        for entry_id, (_, entry) in list(self._entries.items()):
            if entry.at.timestamp() <= old:
                self._drop(entry_id)

    def _drop(self, entry_id: str) -> None:
        del self._entries[entry_id]
        self._denials.pop(entry_id, None)


def _is_wanted(entry: AuditEntry, wanted: AuditFilter) -> bool:
    at = entry.at.timestamp()
    return (
        entry.tenant == wanted.tenant
        and wanted.action in (None, entry.action)
        and wanted.by in (None, entry.by)
        and (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at < wanted.until)
    )
