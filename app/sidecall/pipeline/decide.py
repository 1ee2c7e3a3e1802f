"""Carry out what a person decided about a call."""

from dataclasses import replace

from sidecall.core.approval import Approval, Approvals, Decision
from sidecall.core.errors import CallRejected, CallUnanswered, InvalidDecision
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.pipeline.batch import run_isolated
from sidecall.pipeline.format import refuse
from sidecall.pipeline.gate import Ticket
from sidecall.pipeline.pipeline import Pipeline


async def decide(
    pipeline: Pipeline,
    approvals: Approvals,
    approval_id: str,
    decision: Decision,
    by: str,
    deadline: float | None = None,
) -> Approval:
    """Run an approved call from the top of the pipeline, or answer a rejected one with the person's reason.

    The call's own deadline was for the answer that it waits; this one is for its end.

    Raises:
        UnknownApproval: There is none.
        ApprovalConflict: It is decided already.
        Overloaded: There is no room to run the call now; it goes on waiting.
        InvalidDecision: The person's own arguments do not fit; the call goes on waiting.
        CallNotRecorded: The call came from this process, with objects that are not kept; it goes on waiting.
    """
    call = (await approvals.get(approval_id)).require_pending()
    if decision.decision == "reject":
        if decision.args is not None:
            raise InvalidDecision("`args` go with an approval only; say in `reason` what was wrong with the call.")
        await approvals.decide(approval_id, decision, by)
        return await _answer(approvals, approval_id, refuse(CallRejected(decision.reason), call.tool_call))
    request = await _edit(pipeline, replace(call.to_request(), approved=True, deadline=deadline), decision)
    await approvals.decide(approval_id, decision, by)
    try:
        entered = await pipeline.gate.enter(request)
    except BaseException:  # There is no room, or whoever decided does not wait for it: nothing has run.
        await approvals.reopen(approval_id)
        raise
    try:
        message = await _run(pipeline, request, entered)
    except BaseException:
        interrupted = CallUnanswered("execution_error", "Error: the call was interrupted; it may have had effects.")
        await _answer(approvals, approval_id, refuse(interrupted, request.call))
        raise
    return await _answer(approvals, approval_id, message)


async def _run(pipeline: Pipeline, request: CallRequest, entered: Ticket | ToolMessage) -> ToolMessage:
    if not isinstance(entered, Ticket):
        return entered
    return await run_isolated(lambda _: pipeline.answer(entered), request)


async def _answer(approvals: Approvals, approval_id: str, message: ToolMessage) -> Approval:
    return (await approvals.answer(approval_id, message)).approval


async def _edit(pipeline: Pipeline, request: CallRequest, decision: Decision) -> CallRequest:
    """Put the person's arguments in place of the model's, if there are any."""
    if decision.args is None:
        return request
    edited = replace(request, call=request.call.model_copy(update={"args": decision.args}))
    failure = await pipeline.check(edited)
    if failure is not None:
        raise InvalidDecision(failure.message, errors=list(failure.errors))
    return edited
