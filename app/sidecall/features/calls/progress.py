"""Progress events of running calls, for servers that share a ledger."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# An event: its kind, and its JSON on one line.
Said = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class ProgressBatch:
    """Consecutive events of one attempt; `last` is the number of the last one, counted from 1."""

    attempt: int
    last: int
    said: Sequence[Said]


class ProgressLog(Protocol):
    """Progress events for watchers at other servers; they may be lost with the database."""

    async def add(self, call_id: str, part: ProgressBatch, forgotten: int) -> None:
        """Append events, and drop those of this attempt up to that number.

        Raises:
            StoreUnavailable: They are not stored.
        """

    async def list_after(self, call_id: str, attempt: int, number: int) -> Sequence[ProgressBatch]:
        """List the events after this number of an attempt, and of later attempts.

        Raises:
            StoreUnavailable: They cannot be read.
        """

    async def forget(self) -> None:
        """Delete the events of calls that ended some minutes ago."""
