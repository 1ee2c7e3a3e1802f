"""Free servers of one database, or workers of one file, take the calls that others were sent."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from sidecall import StructuredTool, tool
from sidecall.features.jobs import recovery
from sidecall.features.jobs.recovery import FairShare
from sidecall.features.jobs.submission import JobLimits
from tests.features.jobs.fleet import Member, Place, _nobody_looks, open_fleet, place
from tests.kit.postgres import cluster, emptied_url, postgres_url
from tests.kit.waiting import until

__all__ = ["_nobody_looks", "cluster", "emptied_url", "place", "postgres_url"]
GO: list[asyncio.Event] = []


@tool
async def hold() -> str:
    """Wait until it may end."""
    await GO[0].wait()
    return "held"


@tool
async def rare() -> str:
    """Wait likewise, at servers that have this tool."""
    await GO[0].wait()
    return "held"


@dataclass
class _Standing:
    """A server that runs so many calls, beside so many others."""

    running: int = 0
    others: int = 2
    is_shared: bool = True
    heartbeat: Any = field(init=False)

    def __post_init__(self) -> None:
        self.heartbeat = self


@pytest.mark.parametrize(
    ("own", "others", "queued", "running", "taken"),
    [
        (0, 2, 30, 0, 10),
        (1, 2, 29, 1, 9),
        (1, 2, 1, 1, 0),
        (0, 2, 1, 2, 1),
        (1, 2, 1, 3, 1),
        (12, 2, 3, 20, 0),
        (0, 2, 0, 50, 0),
        (0, 1, 7, 0, 4),
        (3, 1, 2, 3, 0),
        (0, 9, 1, 0, 1),
    ],
)
def test_each_takes_its_share(own: int, others: int, queued: int, running: int, taken: int) -> None:
    """Of all that is queued or runs, without what it runs already."""
    standing: Any = _Standing(own, others)

    assert FairShare(standing, standing).find(queued, running) == taken


def test_what_others_leave_is_taken_after_a_moment() -> None:
    """One of them may be full, or just be ending."""
    now = [0.0]
    standing: Any = _Standing(9)
    share = FairShare(standing, standing, clock=lambda: now[0])

    found = [share.find(4, 9)]
    asks_again = share.pause
    now[0] = 0.09
    found.append(share.find(4, 9))
    now[0] = 0.11
    found.append(share.find(4, 9))
    pauses = [asks_again, share.pause]
    share.rest()

    assert (found, [*pauses, share.pause]) == ([0, 0, 2], [0.1, 0.1, None])


async def spread(
    place: Place,
    tools: Sequence[Sequence[StructuredTool]],
    send: Callable[[Member, int], Any],
    limits: Callable[[int], JobLimits] = lambda _: JobLimits(),
    count: int = 30,
) -> tuple[list[int], Counter[str]]:
    """Send calls to the first server; return how many each runs once all do, and how they have ended."""
    GO[:] = [asyncio.Event()]
    async with open_fleet(place, tools, limits) as fleet:
        entries = [await send(fleet[0], number) for number in range(count)]
        await until(lambda: sum(member.running for member in fleet) == count)
        found = [member.running for member in fleet]
        GO[0].set()
        ended = await asyncio.gather(*(fleet[0].jobs.wait(entry, 30) for entry in entries))
    return found, Counter(entry.status for entry in ended)


@pytest.mark.usefixtures("_nobody_looks")
async def test_calls_that_one_server_is_sent_run_at_all(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """About as many at each, each once; none is taken since others were slow."""
    monkeypatch.setattr(recovery, "_LEFT", 5.0)
    found, ended = await spread(place, [(hold,)] * 3, lambda member, _: member.submit("hold"))

    assert (sum(found), max(found) <= 13, ended) == (30, True, {"succeeded": 30})


@pytest.mark.usefixtures("_nobody_looks")
@pytest.mark.parametrize(
    ("name", "context", "shares", "where"),
    [
        ("rare", {}, True, 0),
        ("hold", {"conversation_id": "c"}, True, 0),
        ("hold", {}, False, 0),
    ],
)
async def test_some_run_where_they_were_sent(
    place: Place, name: str, context: dict[str, Any], shares: bool, where: int
) -> None:
    """Of a tool that the others lack, for the files of a conversation, and where the operator says so."""
    found, ended = await spread(
        place,
        [(hold, rare), (hold,), (hold,)],
        lambda member, _: member.submit(name, context),
        lambda _: JobLimits(shares=shares),
        count=5,
    )

    assert (found[where], ended) == (5, {"succeeded": 5})


async def test_a_full_server_leaves_calls_to_others(place: Place) -> None:
    """As many as each has room for."""
    found, ended = await spread(
        place,
        [(hold,)] * 3,
        lambda member, _: member.submit("hold"),
        lambda number: JobLimits(running=(2, 3, 40)[number]),
        count=20,
    )

    assert (found, ended) == ([2, 3, 15], {"succeeded": 20})
