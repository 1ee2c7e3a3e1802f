"""Decisions that nobody carries out."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.approvals.approval import ApprovalRecord


@dataclass(frozen=True, slots=True)
class OrphanedDecision:
    """A decision that was written down though whoever decided heard that it was not, or whose answer was not kept.

    `was_begun` says that its call may have run. `answer` is what was written down as its end already, where the server
    that carried it out has ended. `has_expired` says that its call had begun and asked again, and that nobody has
    decided about that in time.
    """

    record: ApprovalRecord
    was_begun: bool
    answer: ToolMessage | None = None
    has_expired: bool = False


OnOrphan = Callable[[OrphanedDecision], None]
