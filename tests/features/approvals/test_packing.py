"""A decision writes what it changes of a packed record, and the record is then what it would be if all were written."""

from typing import Any

import pytest

from sidecall.features.approvals.packing import PackedApproval
from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.ports.approvals.approval import Preview

APPROVE = Decision(decision="approve")


def ask(sent: Any, shown: dict[str, Any], state: Any = None) -> ApprovalRecord:
    """Make the record of a call that waits."""
    call = CallRecord.of(CallRequest(ToolCall(name="pay", args=sent, id="1")), "invocation 1")
    return ApprovalRecord.of(call, ToolCall(name="pay", args=shown, id="1"), 10.0, Preview(state=state))


@pytest.mark.parametrize("is_read", [True, False])
@pytest.mark.parametrize("state", [None, {"step": 1}])
@pytest.mark.parametrize("sent", [{"cents": 1}, {"cents": 2}, '{"cents": 1}'])
@pytest.mark.parametrize(
    "decision",
    [
        APPROVE,
        Decision(decision="reject", reason="Too much."),
        Decision(decision="approve", args={"cents": 3}),
        Decision(decision="approve", args={"cents": 1}),
    ],
)
def test_a_decision_and_an_answer_are_packed_as_if_all_were_new(
    decision: Decision, sent: Any, state: Any, is_read: bool
) -> None:
    """With its size, from a record that was made or read."""
    record = ask(sent, {"cents": 1}, state)
    packed = PackedApproval.of(record)
    record = packed.unpack() if is_read else record

    for changed in (record.decide(decision, "eve"), record.decide(decision, "eve").reopen()):
        found = packed.pack_change(record, changed)
        assert found == PackedApproval.of(changed)
        assert found.size == PackedApproval.of(changed).size
        assert found.unpack() == changed
    decided = record.decide(decision, "eve")
    answered = decided.answer(ToolMessage(content="paid", tool_call_id="1"))

    assert packed.pack_change(record, decided).pack_change(decided, answered) == PackedApproval.of(answered)


def test_what_a_decision_leaves_alone_is_not_written_again() -> None:
    """A call may be large."""
    record = ask({"cents": 1}, {"cents": 1})
    packed = PackedApproval.of(record)

    decided = packed.pack_change(record, record.decide(APPROVE, "eve"))

    assert decided.rest is packed.rest
    assert decided.sent is packed.sent
    assert decided.head != packed.head
