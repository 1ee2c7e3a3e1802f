"""What is decided about a call that needs a person's approval."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from msgspec import Struct

from sidecall.kernel.ports.approvals.rules import ApprovalRule


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's decision on a call.

    `asked_args` are the model's and `args` what ran, if the person changed them. `approval_id` is the approval by which
    an earlier, equal call was decided.
    """

    by: str
    at: datetime | None = None
    reason: str | None = None
    asked_args: dict[str, Any] | str | None = None
    args: dict[str, Any] | str | None = None
    approval_id: str | None = None

    @classmethod
    def by_rule(cls, rule: ApprovalRule) -> Self:
        """Make the decision of a rule."""
        return cls(rule.decided_by, rule.decided_at, rule.reason)


class Review(Struct, frozen=True):
    """The review of one call by a person, or by a rule of theirs; most calls need none.

    `approval_id` is the approval for which the call has waited, and `known_as` identifies the call while it waits if
    its sender gave no id, or makes what does. `approved` says that the tool may run, where it requires that.
    `decision` is the person's, also for all such calls; `rule` is the rule that decided, if one did. `rejection` is the
    reason for rejecting what the tool wanted to do itself. `state` is what a tool saved when it asked a person, and
    `reply` their answer.
    """

    approval_id: str | None = None
    known_as: Callable[[], str] | str | None = None
    approved: bool = False
    decision: Decided | None = None
    rule: ApprovalRule | None = None
    rejection: str | None = None
    state: Any = None
    reply: str | None = None


NOT_REVIEWED = Review()
