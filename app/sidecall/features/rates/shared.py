"""Count the calls of each caller together with other servers, which take some at a time and count those in memory."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sidecall.features.rates.in_memory import Lately, QuotaKey, Quotas, make_quota
from sidecall.kernel.concurrency.outlasting import outlast
from sidecall.kernel.core.overload import QuotaExceeded, StoreUnavailable
from sidecall.kernel.core.quota import NANO, Lease, Quota, Rate, SharedCount

logger = logging.getLogger("sidecall")

# What a server takes at a time: this part of a rate, and one call at least.
_PART = 20
# Nanoseconds for which a server counts for itself when nobody can tell what others have counted.
_ALONE = 5 * NANO


@dataclass(slots=True)
class _Held:
    """Calls of one key that this server may let in, and how it stood with all servers when it asked last."""

    rate: Rate
    granted: int = 0
    spent: int = 0
    asked_at: int = 0
    alone_until: int = 0
    waiting: int = 0
    asking: asyncio.Task[None] | None = None

    def note(self, lease: Lease, now: int) -> None:
        """Keep what was granted."""
        self.granted, self.spent, self.asked_at = self.granted + lease.granted, lease.spent, now

    def is_spent(self, now: int) -> bool:
        """Return whether none were left for anybody, and none can have come back since."""
        return self.left_to_wait(now) > self.rate.share * (self.rate.calls - 1)

    def left_to_wait(self, now: int) -> int:
        """Return in how many nanoseconds all calls are back, as far as this server knows."""
        return max(0, self.spent - (now - self.asked_at))


class SharedQuotas(Quotas):
    """Let in what was granted to this server, and ask for more when that is used up.

    While the count of all cannot be reached, it counts for itself, as without one.
    """

    def __init__(self, rate: Rate | None, count: SharedCount, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """Count with others; the arguments but `count` are those of Quotas."""
        super().__init__(rate, clock)
        self._count = count
        self._held: Lately[_Held] = Lately()

    def _spend(self, key: QuotaKey, rate: Rate) -> Awaitable[None] | None:
        held = self._held.get(key)
        if held is None or held.rate != rate:
            held = _Held(rate)
        self._held.put(key, held)
        return None if self._try(key, held) else self._wait(key, held)

    def _try(self, key: QuotaKey, held: _Held) -> bool:
        """Let a call in at once, if it is known whether it may come.

        Raises:
            QuotaExceeded: It may not.
        """
        now = self._clock()
        if now < held.alone_until:
            super()._spend(key, held.rate)
            return True
        if held.granted and now - held.asked_at < held.rate.seconds * NANO:
            held.granted -= 1
            return True
        held.granted = 0  # Those of a window that is over have come back to all.
        if held.is_spent(now):
            raise QuotaExceeded(make_quota(key, held.rate, held.left_to_wait(now)))
        return False

    async def _wait(self, key: QuotaKey, held: _Held) -> None:
        held.waiting += 1
        try:
            while True:
                if held.asking is None:
                    held.asking = asyncio.create_task(self._ask(key, held))
                await outlast(held.asking)
                if self._try(key, held):
                    return
        finally:
            held.waiting -= 1

    async def _ask(self, key: QuotaKey, held: _Held) -> None:
        wanted = max(1, held.waiting, held.rate.calls // _PART)
        try:
            lease = await self._count.lease("\n".join(key), held.rate, min(wanted, held.rate.calls))
            held.note(lease, self._clock())
        except StoreUnavailable:
            held.alone_until = self._clock() + _ALONE
            logger.warning("calls are counted by this server alone for a while, since the store cannot be used")
        finally:
            held.asking = None

    def _has_called(self, key: QuotaKey) -> bool:
        return self._held.get(key) is not None

    def _left(self, key: QuotaKey, rate: Rate) -> Quota:
        held, now = self._held.get(key), self._clock()
        if held is None or now < held.alone_until:
            return super()._left(key, rate)
        return make_quota(key, rate, held.left_to_wait(now), held.granted)
