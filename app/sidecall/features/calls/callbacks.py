"""The queue of webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DueCallback:
    """An ended call and the URL of its webhook.

    `at` is when it is due, in seconds since 1970; `tries` is the number of attempts.
    """

    call_id: str
    tenant: str
    url: str
    at: float
    tries: int


class CallbackQueue(Protocol):
    """The queue of webhooks to send for ended calls; each method is one durable step."""

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[DueCallback]:
        """List due webhooks, fairly between callers and hosts.

        Args:
            now: In seconds since 1970.
            most: The maximum number.
            most_of_host: The maximum number for one host.
        """

    async def claim(self, due: DueCallback, until: float) -> DueCallback | None:
        """Claim a webhook until it is due again; None if another server was faster."""

    async def settle(self, claimed: DueCallback, again_at: float | None) -> None:
        """Set the time of the next attempt; None removes it."""
