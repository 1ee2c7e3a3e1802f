"""Trim the large texts of ended approvals where others need the room."""

from typing import Any

from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.native_items import settle_item
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.approvals.approval import ApprovalRecord

# Seconds for which lists show expired calls, at least.
EXPIRED_SHOWN = 3600.0
# Characters of arguments, of an answer, and of other texts that stay.
_SHORT = 1024
_LET_GO = "Error: the call was answered, but its answer is not kept any more; it may have had effects."


def shorten(record: ApprovalRecord) -> ApprovalRecord:
    """Return the record of an answered call without large arguments and answer; the decision stays."""
    approval, asked = record.approval, record.asked
    members: dict[str, Any] = {
        name: None
        for name in ("asked_args", "preview", "payload", "description", "preview_error")
        if _is_large(getattr(approval, name))
    }
    if _is_large(approval.tool_call.args):
        members["tool_call"] = approval.tool_call.model_copy(update={"args": {}})
    message = approval.message
    if message is not None and _is_large(message.model_dump(mode="json")):
        members["message"] = _make_placeholder(message, asked)
    if _is_large(asked.args):
        asked = asked.model_copy(update={"args": {}})
    shortened = approval.model_copy(update=members)
    return record.model_copy(update={"approval": shortened, "asked": asked, "call": None, "state": None})


def expire(record: ApprovalRecord) -> ApprovalRecord:
    """Return an expired, undecided call as lists show it."""
    approval = record.approval.model_copy(update={"status": "expired"})
    return shorten(record.model_copy(update={"approval": approval}))


def _is_large(value: Any) -> bool:
    return value is not None and len(to_text(value)) > _SHORT


def _make_placeholder(message: ToolMessage, asked: ToolCall) -> ToolMessage:
    """Make a placeholder for an answer, which does not say whether it was a success."""
    error = {
        "kind": "output_error",
        "message": _LET_GO.removeprefix("Error: "),
        "retryable": False,
        "errors": [],
        "nearest": [],
    }
    standing = ToolMessage(
        content=_LET_GO,
        tool_call_id=message.tool_call_id,
        name=message.name,
        status="error",
        id=message.id,
        response_metadata={"error": error},
    )
    if asked.item is not None:
        settle_item(standing, asked)
    return standing
