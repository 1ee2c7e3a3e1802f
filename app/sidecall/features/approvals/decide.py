"""Carry out a person's decision about a call."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from msgspec import Struct, structs
from uuid_utils import uuid7

from sidecall.features.approvals.asked_tool import find_tool, require_same
from sidecall.features.approvals.record import ApprovalRecord, Decision, describe_decision
from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import AuditAction
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import (
    ApprovalConflict,
    CallRejected,
    CallUnanswered,
    ErrorKind,
    InvalidDecision,
    RequestError,
)
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.native_results import wants_acknowledgement
from sidecall.kernel.core.overload import CallRefused, TooManyApprovals
from sidecall.kernel.core.scopes import DECIDE_OWN, MissingScope, require_scope
from sidecall.kernel.core.sender import Deadline
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.batch import answer_for
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.gate import Ticket
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired
from sidecall.kernel.ports.approvals.rules import ApprovalRule
from sidecall.kernel.schema.forms.definitions import hash_definition

_NOT_KEPT = "Error: the call was answered, but its answer was too large to be kept; it may have had effects."


class DecisionTerms(Struct, frozen=True):
    """How long a decision waits for the call's end, where decisions for later calls are kept, and who audits them."""

    deadline: Deadline | None = None
    rules: ApprovalRules | None = None
    auditor: Auditor | None = None

    def require(self, caller: Caller, scope: str) -> None:
        """Require a scope of a caller.

        Raises:
            MissingScope: The caller lacks it.
        """
        try:
            require_scope(caller, scope)
        except MissingScope as error:
            if self.auditor is not None:
                self.auditor.deny(error, caller)
            raise

    async def record(self, approval_id: str, decision: Decision, by: Caller, rule: ApprovalRule | None) -> None:
        """Write the decision to the audit."""
        if self.auditor is None:
            return
        details = {"reason": decision.reason, "edited": decision.args is not None}
        await self.auditor.record(_DECIDED[decision.decision], by, approval_id, details)
        if rule is not None:
            told = {"tool": rule.tool, "caller": rule.caller, "decision": rule.decision, "approval": approval_id}
            await self.auditor.record("rule_made", by, rule.id, told)


_DECIDED: Mapping[str, AuditAction] = {"approve": "approved", "reject": "rejected"}
_NONE = DecisionTerms()


class DecidedCall(NamedTuple):
    """A call after a decision, and the tool that was compared with the one asked about; None where it is gone."""

    approval: Approval
    tool: CompiledTool | None


async def decide(
    pipeline: Pipeline,
    approvals: Approvals,
    approval_id: str,
    decision: Decision,
    by: Caller,
    terms: DecisionTerms = _NONE,
) -> DecidedCall:
    """Run an approved call from the top of the pipeline, or answer a rejected one with the person's reason.

    A tool that asked in the middle of its work, or wanted to make the rejected call itself, runs again and learns of
    the rejection. The deadline of the terms applies, not the call's own, which was for the answer "awaiting approval".
    A decision for later calls is kept before anything runs.

    Raises:
        UnknownApproval: There is none in the tenant of the person who decides.
        MissingScope: The caller may not approve their own calls.
        ApprovalConflict: It is decided already, has expired, or asks something else by now.
        ToolChanged: The tool is not the one that was asked about, and the decision does not name its hash.
        Overloaded: There is no room to run the call now, or to keep what the person wrote; it goes on waiting.
        InvalidDecision: The person's own arguments do not fit; the call goes on waiting.
        TooManyRules: There is no room to keep the decision for later calls; the call goes on waiting.
        CallNotRecorded: The call came from this process, with objects that are not kept; it goes on waiting.
    """
    record = await approvals.get(approval_id, by.tenant, with_expired=True)
    if decision.decision == "approve" and is_own(record, by):
        terms.require(by, DECIDE_OWN)
    call = record.require_asked(decision.question)
    # If the tool asks something else before this is noted, that question is still undecided.
    decision = decision.model_copy(update={"question": record.approval.question})
    tool = find_tool(pipeline, record)
    require_same(tool, record, decision)
    _refuse_unfit(record, decision)
    keeping = _NewDecision(terms, _make_rule(pipeline, record, decision, by.subject), record, decision, by)
    if decision.decision == "reject" and not record.tells_tool:
        rejected = await approvals.decide(approval_id, decision, by.subject)
        async with reopening(approvals, approval_id):
            await keeping.keep()
        return DecidedCall(await answer_rejected(pipeline, approvals, rejected.approval, call), tool)
    request = await _edit(pipeline, _make_request(call, record, decision, terms), decision)
    decided = await approvals.decide(approval_id, decision, by.subject)
    request.review = structs.replace(request.review, decision=describe_decision(decided.approval))
    async with reopening(approvals, approval_id):
        entered = await _enter(pipeline, request, tool, keeping)
    return DecidedCall(await finish(pipeline, approvals, request, entered, call), tool)


