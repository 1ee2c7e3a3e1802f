"""How a call ends that is remembered."""

from sidecall.core.calls.entry import CallEnd, CallStatus
from sidecall.core.calls.errors import CallCancelled, CallExpired, OutcomeUnknown
from sidecall.core.errors import ToolFailure
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.format import refuse

# Kinds of failure that are a status of their own.
_STATUS: dict[str, CallStatus] = {"cancelled": "cancelled", "outcome_unknown": "outcome_unknown", "expired": "expired"}


def end_with(message: ToolMessage) -> CallEnd:
    """Return the end that this answer is."""
    if message.status == "success":
        return CallEnd("succeeded", None, message)
    kind = message.response_metadata.get("error", {}).get("kind")
    return CallEnd(_STATUS.get(str(kind), "failed"), kind, message)


def end_unknown(call: ToolCall, call_id: str) -> CallEnd:
    """Make the end of a call that was cut off and must not run twice."""
    return _end(OutcomeUnknown(), call, call_id)


def end_cancelled(call: ToolCall, call_id: str) -> CallEnd:
    """Make the end of a call that somebody has cancelled."""
    return _end(CallCancelled(), call, call_id)


def end_expired(call: ToolCall, call_id: str) -> CallEnd:
    """Make the end of a call that nobody has decided about in time."""
    return _end(CallExpired(), call, call_id)


def _end(failure: ToolFailure, call: ToolCall, call_id: str) -> CallEnd:
    return end_with(refuse(failure, call).model_copy(update={"id": call_id}))


def may_repeat(tool: CompiledTool | None) -> bool:
    """Return whether a tool's calls may run again although they may have run already."""
    return tool is not None and bool(tool.options.annotations.idempotent or tool.options.annotations.read_only)
