"""The queue of webhooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sidecall.storage.database import Database


class NotSent(Exception):
    """The receiver does not have the message; `is_final` says that it never will."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


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

    @property
    def subject(self) -> str:
        """What it is about, for the log."""
        return f"call {self.call_id}"


class DueMessage(Protocol):
    """A message that is due: where it goes, how often it was tried, and what it is about, for the log."""

    @property
    def url(self) -> str:
        """The receiver, as `find` of the receivers takes it."""

    @property
    def tries(self) -> int:
        """The number of attempts."""

    @property
    def subject(self) -> str:
        """Such as `call 01a2…`."""


Due = TypeVar("Due", bound=DueMessage)


class MessageQueue(Protocol[Due]):
    """The queue of webhooks to send; each method is one durable step."""

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[Due]:
        """List due webhooks, fairly between callers and hosts.

        Args:
            now: In seconds since 1970.
            most: The maximum number.
            most_of_host: The maximum number for one host.
        """

    async def claim(self, due: Due, until: float) -> Due | None:
        """Claim a webhook until it is due again; None if another server was faster."""

    async def settle(self, claimed: Due, again_at: float | None) -> None:
        """Set the time of the next attempt; None removes it."""


# Of ended calls.
CallbackQueue = MessageQueue[DueCallback]


class SqlCallbacks:
    """Finds webhooks in the table of calls, and hands out each to one server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_due(self, now: float, most: int, most_of_host: int) -> Sequence[DueCallback]:
        """List due webhooks, fairly between callers and hosts.

        Args:
            now: In seconds since 1970.
            most: The maximum number.
            most_of_host: The maximum number for one host.
        """
        rows = await self._database.read("list_due_callbacks", now, most, most_of_host)
        return [DueCallback(*row) for row in rows]

    async def claim(self, due: DueCallback, until: float) -> DueCallback | None:
        """Claim a webhook until it is due again; None if another server was faster."""
        row = await self._database.write("claim_callback", due.call_id, until, due.at)
        return None if row is None else DueCallback(due.call_id, due.tenant, due.url, until, due.tries + 1)

    async def settle(self, claimed: DueCallback, again_at: float | None) -> None:
        """Set the time of the next attempt; None removes it."""
        await self._database.write("settle_callback", claimed.call_id, again_at, claimed.at)
