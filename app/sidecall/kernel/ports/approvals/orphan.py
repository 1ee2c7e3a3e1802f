"""Decisions that no server carries out."""

from collections.abc import Callable
from dataclasses import dataclass

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.approvals.approval import ApprovalRecord


@dataclass(frozen=True, slots=True)
class OrphanedDecision:
    """A decision that was stored although the person was told that it failed, or whose answer was not stored.

    `was_begun` says that its call may have run. `answer` is the stored end, if the server that ran it has ended.
    `has_expired` says that its call had begun, asked again, and was not decided in time.
    """

    record: ApprovalRecord
    was_begun: bool
    answer: ToolMessage | None = None
    has_expired: bool = False


OnOrphan = Callable[[OrphanedDecision], None]
