"""The queue of webhooks in a database."""

from collections.abc import Sequence

from sidecall.features.webhooks.queue import DueCallback
from sidecall.storage.database import Database


class SqlCallbacks:
    """Find them in the table of calls, and hand out each to one server."""

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
