"""The answers of calls whose process ended before they had one."""

from collections.abc import Callable

from sidecall.core.approval import ApprovalRecord
from sidecall.core.calls.errors import OutcomeUnknown
from sidecall.core.errors import CallRejected, ToolFailure
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.native.items import settle_item

MakeAnswer = Callable[[ToolFailure, ToolCall], ToolMessage]


def answer_lost(record: ApprovalRecord, make_answer: MakeAnswer) -> ToolMessage:
    """Make the answer of such a call."""
    approval = record.approval
    is_refused = approval.status == "rejected" and not record.tells_tool
    failure = CallRejected(approval.reason) if is_refused else OutcomeUnknown()
    # What people are shown of a call has no item, which its answer repeats.
    sent = approval.tool_call if record.call is None else record.call.tool_call
    message = make_answer(failure, sent).model_copy(update={} if record.call is None else {"id": record.call.id})
    if sent.item is not None:
        settle_item(message, sent, approved=approval.status == "approved")
    return message
