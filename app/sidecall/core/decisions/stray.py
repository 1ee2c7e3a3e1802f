"""Decisions that nobody carries out."""

from collections.abc import Callable

from sidecall.core.approval import ApprovalRecord
from sidecall.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StrayDecision:
    """A decision that was written down though whoever decided heard that it was not, or whose answer was not kept.

    `was_begun` says that its call may have run.
    """

    record: ApprovalRecord
    was_begun: bool


HearOfStray = Callable[[StrayDecision], None]
