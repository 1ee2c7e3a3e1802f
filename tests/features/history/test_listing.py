"""A page of the history ends where it is large, and no more is read at once than some pages take."""

import asyncio
import time
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.history import listing
from sidecall.features.history.history import History
from sidecall.features.history.memory_store import HistoryBounds
from sidecall.features.history.pending_calls import NotedCall
from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.call_entry import CallFilter
from tests.features.history.made import keep, make_blocks, make_id, opened
from tests.features.history.past import say

BOUNDS = HistoryBounds(1e9, 1_000_000, 2**40)


def note(milliseconds: int, number: int, caller: str, size: int) -> NotedCall:
    """Note a call with an answer of so many characters."""
    kept = ({}, True, "x" * size, None)
    call_id = make_id(milliseconds, number)
    return NotedCall(call_id, "1", say.compiled, Caller(caller), "success", 0.001, time.monotonic(), False, kept, ())


async def read_pages(history: History, wanted: CallFilter) -> list[list[str]]:
    """List all calls in pages of up to 1,000, and return their ids."""
    pages: list[list[str]] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        page = await history.list(wanted, 1000, cursor)
        cursor = page.cursor
        pages.append([call.id for call in page.calls])
    return pages


async def test_a_page_ends_where_it_is_large(store: str) -> None:
    """Each call is on one page."""
    blocks, now = make_blocks(store, BOUNDS), int(time.time() * 1000)
    noted = [note(now + number, number, "ann", 100_000) for number in range(25)]
    async with opened(blocks, 1e9) as history:
        for first in range(0, 25, 5):
            await keep(blocks, noted[first : first + 5])

        pages = await read_pages(history, CallFilter("default"))

    assert [len(page) for page in pages] == [11, 11, 3]
    assert [call_id for page in pages for call_id in page] == [call.id for call in reversed(noted)]


async def test_what_lies_between_two_calls_is_read_for_few_at_once(tmp_path: Path) -> None:
    """The first and the last of each block, which are far from each other."""
    blocks, now = make_blocks(f"sqlite:///{tmp_path / 'ledger.db'}", BOUNDS), int(time.time() * 1000)
    async with opened(blocks, 1e9) as history:
        for block in range(20):
            sizes = [("ann", 10), *[("bob", 50_000)] * 40, ("ann", 10)]
            moment = now - 60_000 + block * 3000
            await keep(blocks, [note(moment, at, caller, size) for at, (caller, size) in enumerate(sizes)])
        tracemalloc.start()
        try:
            pages = await read_pages(history, CallFilter("default", caller="ann"))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert [len(page) for page in pages] == [40]
    assert peak < 20_000_000  # Of 40 MB


async def test_others_run_while_a_long_page_is_made(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand calls take long enough for others to notice."""
    blocks, now, turns = make_blocks(store, BOUNDS), int(time.time() * 1000), 0
    made, make_entry = Counter[int](), listing.make_entry

    async def take_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def make(*given: Any) -> Any:
        made[turns] += 1
        return make_entry(*given)

    monkeypatch.setattr(listing, "make_entry", make)
    async with opened(blocks, 1e9) as history:
        for first in range(0, 1000, 250):
            await keep(blocks, [note(now + number, number, "ann", 10) for number in range(first, first + 250)])
        others = asyncio.create_task(take_turns())

        pages = await read_pages(history, CallFilter("default"))

        others.cancel()
    assert [len(page) for page in pages] == [1000]
    assert max(made.values()) <= 64
