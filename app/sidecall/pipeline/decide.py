"""Carry out what a person decided about a call."""

from dataclasses import replace

from sidecall.auth.scopes import DECIDE_OWN, require_scope
from sidecall.core.approval import Approval, ApprovalRecord, Approvals, Decision
from sidecall.core.context import Caller
from sidecall.core.deadline import Deadline
from sidecall.core.errors import CallRejected, CallUnanswered, InvalidDecision, UnknownApproval
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.overload import TooManyApprovals
from sidecall.core.record import CallRecord
from sidecall.pipeline.batch import run_isolated
from sidecall.pipeline.format import refuse
from sidecall.pipeline.gate import Ticket
from sidecall.pipeline.pipeline import Pipeline

_NOT_KEPT = "Error: the call was answered, but its answer was too large to be kept; it may have had effects."


async def decide(
    pipeline: Pipeline,
    approvals: Approvals,
    approval_id: str,
    decision: Decision,
    by: Caller,
    deadline: Deadline | None = None,
) -> Approval:
    """Run an approved call from the top of the pipeline, or answer a rejected one with the person's reason.

    Where what was rejected is a call that the tool wanted to make itself, the tool runs and is told of it. The call's
    own deadline was for the answer that it waits; this one is for its end.

    Raises:
        UnknownApproval: There is none in the tenant of whoever decides.
        MissingScope: Whoever approves has sent the call, and may not approve their own.
        ApprovalConflict: It is decided already.
        Overloaded: There is no room to run the call now, or to keep what the person wrote; it goes on waiting.
        InvalidDecision: The person's own arguments do not fit; the call goes on waiting.
        CallNotRecorded: The call came from this process, with objects that are not kept; it goes on waiting.
    """
    record = await approvals.get(approval_id)
    if record.tenant != by.tenant:
        raise UnknownApproval
    if decision.decision == "approve" and is_own(record, by):
        require_scope(by, DECIDE_OWN)
    call = record.require_pending()
    if decision.decision == "reject" and decision.args is not None:
        raise InvalidDecision("`args` go with an approval only; say in `reason` what was wrong with the call.")
    if decision.decision == "reject" and not record.is_inside:
        await approvals.decide(approval_id, decision, by.subject)
        return await _answer(approvals, approval_id, refuse(CallRejected(decision.reason), call.tool_call), call)
    if decision.args is not None and record.is_inside:
        raise InvalidDecision(f"{record.asked.name} is called inside {call.tool_call.name}, with its own arguments.")
    rejection = CallRejected(decision.reason).message if decision.decision == "reject" else None
    sent = replace(call.to_request(), approved=True, rejection=rejection, deadline=deadline)
    request = await _edit(pipeline, sent, decision)
    await approvals.decide(approval_id, decision, by.subject)
    try:
        entered = await pipeline.gate.enter(request)
    except BaseException:  # There is no room, or whoever decided does not wait for it: nothing has run.
        await approvals.reopen(approval_id)
        raise
    try:
        message = await _run(pipeline, request, entered)
    except BaseException:
        interrupted = CallUnanswered("execution_error", "Error: the call was interrupted; it may have had effects.")
        await _answer(approvals, approval_id, refuse(interrupted, request.call), call)
        raise
    return await _answer(approvals, approval_id, message, call)


def is_own(record: ApprovalRecord, caller: Caller) -> bool:
    """Return whether this caller has sent the call."""
    return (record.tenant, record.approval.requested_by) == (caller.tenant, caller.subject)


async def _run(pipeline: Pipeline, request: CallRequest, entered: Ticket | ToolMessage) -> ToolMessage:
    if not isinstance(entered, Ticket):
        return entered
    return await run_isolated(lambda _: pipeline.answer(entered), request)


async def _answer(approvals: Approvals, approval_id: str, message: ToolMessage, call: CallRecord) -> Approval:
    """Keep an answer; where there is no room for it, whoever decided gets it all the same, and others are told."""
    try:
        return (await approvals.answer(approval_id, message)).approval
    except TooManyApprovals:
        kept = await approvals.answer(approval_id, refuse(CallUnanswered("output_error", _NOT_KEPT), call.tool_call))
        return kept.approval.model_copy(update={"message": message})


async def _edit(pipeline: Pipeline, request: CallRequest, decision: Decision) -> CallRequest:
    """Put the person's arguments in place of the model's, if there are any."""
    if decision.args is None:
        return request
    edited = replace(request, call=request.call.model_copy(update={"args": decision.args}))
    failure = await pipeline.check(edited)
    if failure is not None:
        raise InvalidDecision(failure.message, errors=list(failure.errors))
    return edited
