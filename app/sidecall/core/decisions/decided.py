"""What a person has said of a call, as its approval has it."""

from sidecall.core.approval import Approval
from sidecall.core.decisions.rules import Decided


def describe_decision(approval: Approval) -> Decided | None:
    """Return what a person has said of the call; None where nobody has said anything yet."""
    if approval.decided_by is None:
        return None
    args = None if approval.asked_args is None else approval.tool_call.args
    return Decided(approval.decided_by, approval.decided_at, approval.reason, approval.asked_args, args)
