"""Record decisions and refusals."""

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from uuid_utils import uuid7

from sidecall.features.audit.stores import AuditAction, AuditEntry, AuditTrail
from sidecall.http.authentication import Unauthenticated
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.scopes import MissingScope, require_scope
from sidecall.kernel.ports.store import DEFAULT_TENANT

if TYPE_CHECKING:
    from sidecall.features.access import api_keys as _keys

logger = logging.getLogger("sidecall.audit")

# Seconds in which refusals of one kind become one entry.
_WINDOW = 60.0
# Kinds of refusals that are counted in one window; with callers named by a gateway there could be any number.
_MOST_KINDS = 500
_OTHERS = "(others)"


class _Kind(Struct, frozen=True):
    tenant: str
    by: str | None
    target: str | None
    reason: str


class _Refusals(Struct):
    since: datetime
    count: int = 1


class Auditor(Struct):
    """Write audit entries to the log and the ledger.

    Decisions are written at once. Refusals are counted, one entry per kind and minute, so that refused requests cannot
    fill the ledger or the log.
    """

    trail: AuditTrail
    _refusals: dict[_Kind, _Refusals] = field(default_factory=dict)
    _noted: list[AuditEntry] = field(default_factory=list)
    _known: set[str] = field(default_factory=set)
    _rounds: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Start to write the counted refusals periodically."""
        self._rounds = asyncio.create_task(self._go_round())

    async def close(self) -> None:
        """Write the rest."""
        if self._rounds is not None:
            self._rounds.cancel()
            self._rounds = None
            await self.flush()

    async def record(self, action: AuditAction, by: Caller | None, target: str | None, details: dict[str, Any]) -> None:
        """Write a decision; one of no caller is in the default tenant.

        If the ledger fails, it is in the log only, since the decision has already taken effect.
        """
        await self._write(
            AuditEntry(
                id=str(uuid7()),
                at=datetime.now(UTC),
                action=action,
                by=None if by is None else by.subject,
                tenant=DEFAULT_TENANT if by is None else by.tenant,
                target=target,
                details=details,
            )
        )

    def require(self, caller: Caller, *scopes: str) -> None:
        """Require scopes of a caller.

        Raises:
            MissingScope: The caller lacks one.
        """
        try:
            require_scope(caller, *scopes)
        except MissingScope as error:
            self.deny(error, caller)
            raise

    def deny(self, error: RequestError, caller: Caller | None = None) -> None:
        """Count a request that was refused with this error, if it is one of authentication or scopes."""
        if isinstance(error, MissingScope):
            self._count(caller, None, f"lacks the scope {' '.join(error.scopes)}")
        elif isinstance(error, Unauthenticated):
            self._count(None, None, "wrong credential" if error.is_tried else "no credential")

    def deny_tool(self, caller: Caller, tool: str) -> None:
        """Count a call of a tool that is hidden from its caller for lack of a scope."""
        self._count(caller, tool, "lacks a scope of the tool")

    def _count(self, caller: Caller | None, target: str | None, reason: str) -> None:
        tenant, by = (DEFAULT_TENANT, None) if caller is None else (caller.tenant, caller.subject)
        kind = _Kind(tenant, by, target, reason)
        if kind not in self._refusals and len(self._refusals) >= _MOST_KINDS:
            kind = _Kind(DEFAULT_TENANT, _OTHERS, None, "refused")
        known = self._refusals.get(kind)
        if known is None:
            self._refusals[kind] = _Refusals(datetime.now(UTC))
        else:
            known.count += 1

    def note_keys(self, keys: "Iterable[_keys.ApiKey]") -> None:
        """Record keys that were made and revoked; the program that did it may have no ledger."""
        for key in keys:
            self._note_key("key_made", key, key.created_at)
            if key.revoked_at is not None:
                self._note_key("key_revoked", key, key.revoked_at)

    def _note_key(self, action: AuditAction, key: "_keys.ApiKey", at: datetime) -> None:
        entry_id = f"{action}:{key.tenant}:{key.id}"
        if entry_id in self._known or at.timestamp() <= time.time() - self.trail.ttl:
            return
        self._known.add(entry_id)
        details = {"subject": key.subject, "scopes": list(key.scopes)}
        self._noted.append(
            AuditEntry(id=entry_id, at=at, action=action, tenant=key.tenant, target=key.id, details=details)
        )

    async def flush(self) -> None:
        """Write counted refusals and notes now."""
        noted, self._noted = self._noted, []
        refusals, self._refusals = self._refusals, {}
        noted += [_to_entry(kind, refused) for kind, refused in refusals.items()]
        for entry in noted:
            await self._write(entry)

    async def _write(self, entry: AuditEntry) -> None:
        keys = {"event": "audit", "action": entry.action, "by": entry.by, "target": entry.target, "count": entry.count}
        logger.info("audit: %s", entry.action, extra={**keys, "tenant": entry.tenant, "details": entry.details})
        with suppress(StoreUnavailable):
            await self.trail.add(entry)

    async def _go_round(self) -> None:
        while True:
            await self.flush()
            await asyncio.sleep(_WINDOW)


def _to_entry(kind: _Kind, refused: _Refusals) -> AuditEntry:
    return AuditEntry(
        id=str(uuid7()),
        at=refused.since,
        action="denied",
        by=kind.by,
        tenant=kind.tenant,
        target=kind.target,
        details={"reason": kind.reason},
        count=refused.count,
    )
