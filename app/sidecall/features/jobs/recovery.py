"""Reconcile stored calls: start a fair share of queued ones, recover lost ones, cancel those that are unwanted."""

import asyncio
import contextlib
import logging
import math
import time
from collections import Counter
from collections.abc import Callable

from sidecall.features.jobs.records import Acceptance, ClaimedCall, LostCall
from sidecall.features.jobs.runner import Runner
from sidecall.features.jobs.state_machine import SuspendedCalls, end_cancelled, end_unknown, may_repeat
from sidecall.features.jobs.stores import AcceptedCall
from sidecall.features.jobs.submission import JobLimits
from sidecall.features.jobs.waiters import CompletionWaiters
from sidecall.features.ledger.ledger import Ledger
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.pipeline.batch import Find

# Seconds for which a server above its share leaves queued calls to others.
_LEFT = 0.1


class FairShare:
    """Divide queued calls so that all servers run about the same number.

    A server that has stopped claims nothing, so calls left to others are claimed after a moment anyway.
    """

    def __init__(
        self, ledger: Ledger, runner: Runner, *, is_on: bool = True, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ledger = ledger
        self.is_on = is_on and ledger.is_shared
        self._runner = runner
        self._clock = clock
        self._left_at: float | None = None

    @property
    def others(self) -> int:
        """How many other live servers may take calls; none where each server keeps its own."""
        return self._ledger.heartbeat.others if self.is_on else 0

    @property
    def begins_at_once(self) -> bool:
        """Whether a new call starts here without being offered to others."""
        return not self.others or not self._runner.running

    @property
    def pause(self) -> float | None:
        """Seconds after which to ask again; None if nothing was left to others."""
        return None if self._left_at is None else _LEFT

    def find(self, queued: int, running: int) -> int:
        """Return how many calls to take now.

        Args:
            queued: How many are queued.
            running: How many run, at all servers.
        """
        servers = 1 + self.others
        share = -(-(queued + running) // servers) - self._runner.running
        now = self._clock()
        if share <= 0 and queued and (self._left_at is None or now < self._left_at + _LEFT):
            self._left_at = now if self._left_at is None else self._left_at
            return 0
        taken = min(queued, share if share > 0 else -(-queued // servers))
        self._left_at = now if taken < queued else None
        return taken

    def rest(self) -> None:
        """Note that no queued call could be claimed, so that asking again soon is useless."""
        self._left_at = None


logger = logging.getLogger("sidecall")

# Seconds between two looks.
_PAUSE = 1.0
# Seconds between checks of calls that wait for a person and of the queue length, in case a notification was missed.
_SLOW_LOOK = 30.0


class JobReconciler:
    """Start queued calls when there is room, and recover calls of other servers.

    `queued` is about how many calls are queued; other servers may have changed it since. It may briefly be too high,
    but never too low, since no call starts while it is 0.
    """

    def __init__(
        self,
        ledger: Ledger,
        runner: Runner,
        held: SuspendedCalls,
        find: Find,
        waiters: CompletionWaiters,
        limits: JobLimits,
    ) -> None:
        """Take the parts."""
        self._ledger = ledger
        self._calls = ledger.calls
        self._queue = ledger.queue
        self._runner = runner
        self._held = held
        self._find = find
        self._waiters = waiters
        self._attempts = limits.attempts
        self.share = FairShare(ledger, runner, is_on=limits.shares)
        self._awake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.queued = 0
        self._added = 0
        self._counts = 0
        self._is_unsure = False  # Whether more may be queued than were counted.
        self._own: set[str] = set()  # Calls that wait to be started by this server only.
        self._is_behind = True  # Orphans of an earlier server.
        self._is_claiming = False
        self._heard_cancel = False  # While calls were claimed, and before they began.
        runner.freed = self._begin_another
        runner.writer.released = self.add

    @property
    def is_open(self) -> bool:
        """Whether it has started."""
        return self._loop is not None

    async def open(self) -> None:
        """Recover calls of earlier servers, and keep checking from then on."""
        self._own.clear()
        with contextlib.suppress(StoreUnavailable):  # Which is no reason not to start: the round tries again.
            await self._catch_up()
        self._loop = asyncio.get_running_loop().create_task(self._go_round())

    async def _catch_up(self) -> None:
        """Recover orphaned calls once."""
        if not self._ledger.is_shared:  # In a store of one process there are no other live servers.
            await self._recover(math.inf)
        await self.count()
        self._is_behind = False

    async def close(self) -> None:
        """Start nothing more."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None

    def __contains__(self, call_id: str) -> bool:
        """Whether a call is certainly queued, so that its end will be delivered here."""
        return call_id in self._own

    async def accept(self, call: CallRecord, acceptance: Acceptance) -> AcceptedCall | None:
        """Store a new call as queued; None if there is one with its key.

        Raises:
            StoreUnavailable: The write failed, or is in doubt.
        """
        if not self._ledger.is_shared:
            self._own.add(call.id)  # It may start before its notification arrives.
        accepted = None
        try:
            accepted = await self._calls.accept(call, acceptance)
        except StoreUnavailable:
            self.doubt()
            raise
        finally:
            if accepted is None:
                self.drop(call.id)
            else:
                self.add(call)
        return accepted

    def drop(self, call_id: str) -> None:
        """Note that a call is not queued, or no longer."""
        self._own.discard(call_id)

    def add(self, call: CallRecord | None = None) -> None:
        """Note a queued call: this one, or one that the next look-up finds."""
        if call is None:
            self._queue.look_again()
        else:
            self._queue.note(call.id, call.caller.tenant, call.caller.subject)
        self._count_one()
        self._ledger.notifications.tell("queued")

    def note_queued(self) -> None:
        """Note another server's queued calls; where each server keeps its own, they are not claimed at once."""
        if not self.share.is_on:
            return
        self._queue.look_again()
        self._count_one()

    def note_cancel(self) -> None:
        """Note that a call was cancelled that does not run here; it may be about to begin."""
        self._heard_cancel = self._heard_cancel or self._is_claiming

    def _count_one(self) -> None:
        self.queued += 1
        self._added += 1
        self._awake.set()

    def doubt(self) -> None:
        """Note that a call may have been queued, which the store did not say."""
        self._is_unsure = True

    async def count(self) -> None:
        """Count the queued calls; those that arrive meanwhile may be counted twice, but never missed."""
        added = self._added
        queued = await self._queue.count_queued()
        self.queued = queued + self._added - added
        self._counts += 1
        if self._added > added:
            self.doubt()

    def _begin_another(self) -> None:
        if self.queued > 0:
            self._awake.set()

    async def _go_round(self) -> None:
        looked = settled = time.monotonic()
        while True:
            now = time.monotonic()
            try:
                if now - looked >= _PAUSE:
                    looked = now
                    if self._is_behind:
                        await self._catch_up()
                    await self._keep_company()
                await self._claim()
                if now - settled >= _SLOW_LOOK:
                    settled = now
                    self.doubt()
                    await self._held.settle_all()
            except Exception as error:
                self.doubt()
                if not isinstance(error, StoreUnavailable):  # The database reports that itself.
                    logger.exception("queued calls could not be looked after; it is tried again in %g s", _PAUSE)
                await asyncio.sleep(_PAUSE)
            await self._pause()

    async def _pause(self) -> None:
        # Not wait_for, which in Python 3.11 can swallow a cancellation that arrives together with the wake-up.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PAUSE if self.share.pause is None else self.share.pause):
                await self._awake.wait()
        self._awake.clear()

    async def _claim(self) -> None:
        if self._runner.free <= 0 or self.queued <= 0:
            return
        most = await self._find_share() if self.share.others else self._runner.free
        if not most:
            return
        self._is_claiming, self._heard_cancel = True, False
        try:
            await self._take(most)
        finally:
            self._is_claiming = False
        if self._heard_cancel:
            await self.cancel_unwanted()

    async def _take(self, most: int) -> None:
        """Claim and begin so many calls."""
        counts = self._counts
        taken = await self._queue.claim(self._ledger.owner, most, self._may_take)
        was_counted = self._counts > counts  # Perhaps without them.
        if not was_counted:
            self.queued -= len(taken)
        if not taken:
            self.share.rest()
        for claimed in taken:
            await self._begin(claimed)
        if was_counted or (len(taken) < most and self.queued):  # Others have taken or cancelled some.
            await self.count()

    async def _begin(self, claimed: ClaimedCall) -> None:
        """Start a claimed call, unless it was cancelled or cannot run here."""
        self._own.discard(claimed.record.id)
        if self._runner.is_closing:
            await self._calls.release(claimed.record.id, claimed.attempt)
        elif claimed.is_unwanted:
            await self._end_unwanted(claimed)
        else:
            self._runner.begin(claimed)
            self._waiters.publish(claimed.record.id)

    async def _find_share(self) -> int:
        """Return how many calls to take, where other servers take some."""
        added = self._added
        queued, running = await self._queue.count_open()
        self.queued = queued + self._added - added
        return min(self._runner.free, self.share.find(queued, running))

    def _may_take(self, name: str) -> bool:
        """Return whether a queued call's tool can run here; if not, another server may have it."""
        return not self.share.others or self._find(name) is not None

    async def _end_unwanted(self, claimed: ClaimedCall) -> None:
        """End a call that was cancelled before it was queued again."""
        record = claimed.record
        await self._calls.finish(record.id, claimed.attempt, end_cancelled(record.tool_call, record.id))
        self._waiters.publish(record.id)

    async def _keep_company(self) -> None:
        """Carry out requests of other servers, and recover the calls of stopped ones."""
        await self._recover_orphans()
        await self.cancel_unwanted()
        if self._ledger.is_shared:
            silent_since = await self._ledger.heartbeat.find_silence()
            if silent_since is not None:
                await self._recover(silent_since)
        elif not self._is_unsure:
            return
        self._is_unsure = False
        await self.count()
        if self.queued > 0:  # By other servers, perhaps.
            self._queue.look_again()

    async def cancel_unwanted(self) -> None:
        """Cancel running calls whose cancellation was requested.

        Raises:
            StoreUnavailable: The ledger is unavailable.
        """
        for call_id in await self._queue.list_cancelled(self._ledger.owner):
            self._runner.cancel(call_id)

    async def _recover_orphans(self) -> None:
        """Recover calls of this server that it does not run: the store failed when they started or ended."""
        for lost in await self._queue.list_orphans(self._ledger.owner, self._runner.__contains__):
            await self._take_up(lost, was_begun=self._runner.take_dropped(lost.id))

    async def _recover(self, silent_since: float) -> None:
        """Queue repeatable calls of stopped servers again, and end the others, but not those that have asked."""
        for lost in await self._queue.list_lost(silent_since, self._ledger.owner):
            if lost.id not in self._runner:
                await self._take_up(lost, was_begun=True)

    async def _take_up(self, lost: LostCall, *, was_begun: bool) -> None:
        if not (was_begun and await self._held.hold_lost(lost)):
            await self._release_or_end(lost, may_run=not was_begun or may_repeat(self._find(lost.name)))
        self._waiters.publish(lost.id)

    async def _release_or_end(self, lost: LostCall, *, may_run: bool) -> None:
        if may_run and lost.attempt < self._attempts:
            if await self._calls.release(lost.id, lost.attempt):
                await self._held.call_off_queued(lost.record)
            else:
                self.add()
        else:
            await self._calls.finish(lost.id, lost.attempt, end_unknown(lost.record.tool_call, lost.id))


class JobLoad:
    """Counts running calls of this server, and queued ones; other servers may share the queue."""

    def __init__(self, runner: Runner, reconciler: JobReconciler, limits: JobLimits) -> None:
        self._runner = runner
        self._reconciler = reconciler
        self._limits = limits

    @property
    def occupancy(self) -> Occupancy:
        """How many calls run, may run, and wait."""
        return Occupancy(self._limits.running, self._runner.running, self._reconciler.queued)

    def count_by_tool(self) -> Counter[str]:
        """Count the calls of each tool that run."""
        return self._runner.count_by_tool()

    @property
    def most_waiting(self) -> int:
        """The maximum number of queued calls."""
        return self._limits.queued