def _make_request(call: CallRecord, record: ApprovalRecord, decision: Decision, terms: DecisionTerms) -> CallRequest:
    request = call.to_request()
    request.sender = structs.replace(request.sender, deadline=terms.deadline)
    request.review = structs.replace(
        request.review,
        approval_id=record.approval.id,
        approved=True,
        rejection=CallRejected(decision.reason).message if decision.decision == "reject" else None,
        state=record.state,
        reply=decision.reason,
    )
    return request


async def note_end(
    pipeline: Pipeline, call: CallRecord, approval: Approval, message: ToolMessage, kind: ErrorKind
) -> None:
    """Notify watchers of a call that ends with this answer without a run."""
    if not call.lost:
        ran = put_decided_args(call, approval)
        request = ran.to_request().copy_reviewed(approval_id=approval.id, decision=describe_decision(approval))
        await pipeline.note_end(request, message, kind)


async def answer_rejected(pipeline: Pipeline, approvals: Approvals, approval: Approval, call: CallRecord) -> Approval:
    """Answer a rejected call whose tool does not learn of the rejection, and notify watchers."""
    message = refuse(CallRejected(approval.reason), call.tool_call).model_copy(update={"id": call.id})
    await note_end(pipeline, call, approval, message, "rejected")
    return await keep_answer(approvals, approval.id, message, call)


def put_decided_args(call: CallRecord, approval: Approval) -> CallRecord:
    """Return a call with the person's arguments, if they have changed any."""
    return call if approval.asked_args is None else call.put_args(approval.tool_call.args)


class _NewDecision(Struct, frozen=True):
    """A decision that is to be stored, and the rule that it makes, if any."""

    terms: DecisionTerms
    rule: ApprovalRule | None
    record: ApprovalRecord
    decision: Decision
    by: Caller

    async def keep(self) -> None:
        if self.terms.rules is not None and self.rule is not None:
            await self.terms.rules.keep(self.rule)
        await self.terms.record(self.record.approval.id, self.decision, self.by, self.rule)


@asynccontextmanager
async def reopening(approvals: Approvals, approval_id: str) -> AsyncIterator[None]:
    """Revoke a decision when nothing has run: there is no room, or the deciding client does not wait."""
    try:
        yield
    except BaseException:
        await approvals.reopen(approval_id)
        raise


async def _enter(
    pipeline: Pipeline, request: CallRequest, tool: CompiledTool | None, keeping: _NewDecision
) -> Ticket | ToolMessage:
    """Admit the call to the tool that was decided about, and store a decision for later calls."""
    entered = await pipeline.gate.enter(request, tool)
    try:
        await keeping.keep()
    except BaseException:
        if isinstance(entered, Ticket):
            entered.leave()
        raise
    return entered


def _refuse_unclear(record: ApprovalRecord, decision: Decision) -> None:
    """Refuse an ambiguous decision.

    Raises:
        InvalidDecision: The message says why.
    """
    if decision.decision == "reject" and decision.args is not None:
        raise InvalidDecision("`args` go with an approval only; say in `reason` what was wrong with the call.")
    if decision.args is not None and record.is_inside:
        sent = record.require_pending().tool_call.name
        raise InvalidDecision(f"{record.asked.name} is called inside {sent}, with its own arguments.")
    if record.state is not None and (decision.always or decision.args is not None):
        raise InvalidDecision("The tool has asked in the middle of its work: decide about this alone, in `reason`.")
    if decision.expires_in is not None and not decision.always:
        raise InvalidDecision("`expires_in` goes with `always`: a decision about one call holds as long as its answer.")
    if decision.always and decision.args is not None:
        raise InvalidDecision("`always` is for calls as they come; leave out `args`, or decide about this call alone.")
    if decision.always and record.is_inside:
        raise InvalidDecision(f"{record.asked.name} is no tool of this server, so it is decided about each time.")


