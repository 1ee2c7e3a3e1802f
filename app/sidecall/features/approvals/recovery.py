"""Recover orphaned calls, each in its own task."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sidecall.features.approvals.expired import note_expired
from sidecall.features.approvals.orphans import recover_orphan
from sidecall.features.audit.auditor import Auditor
from sidecall.kernel.concurrency.coroutines import BegunWork
from sidecall.kernel.core.errors import RequestError, SidecallError
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import ApprovalRecord
from sidecall.kernel.ports.approvals.orphan import OrphanedDecision
from sidecall.kernel.ports.approvals.stores import Approvals, Notice

logger = logging.getLogger("sidecall")

# Returns whether a call is stored, so that its end is known.
IsRemembered = Callable[[CallRecord], Awaitable[bool]]


class OrphanRecovery:
    """Carry out, or announce, decisions and expiries that the store reports as orphaned."""

    def __init__(
        self,
        pipeline: Pipeline,
        approvals: Approvals,
        notice: Notice,
        is_remembered: IsRemembered,
        auditor: Auditor | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._approvals = approvals
        self._notice = notice
        self._is_remembered = is_remembered
        self._auditor = auditor
        self._begun = BegunWork()

    def open(self) -> None:
        """Start to recover orphans."""
        self._approvals.on_orphan(lambda orphan: self._begun.begin(self._take_up(orphan)))

    async def close(self, patience: float) -> None:
        """Wait so many seconds for running recoveries, then cancel them; the next server takes the rest."""
        self._approvals.on_orphan(None)
        await self._begun.close(patience)

    async def _take_up(self, orphan: OrphanedDecision) -> None:
        if orphan.has_expired:
            await self._note_expired(orphan.record)
            return
        approval_id = orphan.record.approval.id
        if orphan.answer is None:
            logger.warning("the decision about approval %s was stored, but its sender was not told", approval_id)
        try:
            approval = await recover_orphan(self._pipeline, self._approvals, orphan, self._auditor)
        except SidecallError as error:
            logger.warning("the call of approval %s does not go on: %s", approval_id, error)
            return
        with suppress(RequestError):
            await self._notice(approval)

    async def _note_expired(self, record: ApprovalRecord) -> None:
        with suppress(RequestError):
            if record.call is not None and not await self._is_remembered(record.call):
                note_expired(self._pipeline, record)
