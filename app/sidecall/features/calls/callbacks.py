"""Whom to tell that a remembered call has ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DueCallback:
    """A call that has ended, and the URL where that is to be told.

    `at` is when it is due, in seconds since 1970, `tries` how often it was tried.
    """

    call_id: str
    tenant: str
    url: str
    at: float
    tries: int


class CallbackQueue(Protocol):
    """Which ended calls somebody has still to be told of; each method is one step and durable once it returns."""

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[DueCallback]:
        """List up to `most` of those that are due, fairly between their callers and the hosts that are told.

        Args:
            now: In seconds since 1970.
            most: How many.
            most_of_host: How many of them for the same host.
        """

    async def claim(self, due: DueCallback, until: float) -> DueCallback | None:
        """Take one until then, when it is due again; None where another server was quicker."""

    async def settle(self, claimed: DueCallback, again_at: float | None) -> None:
        """Note when it is to be tried again; None where nothing is left to do."""
