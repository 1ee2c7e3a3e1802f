"""Describe a person's decision on a call."""

from dataclasses import replace

from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRecord
from sidecall.kernel.ports.approvals.rules import Decided


def describe_decision(approval: Approval) -> Decided | None:
    """Return a person's decision on the call; None while it is pending."""
    if not approval.decided_by:
        return None
    return _add_args(Decided(approval.decided_by, approval.decided_at, approval.reason), approval)


def describe_beginning(record: ApprovalRecord) -> Decided | None:
    """Return the decision by which a call has begun that waits again; None for any other."""
    return None if record.begun is None else _add_args(record.begun, record.approval)


def _add_args(decided: Decided, approval: Approval) -> Decided:
    if approval.asked_args is None:
        return decided
    return replace(decided, asked_args=approval.asked_args, args=approval.tool_call.args)
