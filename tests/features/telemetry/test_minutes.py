"""The last two hours are kept, minute by minute."""

import asyncio
from dataclasses import dataclass, field

import pytest

from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.per_minute import FailingTool, Minutes
from sidecall.kernel.executors.base import Occupancy
from tests.kit.virtual_time import running

pytestmark = pytest.mark.virtual_time


@dataclass
class Room:
    """Stand for what lets calls in."""

    occupancy: Occupancy = field(default_factory=Occupancy)


async def test_a_minute_tells_what_happened_in_it() -> None:
    """Nothing of before; and how full the server was when it ended."""
    metrics, room = Metrics(), Room()
    metrics.tally("add").end("success", 0.2, 0.0)
    minutes = Minutes(metrics, room, running().time)
    minutes.end_one()

    await asyncio.sleep(60)
    for _ in range(3):
        metrics.tally("add").end("success", 0.2, 0.0)
    metrics.tally("add").end("timeout", 20.0, 0.0)
    metrics.tally("find").end("approval_required", 0.2, 0.0)
    metrics.tally("find").refuse("overloaded")
    room.occupancy = Occupancy(10, 7, 3)
    minutes.end_one()

    told = minutes.past[1].model_dump(exclude={"until"})
    assert told == {
        "seconds": 60.0,
        "calls": 6,
        "outcomes": {"success": 3, "timeout": 1, "approval_required": 1, "overloaded": 1},
        "failed": 2,
        "refused": 1,
        "failing": [{"tool": "add", "kind": "timeout", "calls": 1}, {"tool": "find", "kind": "overloaded", "calls": 1}],
        "running": 7,
        "queued": 3,
        "p50_ms": 193.75,
        "p95_ms": 25000.0,
        "p99_ms": 29000.0,
    }


async def test_a_quiet_minute_tells_nothing() -> None:
    """And not that calls took no time."""
    minutes = Minutes(Metrics(), Room(), running().time)
    minutes.end_one()

    [quiet] = minutes.past
    assert (quiet.calls, quiet.outcomes, quiet.failing, quiet.p50_ms, quiet.p99_ms) == (0, {}, [], None, None)


async def test_the_minute_that_has_not_ended_can_be_read() -> None:
    """As often as somebody asks; each begins where the one before ended."""
    metrics = Metrics()
    minutes = Minutes(metrics, Room(), running().time)
    await asyncio.sleep(20)
    metrics.tally("add").end("success", 0.2, 0.0)

    read = [minutes.read_this() for _ in range(2)]
    minutes.end_one()
    await asyncio.sleep(5)

    assert [(one.calls, one.seconds) for one in read] == [(1, 20.0)] * 2
    assert (minutes.read_this().calls, minutes.read_this().seconds) == (0, 5.0)


async def test_two_hours_are_kept_and_no_more() -> None:
    """Once a minute, until it is closed; each minute in as much room as any other."""
    metrics = Metrics()
    minutes = Minutes(metrics, Room(), running().time)
    minutes.open()
    await asyncio.sleep(30)
    for minute in range(130):
        for tool in range(20):
            metrics.tally(f"tool_{tool}").end("timeout" if tool > minute % 2 else "tool_error", 1.0, 0.0)
        await asyncio.sleep(60)
    kept = list(minutes.past)
    await minutes.close()
    await asyncio.sleep(600)

    assert (len(kept), len(minutes.past)) == (120, 120)
    assert {(minute.calls, len(minute.failing)) for minute in kept} == {(20, 10)}
    assert kept[-1].until == minutes.past[-1].until


async def test_what_fails_most_comes_first() -> None:
    """Of ten rows."""
    metrics = Metrics()
    minutes = Minutes(metrics, Room(), running().time)
    for number in range(12):
        for _ in range(number + 1):
            metrics.tally(f"tool_{number}").refuse("overloaded")

    failing = minutes.read_this().failing

    assert failing[0] == FailingTool(tool="tool_11", kind="overloaded", calls=12)
    assert [one.calls for one in failing] == [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]
