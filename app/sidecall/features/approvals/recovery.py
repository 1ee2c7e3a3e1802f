"""Recover orphaned calls, each in its own task."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from sidecall.features.approvals.asked_tool import is_changed
from sidecall.features.approvals.decide import (
    DecisionTerms,
    answer_rejected,
    finish,
    keep_answer,
    note_end,
    put_decided_args,
    reopening,
)
from sidecall.features.approvals.record import REFUSED, ApprovalRecord, Decision, describe_beginning, describe_decision
from sidecall.features.approvals.stores import Approvals, OnApproval, OrphanedDecision
from sidecall.features.audit.auditor import Auditor
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.errors import EXPIRED_MIDWAY, CallExpired, OutcomeUnknown
from sidecall.kernel.concurrency.coroutines import BegunWork
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import CallRejected, ErrorKind, RequestError, SidecallError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval

logger = logging.getLogger("sidecall")

# Returns whether a call is stored, so that its end is known.
IsRemembered = Callable[[CallRecord], Awaitable[bool]]


class OrphanRecovery:
    """Carry out, or announce, decisions and expiries that the store reports as orphaned."""

    def __init__(
        self,
        pipeline: Pipeline,
        approvals: Approvals,
        on_approval: OnApproval,
        is_remembered: IsRemembered,
        auditor: Auditor | None = None,
    ) -> None:
        self._pipeline = pipeline
        self._approvals = approvals
        self._on_approval = on_approval
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
            await self._on_approval(approval)

    async def _note_expired(self, record: ApprovalRecord) -> None:
        with suppress(RequestError):
            if record.call is not None and not await self._is_remembered(record.call):
                await note_expired(self._pipeline, record)


async def recover_orphan(
    pipeline: Pipeline, approvals: Approvals, orphan: OrphanedDecision, auditor: Auditor | None
) -> Approval:
    """Run an approved call, or answer a rejected one; a call that may have run ends as unknown.

    A rule for later calls has to be decided again, since its duration is not stored. For a call with an answer, only
    watchers are notified.

    Raises:
        Overloaded: There is no room to run the call now; it goes on waiting for a person.
    """
    record, approval_id = orphan.record, orphan.record.approval.id
    call = record.call
    assert call is not None
    if orphan.answer is not None:
        kind: ErrorKind = "rejected" if _has_only_to_be_refused(record) else "outcome_unknown"
        await note_end(pipeline, call, record.approval, orphan.answer, kind)
        return record.answer(orphan.answer).approval
    if orphan.was_begun:
        return await keep_answer(approvals, approval_id, refuse(OutcomeUnknown(), call.tool_call), call)
    if record.approval.always or is_changed(pipeline, record):
        return (await approvals.reopen(approval_id)).approval
    if _has_only_to_be_refused(record):
        await _audit(record, auditor)
        return await answer_rejected(pipeline, approvals, record.approval, call)
    request = _make_request(record, call)
    async with reopening(approvals, approval_id):
        entered = await pipeline.gate.enter(request)
    await _audit(record, auditor)
    return await finish(pipeline, approvals, request, entered, call)


def _has_only_to_be_refused(record: ApprovalRecord) -> bool:
    """Return whether a call was rejected and its tool does not learn of it."""
    return record.approval.status in REFUSED and not record.tells_tool


def _make_request(record: ApprovalRecord, call: CallRecord) -> CallRequest:
    approval = record.approval
    if approval.sign_in is not None:
        return call.to_request().copy_reviewed(approval_id=approval.id)
    return (
        put_decided_args(call, approval)
        .to_request()
        .copy_reviewed(
            approval_id=approval.id,
            approved=True,
            decision=describe_decision(approval),
            rejection=CallRejected(approval.reason).message if approval.status in REFUSED else None,
            state=record.state,
            reply=approval.reason,
        )
    )


async def _audit(record: ApprovalRecord, auditor: Auditor | None) -> None:
    approval = record.approval
    if approval.sign_in is not None or not approval.decided_by:
        return
    args = approval.tool_call.args if approval.asked_args is not None else None
    decision = Decision(
        decision="approve" if approval.status == "approved" else "reject",
        reason=approval.reason,
        args=args if isinstance(args, dict) else None,
    )
    by = Caller(approval.decided_by, tenant=record.tenant)
    await DecisionTerms(auditor=auditor).record(approval.id, decision, by, None)


async def note_expired(pipeline: Pipeline, record: ApprovalRecord) -> None:
    """Write the end of an expired call, with what has run and who decided."""
    call = record.call
    if call is None or call.lost:
        return
    message = refuse(CallExpired(EXPIRED_MIDWAY), call.tool_call).model_copy(update={"id": call.id})
    request = call.to_request().copy_reviewed(approval_id=record.approval.id, decision=describe_beginning(record))
    await pipeline.note_end(request, message, "expired")
