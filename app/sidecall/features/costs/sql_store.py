"""What calls have cost, in the database of the ledger: all workers and servers of one store count together."""

import hashlib
import logging
import time
from collections.abc import Callable
from typing import NamedTuple

from sidecall.features.costs.budget_settings import Window
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Database

logger = logging.getLogger("sidecall")

# Seconds between two rounds in which past times are deleted, and for which they are kept.
_ROUND = 600
# Amounts that wait to be written while the store is unavailable.
_MOST_OWED = 10_000


class Purse(NamedTuple):
    """What one owner may spend in one time."""

    key: str
    window: Window

    @classmethod
    def of(cls, owner: str, window: Window) -> "Purse":
        """Name it by a hash, since no database takes every text that may be a name."""
        return cls(hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest(), window)


class SpendingLog:
    """Add up what calls cost; what cannot be written at once is written with the next amount of the same purse."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self.clock = clock
        self._owed: dict[Purse, int] = {}
        self._tidied = 0.0

    async def reserve(self, purse: Purse, amount: int, most: int | None) -> int | None:
        """Spend an amount, which may be 0, unless `most` is used up or would be exceeded.

        Returns:
            None, or what has been spent if nothing is left for it.

        Raises:
            StoreUnavailable: The store cannot be used just now.
        """
        if purse in self._owed:
            await self._write(purse, 0)
        if most is None:
            if amount:
                await self._write(purse, amount)
            return None
        key, window = purse
        if not amount:
            spent = await self._read(purse)
            return spent if spent >= most else None
        await self._tidy()
        if await self._database.write("spend_within", key, *window, amount, most) is None:
            return await self._read(purse)
        return None

    async def add(self, purse: Purse, amount: int) -> None:
        """Add what a call has cost, or give back what it has not; keep it for later if the store is unavailable."""
        try:
            await self._write(purse, amount)
        except StoreUnavailable:
            if purse not in self._owed and len(self._owed) >= _MOST_OWED:
                logger.error("a cost of %d billionths is not counted, since the store cannot be used", amount)
                return
            self._owed[purse] = self._owed.get(purse, 0) + amount

    async def _write(self, purse: Purse, amount: int) -> None:
        await self._tidy()
        owed = self._owed.pop(purse, 0)
        try:
            await self._database.write("spend", purse.key, *purse.window, amount + owed)
        except BaseException:
            if owed:
                self._owed[purse] = self._owed.get(purse, 0) + owed
            raise

    async def _read(self, purse: Purse) -> int:
        rows = await self._database.read("read_spending", purse.key, purse.window.begins_at)
        return rows[0][0] if rows else 0

    async def _tidy(self) -> None:
        now = self.clock()
        if now > self._tidied + _ROUND:
            self._tidied = now
            await self._database.write("forget_spending", int(now) - _ROUND)
