"""Calls that were noted at moments of a test's choice, and places for them."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from sidecall.features.history.history import History
from sidecall.features.history.memory_store import Blocks, HistoryBounds, MemoryBlocks
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import NotedCall, PendingCalls
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.ledger.open_ledger import open_history
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.observer import Outcome
from tests.features.history.past import add, say


def make_id(milliseconds: int, number: int) -> str:
    """Make an id of this time."""
    digits = f"{milliseconds:012x}7{number:019x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def note_at(
    moment: float, number: int, *, caller: str = "ann", outcome: Outcome = "success", seconds: float = 0.001
) -> NotedCall:
    """Note a call that was accepted at this time, of one of two tools by its number."""
    ended = moment + seconds - time.time() + time.monotonic()
    tool = (say if number % 3 else add).compiled
    kept = ({"number": number}, True, str(number), None)
    call_id = make_id(int(moment * 1000), number)
    return NotedCall(call_id, "1", tool, Caller(caller), outcome, seconds, ended, False, kept, ())


def make_blocks(store: str, bounds: HistoryBounds) -> Blocks:
    """Make the place for calls that a URL names."""
    database = open_history(store)
    return MemoryBlocks(bounds) if database is None else SqlBlocks(database, bounds)


async def keep(blocks: Blocks, noted: Sequence[NotedCall]) -> None:
    """Write calls as a server does."""
    packer = Packer()
    packed = list(packer.pack(noted))
    await blocks.keep(packed, packer.take_sums())


@asynccontextmanager
async def opened(blocks: Blocks, ttl: float) -> AsyncIterator[History]:
    """Ask for the calls of a place."""
    await blocks.open()
    yield History(PendingCalls(1_000_000, None), Packer(), blocks, ttl)
    await blocks.close()
