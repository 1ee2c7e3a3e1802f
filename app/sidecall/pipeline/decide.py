"""Carry out what a person decided about a call."""

from dataclasses import replace

from sidecall.core.approval import Approval, Approvals, Decision
from sidecall.core.errors import CallRejected, CallUnanswered, InvalidDecision
from sidecall.core.invocation import CallRequest
from sidecall.core.overload import Overloaded
from sidecall.pipeline.format import refuse
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
    """
    request = approvals.request(approval_id)
    if decision.decision == "reject":
        if decision.args is not None:
            raise InvalidDecision("`args` go with an approval only; say in `reason` what was wrong with the call.")
        approvals.decide(approval_id, decision, by)
        return approvals.answer(approval_id, refuse(CallRejected(decision.reason), request.call))
    request = await _approved(pipeline, replace(request, approved=True, deadline=deadline), decision)
    approvals.decide(approval_id, decision, by)
    try:
        message = await pipeline.run_isolated(request, Overloaded)
    except Overloaded:
        approvals.reopen(approval_id)
        raise
    except BaseException:
        interrupted = CallUnanswered("execution_error", "Error: the call was interrupted; it may have had effects.")
        approvals.answer(approval_id, refuse(interrupted, request.call))
        raise
    return approvals.answer(approval_id, message)


async def _approved(pipeline: Pipeline, request: CallRequest, decision: Decision) -> CallRequest:
    if decision.args is None:
        return request
    edited = replace(request, call=request.call.model_copy(update={"args": decision.args}))
    failure = await pipeline.check(edited)
    if failure is not None:
        raise InvalidDecision(failure.message, errors=list(failure.errors))
    return edited
