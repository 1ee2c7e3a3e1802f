"""How durable calls end."""

from sidecall.features.approvals.steps import takes_user_tokens, wants_approval
from sidecall.features.approvals.stores import Approvals
from sidecall.features.jobs.errors import EXPIRED_MIDWAY, CallCancelled, CallExpired, OutcomeUnknown
from sidecall.features.jobs.records import CallCompletion
from sidecall.kernel.core.errors import ToolFailure, UnknownApproval
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.batch import Find
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.approvals.questions import asks_inside
from sidecall.kernel.ports.call_entry import CallEntry, CallStatus

# Kinds of failure that have a status of their own.
_STATUS: dict[str, CallStatus] = {"cancelled": "cancelled", "outcome_unknown": "outcome_unknown", "expired": "expired"}


def end_with(message: ToolMessage) -> CallCompletion:
    """Return the end that this answer is."""
    if message.status == "success":
        return CallCompletion("succeeded", None, message)
    kind = message.response_metadata.get("error", {}).get("kind")
    return CallCompletion(_STATUS.get(str(kind), "failed"), kind, message)


def end_unknown(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the end of a call that was cut off and must not run twice."""
    return _end(OutcomeUnknown(), call, call_id)


def end_unanswered(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the completion of a call that may not run twice: its tool has started, and its answer could not be made."""
    return _end(OutcomeUnknown(_NO_ANSWER), call, call_id)


_NO_ANSWER = "Error: the answer of the call could not be made, so its outcome is unknown; it may have had effects."


def end_cancelled(call: ToolCall, call_id: str) -> CallCompletion:
    """Make the completion of a cancelled call."""
    return _end(CallCancelled(), call, call_id)


async def end_unwanted(entry: CallEntry, call: ToolCall, approvals: Approvals, find: Find) -> CallCompletion:
    """Make the completion of a cancelled call that was queued or waited for a person; most of these never ran."""
    if entry.status == "queued":
        never_ran = entry.attempt == 0
    else:
        never_ran = await _waits_from_the_beginning(entry, approvals, find(entry.name))
    end = _end(CallCancelled(_NEVER_RAN) if never_ran else CallCancelled(), call, entry.id)
    end.never_ran = never_ran
    return end


_NEVER_RAN = "Error: the call was cancelled before it ran; it has had no effects."


async def _waits_from_the_beginning(entry: CallEntry, approvals: Approvals, tool: CompiledTool | None) -> bool:
    """Return whether the approval comes before the tool runs; a tool that asks itself has run already."""
    if entry.approval_id is None or tool is None:
        return False
    try:
        record = await approvals.get(entry.approval_id)
    except UnknownApproval:
        return False
    if record.tells_tool or record.approval.description is not None:
        return False
    return tool.options.requires_approval is not False or record.approval.sign_in is not None


def end_expired(call: ToolCall, call_id: str, tool: CompiledTool | None, *, has_begun: bool) -> CallCompletion:
    """Make the completion of a call whose approval expired; the approval no longer says what was asked.

    `has_begun` is true when it certainly ran, since a person had decided about it before.
    """
    if has_begun:
        return _end(CallExpired(EXPIRED_MIDWAY), call, call_id)
    if tool is None or takes_user_tokens(tool):
        return _end(CallExpired(), call, call_id)
    if not wants_approval(tool):
        return _end(CallExpired(EXPIRED_MIDWAY), call, call_id)
    if asks_inside(tool.function):  # It may have run after an earlier approval.
        return _end(CallExpired(), call, call_id)
    end = _end(CallExpired(_UNDECIDED), call, call_id)
    end.never_ran = True
    return end


_UNDECIDED = "Error: nobody decided about this call in time; it did not run."


def _end(failure: ToolFailure, call: ToolCall, call_id: str) -> CallCompletion:
    return end_with(refuse(failure, call).model_copy(update={"id": call_id}))


def may_repeat(tool: CompiledTool | None) -> bool:
    """Return whether a tool's calls may run twice."""
    return tool is not None and bool(tool.options.annotations.idempotent or tool.options.annotations.read_only)
