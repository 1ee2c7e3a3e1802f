"""What a person has said of a call, as its approval has it."""

from dataclasses import replace

from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRecord
from sidecall.kernel.ports.approvals.rules import Decided


def describe_decision(approval: Approval) -> Decided | None:
    """Return what a person has said of the call; None where nobody has said anything yet."""
    if not approval.decided_by:
        return None
    return _add_args(Decided(approval.decided_by, approval.decided_at, approval.reason), approval)


def describe_beginning(record: ApprovalRecord) -> Decided | None:
    """Return what a person has said of a call that has begun by that and waits again; None for any other."""
    return None if record.begun is None else _add_args(record.begun, record.approval)


def _add_args(decided: Decided, approval: Approval) -> Decided:
    if approval.asked_args is None:
        return decided
    return replace(decided, asked_args=approval.asked_args, args=approval.tool_call.args)
