"""Count each caller's calls together with other servers: each leases some at a time, and counts those in memory."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sidecall.features.rates.in_memory import QuotaKey, Quotas, RecentCallers, make_quota
from sidecall.kernel.concurrency.outlasting import outlast
from sidecall.kernel.core.overload import QuotaExceeded, StoreUnavailable
from sidecall.kernel.core.quota import NANO, Lease, Quota, Rate, SharedCount

logger = logging.getLogger("sidecall")

# The part of a rate that a server leases at a time, at least one call.
_PART = 20
# Nanoseconds for which a server counts alone while the shared count is unavailable.
_ALONE = 5 * NANO


@dataclass(slots=True)
class _Lease:
    """The lease of one key: calls that this server may admit, and the shared count at the last request."""

    rate: Rate
    granted: int = 0
    spent: int = 0
    asked_at: int = 0
    alone_until: int = 0
    waiting: int = 0
    asking: asyncio.Task[None] | None = None

    def note(self, lease: Lease, now: int) -> None:
        """Add a granted lease."""
        self.granted, self.spent, self.asked_at = self.granted + lease.granted, lease.spent, now

    def is_spent(self, now: int) -> bool:
        """Return whether none were left for anybody, and none can have come back since."""
        return self.left_to_wait(now) > self.rate.share * (self.rate.calls - 1)

    def left_to_wait(self, now: int) -> int:
        """Return the nanoseconds until the quota is fully restored, as far as this server knows."""
        return max(0, self.spent - (now - self.asked_at))


class SharedQuotas(Quotas):
    """Admit calls from this server's lease, and renew it when it is used up.

    While the shared count is unavailable, the server counts alone.
    """

    def __init__(self, rate: Rate | None, count: SharedCount, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """Take the shared store; the arguments other than `count` are those of Quotas."""
        super().__init__(rate, clock)
        self._count = count
        self._held: RecentCallers[_Lease] = RecentCallers()

    def _spend(self, key: QuotaKey, rate: Rate) -> Awaitable[None] | None:
        held = self._held.get(key)
        if held is None or held.rate != rate:
            held = _Lease(rate)
        self._held.put(key, held)
        return None if self._try(key, held) else self._wait(key, held)

    def _try(self, key: QuotaKey, held: _Lease) -> bool:
        """Admit or refuse a call at once, if the lease suffices to decide.

        Raises:
            QuotaExceeded: The caller has none left.
        """
        now = self._clock()
        if now < held.alone_until:
            super()._spend(key, held.rate)
            return True
        if held.granted and now - held.asked_at < held.rate.seconds * NANO:
            held.granted -= 1
            return True
        held.granted = 0  # Leases of a past window have expired.
        if held.is_spent(now):
            raise QuotaExceeded(make_quota(key, held.rate, held.left_to_wait(now)))
        return False

    async def _wait(self, key: QuotaKey, held: _Lease) -> None:
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

    async def _ask(self, key: QuotaKey, held: _Lease) -> None:
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
