"""Queued calls in a database."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import CallCompletion, ClaimedCall, LostCall
from sidecall.features.jobs.retention import GRACE
from sidecall.features.jobs.sql_store import ATTEMPT, to_entry
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database, Row

# How many queued calls are listed, of each caller and in all; and for how many seconds, or multiples of the time it
# took to read, a list is used before a new caller is noticed.
_LISTED = 1000
_FRESH = 0.05
_PATIENCE = 10
# The columns of a queued call's tool name and creation time.
_NAME, _SENT = 4, 5
# Seconds after which a call is claimed though its tool is not here: no other server has it either.
_STRANGE = 3600.0


class SqlCallQueue:
    """Hand out queued calls, each to one server."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._served: dict[tuple[str, str], float] = {}  # callers, and when each had its last turn
        self._listed: deque[Row] = deque()  # Recently queued calls, in the order of their turns.
        self._is_whole = False  # Whether that was the whole queue.
        self._noted: list[Row] = []  # A refresh was requested in the meantime.
        self._stale_at = 0.0

    def note(self, call_id: str, tenant: str, caller: str) -> None:
        """Note that a call was just queued, so that it is not looked for."""
        self._noted.append((call_id, tenant, caller, 0))

    def look_again(self) -> None:
        """Note that calls were queued, so that the list is read again."""
        self._stale_at = 0.0

    async def claim(
        self, owner: str, most: int, may_take: Callable[[str], bool] = lambda _: True
    ) -> Sequence[ClaimedCall]:
        """Claim up to `most` queued calls of these tools, fairly between callers."""
        taken: list[ClaimedCall] = []
        is_all = False
        while len(taken) < most and not is_all:
            is_all = await self._list_queued(may_take)
            chosen = [self._listed.popleft() for _ in range(min(most - len(taken), len(self._listed)))]
            got = await self._take(chosen, owner)
            if len(got) < len(chosen):  # Another server was quicker, and would be again.
                self._listed.clear()
                self._stale_at, is_all = 0.0, False
            taken += got
        if is_all and not self._listed:
            self._served.clear()
        return taken

    async def _list_queued(self, may_take: Callable[[str], bool]) -> bool:
        """List the queue, unless that was done a moment ago and some of it is left; return whether it is complete."""
        began = self._clock()
        if began < self._stale_at and (self._listed or self._is_whole):
            if self._is_whole:
                self._listed += self._noted
            self._noted.clear()
            return self._is_whole
        self._noted.clear()
        queued = await self._database.read("list_queued_calls", _LISTED)
        known = {call_id for call_id, *_ in queued}
        strange = time.time() - _STRANGE
        ours = [row for row in queued if may_take(row[_NAME]) or row[_SENT] <= strange]
        self._listed = deque(sorted(ours, key=self._turn))
        self._listed += [noted for noted in self._noted if noted[0] not in known]
        self._noted.clear()
        self._is_whole = len(queued) < _LISTED
        now = self._clock()
        self._stale_at = now + max(_FRESH, _PATIENCE * (now - began))
        return True

    async def _take(self, chosen: Sequence[Row], owner: str) -> list[ClaimedCall]:
        now, write = time.time(), self._database.write
        self._served |= {(tenant, caller): now for _, tenant, caller, *_ in chosen}
        rows = await asyncio.gather(*(write("claim_call", call[0], owner, now) for call in chosen))
        return [_to_claimed(row) for row in rows if row is not None]

    def _turn(self, queued: Row) -> tuple[int, float, str]:
        """Return the sort key of a call: the caller who has waited longest for a turn comes first."""
        call_id, tenant, caller, turn, *_ = queued
        return turn, self._served.get((tenant, caller), 0.0), call_id

    async def count_queued(self) -> int:
        """Count the calls that wait for a server to begin them."""
        count: int = (await self._database.read("count_queued_calls"))[0][0]
        return count

    async def count_open(self) -> tuple[int, int]:
        """Count queued and running calls at all servers."""
        queued, running = (await self._database.read("count_open_calls"))[0]
        return queued, running

    async def cancel(self, call_id: str, end: CallCompletion) -> bool:
        """End a queued call, or ask the server that runs it to cancel; False where it is neither."""
        message, now = end.message.model_dump_json(), time.time()
        told = (end.status, end.kind, message, now, len(message), now + GRACE)
        if await self._database.write("cancel_queued_call", call_id, *told) is not None:
            return True
        return await self.ask_to_cancel(call_id)

    async def ask_to_cancel(self, call_id: str) -> bool:
        """Ask the server that runs a call to cancel it; False where none does."""
        return await self._database.write("ask_to_cancel", call_id) is not None

    async def list_cancelled(self, owner: str) -> Sequence[str]:
        """List the calls of this server whose cancellation was requested."""
        return [row[0] for row in await self._database.read("list_unwanted_calls", owner)]

    async def ask_to_cancel_held(self, call_id: str) -> None:
        """Request the cancellation of an approved call, should it wait again."""
        await self._database.write("ask_to_cancel_held", call_id)

    async def list_held_cancelled(self, limit: int = 1000) -> Sequence[CallEntry]:
        """List the calls that wait for a person and whose cancellation was requested."""
        return [to_entry(row) for row in await self._database.read("list_unwanted_held_calls", limit)]

    async def list_lost(self, dead_since: float, owner: str) -> Sequence[LostCall]:
        """List the calls running on other servers that have not responded since then, in seconds since 1970."""
        rows = await self._database.read("list_lost_calls", dead_since, owner)
        return [_to_lost(row) for row in rows]

    async def list_orphans(self, owner: str, runs: Callable[[str], bool]) -> Sequence[LostCall]:
        """List the calls that this server should run, without those that it `runs`."""
        rows = await self._database.read("list_own_calls", owner)
        # Records may be large.
        orphans = [call_id for (call_id,) in rows if not runs(call_id)]
        found = [row for call_id in orphans for row in await self._database.read("get_own_call", call_id, owner)]
        return [_to_lost(row) for row in found if not runs(row[0])]


def _to_claimed(row: Row) -> ClaimedCall:
    *entry, record, unwanted = row
    claimed = CallRecord.from_json(record)
    return ClaimedCall(claimed, entry[ATTEMPT], partial(to_entry, tuple(entry)), bool(unwanted))


def _to_lost(row: Row) -> LostCall:
    call_id, name, attempt, record = row
    return LostCall(call_id, name, attempt, CallRecord.from_json(record))
