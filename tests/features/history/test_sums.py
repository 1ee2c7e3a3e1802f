"""Sums say what the calls say, in each order of writing and each store."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from sidecall.features.history.history import History
from sidecall.features.history.memory_store import HistoryBounds
from sidecall.features.history.packing import read_end
from sidecall.features.history.pending_calls import NotedCall
from sidecall.features.history.rollups import HOUR, SummaryPart, to_milliseconds
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.ledger.open_ledger import open_history
from sidecall.kernel.ports.call_entry import CallFilter, to_datetime
from sidecall.kernel.ports.observer import Outcome
from tests.features.history.made import keep, make_blocks, note_at, opened

EVER = 1e9
OUTCOMES: Sequence[Outcome] = ("success", "success", "success", "timeout", "tool_error", "cancelled")
PARTS: Sequence[SummaryPart] = ("name", "status", "kind", "caller", "hour")


def make_calls(chance: random.Random, many: int, hours: int) -> list[NotedCall]:
    """Make calls of the last so many hours, each in the middle of its hour."""
    this_hour = int(time.time()) // HOUR
    return [
        note_at(
            (this_hour - chance.randrange(1, hours)) * HOUR + HOUR / 2,
            number,
            caller=chance.choice(("ann", "bob", "eve")),
            outcome=chance.choice(OUTCOMES),
            seconds=chance.lognormvariate(-4, 3) % 1000,
        )
        for number in range(many)
    ]


def hour_of(call: NotedCall) -> int:
    """Return the hour in which a call came."""
    return to_milliseconds(call.id) // 1000 // HOUR


def value_of(call: NotedCall, part: SummaryPart) -> str | None:
    """Return what a call is counted by."""
    status, kind = read_end(call.outcome)
    when = to_datetime(hour_of(call) * HOUR).isoformat().replace("+00:00", "Z")
    values = {"name": call.tool.name, "status": status, "kind": kind, "caller": call.caller.subject, "hour": when}
    return values[part]


def count(calls: Sequence[NotedCall], part: SummaryPart) -> dict[str | None, tuple[int, int]]:
    """Count calls and failures by hand."""
    found = [(value_of(call, part), call.outcome != "success") for call in calls]
    many, failed = Counter(value for value, _ in found), Counter(value for value, is_error in found if is_error)
    return {value: (number, failed[value]) for value, number in many.items()}


async def ask(
    history: History, part: SummaryPart, since: int | None = None, until: int | None = None
) -> dict[str | None, tuple[int, int]]:
    """Ask for the calls and failures of these hours."""
    ends = [None if hour is None else float(hour * HOUR) for hour in (since, until)]
    found = await history.summarize([part], CallFilter("default", since=ends[0], until=ends[1]))
    return {group.value: (group.calls, group.errors) for group in found.groups}


def spans(calls: Sequence[NotedCall], chance: random.Random) -> Iterator[tuple[int, int]]:
    """Choose spans of hours: some within a day, some over several, and all."""
    first, last = min(map(hour_of, calls)), max(map(hour_of, calls))
    yield first, last + 1
    for length in (1, 5, 24, 30, 48, 60):
        since = chance.randrange(first, last)
        yield since, since + length


@pytest.mark.parametrize("seed", [1, 2])
async def test_sums_are_those_of_the_calls(store: str, seed: int) -> None:
    """Over any hours, after many writes and some restarts."""
    chance = random.Random(seed)
    calls = make_calls(chance, 300, 100)
    bounds = HistoryBounds(EVER, 10_000, 10_000_000)
    blocks = make_blocks(store, bounds)
    for start in range(0, 300, 100):
        async with opened(blocks, EVER):
            for at in range(start, start + 100, 25):
                await keep(blocks, calls[at : at + 25])
        if store != "memory://":
            blocks = make_blocks(store, bounds)

    async with opened(blocks, EVER) as history:
        for part in PARTS:
            assert await ask(history, part) == count(calls, part)
            for since, until in spans(calls, chance):
                wanted = [call for call in calls if since <= hour_of(call) < until]
                assert await ask(history, part, since, until) == count(wanted, part)
        listed = (await history.list(CallFilter("default"), 1000, None)).calls
        total = (await history.summarize(["name"], CallFilter("default"))).total
    assert (len(listed), total.calls) == (300, 300)
    longest = max(call.seconds for call in calls) * 1000
    assert 0 < (total.p50_ms or 0) < (total.p95_ms or 0) < longest * 1.2


async def test_sums_of_hours_that_are_forgotten_are_forgotten(store: str) -> None:
    """Also of those of a day of which a part is kept, and nothing of them stays."""
    ttl = 40 * HOUR
    calls = make_calls(random.Random(3), 200, 100)
    blocks = make_blocks(store, HistoryBounds(ttl, 10_000, 10_000_000))
    kept = [call for call in calls if hour_of(call) >= int(time.time() - ttl) // HOUR]
    async with opened(blocks, ttl) as history:
        await keep(blocks, calls)
        before = {part: await ask(history, part) for part in PARTS}
        while await blocks.forget(time.time()):
            pass
        after = {part: await ask(history, part) for part in PARTS}

    expected = {part: count(kept, part) for part in PARTS}
    assert len(kept) < len(calls)
    assert before == after == expected


async def test_nothing_is_left_of_what_is_forgotten(store: str) -> None:
    """Of days as of hours; a call that came to its hour late goes with the next."""
    database = open_history(store)
    if database is None:
        pytest.skip("what is in memory has no tables")
    blocks = SqlBlocks(database, HistoryBounds(40 * HOUR, 10_000, 10_000_000))
    async with opened(blocks, EVER):
        await keep(blocks, make_calls(random.Random(4), 50, 100))
        now = time.time() + 200 * HOUR
        while await blocks.forget(now):
            pass
        left = [await database.read("find_oldest_history_counts", unit) for unit in ("hour", "day")]
        assert [row[0] for rows in left for row in rows] == [None, None]
        assert await database.read("measure_history") == [(0, 0)]
