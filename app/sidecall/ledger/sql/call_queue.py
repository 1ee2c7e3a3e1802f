"""The remembered calls that no server runs, in a database."""

import asyncio
import time
from collections.abc import Callable, Sequence

from sidecall.core.calls.entry import CallEnd, ClaimedCall, LostCall
from sidecall.core.record import CallRecord
from sidecall.ledger.sql.database import Database, Row
from sidecall.ledger.sql.kept_calls import GRACE


class SqlCallQueue:
    """Hand out queued calls, each to one server."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._served: dict[tuple[str, str], float] = {}  # callers, and when each had its last turn

    async def claim(self, owner: str, most: int) -> Sequence[ClaimedCall]:
        """Begin up to `most` queued calls, fairly between their callers."""
        now, write = time.time(), self._database.write
        queued = await self._database.read("list_queued_calls", most)
        chosen = sorted(queued, key=self._turn)[:most]
        self._served |= {(tenant, caller): now for _, tenant, caller, _ in chosen}
        rows = await asyncio.gather(*(write("claim_call", call[0], owner, now) for call in chosen))
        # Where there is none another server was quicker.
        return [ClaimedCall(CallRecord.from_json(row[2]), row[1]) for row in rows if row is not None]

    def _turn(self, queued: Row) -> tuple[int, float, str]:
        """Return what to sort by: of next calls, that of the caller who had no turn for longest comes first."""
        call_id, tenant, caller, turn = queued
        return turn, self._served.get((tenant, caller), 0.0), call_id

    async def count_queued(self) -> int:
        """Count the calls that wait for a server to begin them."""
        count: int = (await self._database.read("count_queued_calls"))[0][0]
        if count == 0:
            self._served.clear()
        return count

    async def cancel(self, call_id: str, end: CallEnd) -> bool:
        """End a call that is queued, or ask the server that runs it to; False where it is neither."""
        message, now = end.message.model_dump_json(), time.time()
        told = (end.status, end.kind, message, now, len(message), now + GRACE)
        if await self._database.write("cancel_queued_call", call_id, *told) is not None:
            return True
        return await self._database.write("ask_to_cancel", call_id) is not None

    async def list_cancelled(self, owner: str) -> Sequence[str]:
        """List the calls of this server that somebody wants to be cancelled."""
        return [row[0] for row in await self._database.read("list_unwanted_calls", owner)]

    async def list_lost(self, dead_since: float, owner: str) -> Sequence[LostCall]:
        """List the calls that run on servers but this one which have said nothing since then, in seconds since 1970."""
        rows = await self._database.read("list_lost_calls", dead_since, owner)
        return [_to_lost(row) for row in rows]

    async def list_strays(self, owner: str, runs: Callable[[str], bool]) -> Sequence[LostCall]:
        """List the calls that this server should run, without those that it `runs`."""
        rows = await self._database.read("list_own_calls", owner)
        # Those that it runs may be large.
        strays = [call_id for (call_id,) in rows if not runs(call_id)]
        found = [row for call_id in strays for row in await self._database.read("get_own_call", call_id, owner)]
        return [_to_lost(row) for row in found if not runs(row[0])]


def _to_lost(row: Row) -> LostCall:
    call_id, name, attempt, record = row
    return LostCall(call_id, name, attempt, CallRecord.from_json(record).tool_call)
