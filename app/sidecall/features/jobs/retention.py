"""How many calls are stored, and when ended ones are deleted."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from sidecall.features.jobs.stores import EndedCalls
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.storage.database import Database

logger = logging.getLogger("sidecall")

# Seconds after its end during which a call is never deleted for lack of room, so that its sender can fetch it.
GRACE = 60.0
# Calls that are deleted in one step.
_STEP = 256
# Minimum seconds between two counts, and the pause as a multiple of a count's duration.
_COUNT_AGAIN = 60.0
_SELDOM = 200
# Seconds after its end for which a call with a pending webhook is kept: longer than all retries take.
_TELLING = 604_800.0
# Seconds between two checks, and between two steps of one.
_ROUND = 2.0
_REST = 0.05
# Seconds before the next attempt when nothing could be deleted, and between two log lines about it.
_IN_VAIN = 1.0
_QUIET = 60.0


@dataclass(frozen=True, slots=True)
class CallBounds:
    """How long ended calls are kept, in seconds, and the maximum number and bytes of calls.

    `key_ttl` and `approval_ttl` are how long an ended call is found by its key and its approval.
    """

    ttl: float = 604_800.0
    most: int = 5_000_000
    most_bytes: int = 4 * 1024 * 1024 * 1024
    key_ttl: float = 86_400.0
    approval_ttl: float = 3600.0


class KeptCalls:
    """Estimate the number of stored calls, and delete ended ones that are too old or too many.

    A call with a live key, approval or pending webhook is never deleted. Writes of other servers are counted from time
    to time and estimated in between.
    """

    def __init__(
        self, database: Database, bounds: CallBounds | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._bounds = bounds or CallBounds()
        self._clock = clock
        self._calls = self._bytes = 0
        self._count_at = 0.0
        self._grace = min(GRACE, self._bounds.ttl)
        # No call is promised for longer after its end.
        self._promise = max(GRACE, self._bounds.key_ttl, self._bounds.approval_ttl)

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another call."""
        return self._calls >= self._bounds.most or self._bytes >= self._bounds.most_bytes

    def take(self, calls: int, size: int) -> None:
        """Count calls and bytes that come, or go where they are negative."""
        self._calls += calls
        self._bytes += size

    def keep_until(self, ended: float, *, was_held: bool) -> float:
        """Return until when an ended call is kept, even without a key; `was_held` if a person decided."""
        return ended + (max(self._grace, self._bounds.approval_ttl) if was_held else self._grace)

    async def forget(self, room_for: int = 0) -> bool:
        """Delete some ended calls, in a short step; return whether there may be more.

        Args:
            room_for: How many more calls there should be room for.
        """
        await self._count()
        bounds, now = self._bounds, self._clock()
        aged = now - bounds.ttl
        wanted = min(now, aged + self._promise), aged, now - _TELLING, _STEP
        [(ids, count, size)] = await self._database.read("find_aged_calls", *wanted)
        if not count and self._lacks_room(room_for):
            rows = self._choose(await self._find(now), bounds.most - room_for - bounds.most // 1000)
            ids, count, size = dump_plain([row[0] for row in rows]).decode(), len(rows), sum(row[1] for row in rows)
        if count:
            await self._database.write_all("forget_ended_calls", [(ids, now)])
            self.take(-count, -size)
        return bool(count == _STEP)

    def _lacks_room(self, room_for: int) -> bool:
        over = self._bytes - self._bounds.most_bytes
        return self._calls + room_for > self._bounds.most or over > 0 or (over == 0 and room_for > 0)

    def _choose(self, found: list[tuple[str, int]], most: int) -> list[tuple[str, int]]:
        """Return the first of these calls whose removal leaves room for the others, and a little more."""
        most_bytes = self._bounds.most_bytes - 1 - self._bounds.most_bytes // 1000
        calls, size = self._calls, self._bytes
        chosen: list[tuple[str, int]] = []
        for row in found:
            if calls <= most and size <= most_bytes:
                break
            chosen.append(row)
            calls, size = calls - 1, size - row[1]
        return chosen

    async def _find(self, now: float) -> list[tuple[str, int]]:
        """Return ids and sizes of calls that are not needed any more, in that order."""
        rows = await self._database.read("list_forgettable_calls", now, now, now - _TELLING, _STEP)
        return [(call_id, size) for call_id, size in rows]

    async def _count(self) -> None:
        began = time.monotonic()
        if began < self._count_at:
            return
        # If the count takes longer than the timeout, old ones are deleted all the same.
        with suppress(StoreUnavailable):
            [(self._calls, self._bytes)] = await self._database.read("measure_calls")
        ended = time.monotonic()
        self._count_at = ended + max(_COUNT_AGAIN, _SELDOM * (ended - began))


class Retention:
    """Deletes ended calls of a ledger."""

    def __init__(self, calls: EndedCalls) -> None:
        self._calls = calls
        self._turn = asyncio.Lock()
        self._again_at = self._told_at = 0.0
        self._loop: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Count the calls, and from then on delete those that are too old or too many."""
        await self._forget()
        self._loop = asyncio.get_running_loop().create_task(self._go_round())

    async def close(self) -> None:
        """Forget nothing more."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None

    async def has_room(self) -> bool:
        """Return whether there is room for another call, after deleting some if necessary."""
        if not self._calls.is_full:
            return True
        async with self._turn:
            if self._calls.is_full and time.monotonic() >= self._again_at:
                await self._calls.forget(1)
                if self._calls.is_full:
                    self._refuse()
        return not self._calls.is_full

    def _refuse(self) -> None:
        now = time.monotonic()
        self._again_at = now + _IN_VAIN
        if now >= self._told_at:
            self._told_at = now + _QUIET
            logger.warning("calls that have to be remembered are refused: none of those that are kept may be forgotten")

    async def _go_round(self) -> None:
        more = False
        while True:
            await asyncio.sleep(_REST if more else _ROUND)
            more = await self._forget()

    async def _forget(self) -> bool:
        try:
            async with self._turn:
                return await self._calls.forget()
        except StoreUnavailable:
            return False
        except Exception:
            logger.exception("the remembered calls could not be looked through for what is too old")
            return False
