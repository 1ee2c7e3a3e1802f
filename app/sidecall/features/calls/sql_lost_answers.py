"""Answers for calls whose process stopped before they had one."""

from collections.abc import Callable

from sidecall.features.calls.errors import OutcomeUnknown
from sidecall.kernel.core.errors import CallRejected, ToolFailure
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.native_items import settle_item
from sidecall.kernel.ports.approvals.approval import ApprovalRecord

MakeAnswer = Callable[[ToolFailure, ToolCall], ToolMessage]


def answer_lost(record: ApprovalRecord, make_answer: MakeAnswer) -> ToolMessage:
    """Make the answer of such a call."""
    approval = record.approval
    is_refused = approval.status == "rejected" and not record.tells_tool
    failure = CallRejected(approval.reason) if is_refused else OutcomeUnknown()
    # The shown call lacks its item, which an answer repeats.
    sent = approval.tool_call if record.call is None else record.call.tool_call
    message = make_answer(failure, sent).model_copy(update={} if record.call is None else {"id": record.call.id})
    if sent.item is not None:
        settle_item(message, sent, approved=approval.status == "approved")
    return message
