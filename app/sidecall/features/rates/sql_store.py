"""Counts of each caller's calls in a database, for all servers that share it."""

import hashlib

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.quota import Lease, Rate
from sidecall.storage.database import Database


class SqlRates:
    """Keep of each key the moment when all its calls are back."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease(self, key: str, rate: Rate, wanted: int) -> Lease:
        """Grant a server up to so many calls of a key; none if none are left.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        # By hash, since no database takes every text that may be a name.
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        row = await self._database.write("lease_calls", digest, rate.share, rate.calls, wanted)
        if row is None:
            raise StoreUnavailable
        return Lease(row[1], row[2])

    async def forget(self) -> None:
        """Delete rows whose limit is fully restored.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await self._database.write("forget_call_rates")
