"""Where servers that share a ledger keep what tools say while they run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# What a tool says at once: its kind, and its JSON on one line.
Said = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class SaidPart:
    """Some of what the tool of one attempt has said, in order; `last` is the number of the last of it, from 1."""

    attempt: int
    last: int
    said: Sequence[Said]


class ProgressLog(Protocol):
    """What tools have said, for those who watch their calls at another server; it may be lost with the database."""

    async def add(self, call_id: str, part: SaidPart, forgotten: int) -> None:
        """Keep more of it, and forget what this attempt has said up to that number.

        Raises:
            StoreUnavailable: It is not kept.
        """

    async def list_after(self, call_id: str, attempt: int, number: int) -> Sequence[SaidPart]:
        """List what was said after this number of an attempt, and in later attempts.

        Raises:
            StoreUnavailable: It cannot be read.
        """

    async def forget(self) -> None:
        """Forget what calls have said that ended some minutes ago."""
