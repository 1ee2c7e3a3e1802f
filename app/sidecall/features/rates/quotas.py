"""Count the calls of each caller, and those of each tool with a rate: in memory, or for all servers of a database."""

import asyncio
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from msgspec import Struct

from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.overload import QuotaExceeded, StoreUnavailable
from sidecall.kernel.core.quota import CALLS, NANO, Lease, Quota, Rate, SharedCount
from sidecall.kernel.core.tool import CompiledTool
from sidecall.storage.database import Database

# Callers that are tracked, most recent first; a caller that is dropped starts over. As many are tracked for tools with
# a rate.
_MOST_CALLERS = 10_000

# Tenant, subject, and the tool that is counted; empty for all calls.
QuotaKey = tuple[str, str, str]

T = TypeVar("T")


class RecentCallers(Generic[T]):
    """A table of the most recent callers."""

    def __init__(self) -> None:
        self._all: OrderedDict[QuotaKey, T] = OrderedDict()
        self._of_tools: OrderedDict[QuotaKey, T] = OrderedDict()

    def get(self, key: QuotaKey) -> T | None:
        """Return the value of a caller."""
        return (self._of_tools if key[2] else self._all).get(key)

    def put(self, key: QuotaKey, value: T) -> None:
        """Store a value; the least recent caller is dropped."""
        kept = self._of_tools if key[2] else self._all
        kept[key] = value
        kept.move_to_end(key)
        if len(kept) > _MOST_CALLERS:
            kept.popitem(last=False)


class Quotas:
    """Limit the rate of each caller, with bursts up to the whole quota, which is restored evenly.

    This is GCRA in whole nanoseconds: of a caller only the time is kept at which its quota is fully restored.
    """

    def __init__(self, rate: Rate | None, clock: Callable[[], int] = time.monotonic_ns) -> None:
        """Take the server's rate, and those of tools; without `rate` only those of tools are counted."""
        self.rate = rate
        self._clock = clock
        self._whole_at: RecentCallers[int] = RecentCallers()

    def take(self, caller: Caller, tool: CompiledTool | None = None) -> Awaitable[None] | None:
        """Count one call, among all or among those of a tool with a rate; the result has to be awaited.

        Raises:
            QuotaExceeded: The caller has none left; then nothing is counted.
        """
        rate = self.rate if tool is None else tool.options.rate
        if rate is None:
            return None
        return self._spend((caller.tenant, caller.subject, "" if tool is None else tool.name), rate)

    def left(self, caller: Caller, tool: CompiledTool | None = None) -> tuple[Quota, ...]:
        """Return a caller's remaining quota, in all and for a tool, if it has called recently."""
        found = () if self.rate is None else (self._left((caller.tenant, caller.subject, ""), self.rate),)
        if tool is not None and tool.options.rate is not None:
            key = caller.tenant, caller.subject, tool.name
            # A caller who has not called it may not know that the tool exists.
            if self._has_called(key):
                return *found, self._left(key, tool.options.rate)
        return found

    def _spend(self, key: QuotaKey, rate: Rate) -> Awaitable[None] | None:
        now = self._clock()
        spent = self._spent(key, now)
        share = rate.share
        if spent > share * (rate.calls - 1):
            raise QuotaExceeded(make_quota(key, rate, spent))
        self._whole_at.put(key, now + spent + share)
        return None

    def _has_called(self, key: QuotaKey) -> bool:
        return self._whole_at.get(key) is not None

    def _left(self, key: QuotaKey, rate: Rate) -> Quota:
        return make_quota(key, rate, self._spent(key, self._clock()))

    def _spent(self, key: QuotaKey, now: int) -> int:
        whole_at = self._whole_at.get(key)
        return 0 if whole_at is None or whole_at < now else whole_at - now


def make_quota(key: QuotaKey, rate: Rate, spent: int, held: int = 0) -> Quota:
    """Return the quota: `spent` nanoseconds until it is full again, `held` calls granted but not yet made."""
    calls, share = rate.calls, rate.share
    gone = -(-spent // share)
    if gone > calls:
        gone = calls
    more_in = -(-(spent - (gone - 1) * share) // NANO) if gone else 0
    left = calls - gone
    if held:
        left = min(calls, left + held)
    return Quota(calls, rate.seconds, left, more_in, f"{CALLS}:{key[2]}" if key[2] else CALLS)


logger = logging.getLogger("sidecall")

# The part of a rate that a server leases at a time, at least one call.
_PART = 20
# Nanoseconds for which a server counts alone while the shared count is unavailable.
_ALONE = 5 * NANO


class _Lease(Struct):
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