def _refuse_unfit(record: ApprovalRecord, decision: Decision) -> None:
    """Refuse a decision that is ambiguous, or about a call that waits for a sign-in.

    Raises:
        InvalidDecision: The message says why.
        ApprovalConflict: A person has to sign in instead.
    """
    _refuse_unclear(record, decision)
    sign_in = record.approval.sign_in
    if sign_in is not None and (decision.decision == "approve" or decision.always):
        raise ApprovalConflict(f"The call goes on once a person has signed in, at {sign_in.url}; you can reject it.")


def _make_rule(pipeline: Pipeline, record: ApprovalRecord, decision: Decision, by: str) -> ApprovalRule | None:
    """Make the rule of a decision; None if it is about one call.

    Raises:
        InvalidDecision: The tool no longer exists.
    """
    if not decision.always:
        return None
    tool = pipeline.find(record.asked.name)
    if tool is None:
        raise InvalidDecision(f"`always` cannot hold: there is no tool {record.asked.name} any more.")
    if tool.is_own:
        raise InvalidDecision(f"{tool.name} decides about others' tools, so it is decided about each time.")
    if wants_acknowledgement(record.require_pending().tool_call):
        raise InvalidDecision("The model's provider wants each of these calls to be looked at; leave out `always`.")
    now = datetime.now(UTC)
    return ApprovalRule(
        id=str(uuid7()),
        tool=tool.name,
        caller=record.approval.requested_by,
        tenant=record.tenant,
        definition=hash_definition(tool),
        decision=decision.decision,
        reason=decision.reason,
        decided_by=by,
        decided_at=now,
        expires_at=None if decision.expires_in is None else now + timedelta(seconds=decision.expires_in),
        approval_id=record.approval.id,
    )


def is_own(record: ApprovalRecord, caller: Caller) -> bool:
    """Return whether this caller has sent the call."""
    return (record.tenant, record.approval.requested_by) == (caller.tenant, caller.subject)


async def finish(
    pipeline: Pipeline, approvals: Approvals, request: CallRequest, entered: Ticket | ToolMessage, call: CallRecord
) -> Approval:
    """Run a call that has waited, and keep its answer unless the call waits again.

    Raises:
        CallRefused: The executor refused the call; it goes on waiting.
    """
    approval_id = request.review.approval_id
    assert approval_id is not None
    try:
        ended = await _run(pipeline, request, entered)
    except CallRefused:  # The tool has not begun, so another decision may follow.
        await approvals.reopen(approval_id)
        raise
    except BaseException:
        interrupted = CallUnanswered("execution_error", "Error: the call was interrupted; it may have had effects.")
        await keep_answer(approvals, approval_id, refuse(interrupted, request.call), call)
        raise
    return await keep_answer(approvals, approval_id, ended, call) if isinstance(ended, ToolMessage) else ended


async def _run(pipeline: Pipeline, request: CallRequest, entered: Ticket | ToolMessage) -> ToolMessage | Approval:
    if not isinstance(entered, Ticket):
        return entered
    try:
        return await pipeline.answer(entered)
    except CallRefused:
        raise
    except ApprovalRequired as error:
        return error.approval if error.approval.id == request.review.approval_id else answer_for(request, error)
    except RequestError as error:
        return answer_for(request, error)


async def keep_answer(approvals: Approvals, approval_id: str, message: ToolMessage, call: CallRecord) -> Approval:
    """Keep an answer; without room for it, it goes to the deciding client alone, and others get a notice instead."""
    try:
        return (await approvals.answer(approval_id, message)).approval
    except TooManyApprovals:
        kept = await approvals.answer(approval_id, refuse(CallUnanswered("output_error", _NOT_KEPT), call.tool_call))
        return kept.approval.model_copy(update={"message": message})


async def _edit(pipeline: Pipeline, request: CallRequest, decision: Decision) -> CallRequest:
    """Replace the model's arguments by the person's, if there are any."""
    if decision.args is None:
        return request
    edited = request.copy_with(call=request.call.model_copy(update={"args": decision.args}))
    failure = await pipeline.check(edited)
    if failure is not None:
        raise InvalidDecision(failure.message, errors=list(failure.errors))
    return edited
