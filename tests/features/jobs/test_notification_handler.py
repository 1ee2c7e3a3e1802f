"""What happens to a call at one server is heard at the others at once, though none of them looks by itself."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import asyncpg
import pytest

from sidecall import ToolContext, tool
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.errors import CallEnded
from sidecall.features.jobs.submission import Submission
from sidecall.kernel.core.invocation import CallRequest, new_invocation_id
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.ports.call_entry import CallEntry
from tests.features.jobs.fleet import Member, Place, _nobody_looks, open_fleet, place
from tests.kit.postgres import cluster, emptied_url, postgres_url
from tests.kit.waiting import until

__all__ = ["_nobody_looks", "cluster", "emptied_url", "place", "postgres_url"]
pytestmark = pytest.mark.usefixtures("_nobody_looks")

GO: list[asyncio.Event] = []
BEGUN: list[str] = []
ENDS: list[str] = []


@tool
async def hold() -> str:
    """Wait until it may end."""
    BEGUN.append("hold")
    try:
        await GO[0].wait()
    except asyncio.CancelledError:
        ENDS.append("cancelled")
        raise
    return "held"


@tool
async def count(most: int, pause: int, context: ToolContext) -> str:
    """Count, and wait for a moment after each so many."""
    for number in range(1, most + 1):
        context.report_progress(number, most)
        if number % pause == 0:
            await asyncio.sleep(0.02)
    return "counted"


@pytest.fixture
async def fleet(place: Place) -> AsyncIterator[list[Member]]:
    """Give three servers."""
    GO[:] = [asyncio.Event()]
    BEGUN.clear()
    ENDS.clear()
    async with open_fleet(place, [(hold, count)] * 3) as members:
        yield members
        GO[0].set()


async def read(member: Member, entry: CallEntry) -> list[tuple[str, int]]:
    """Watch a call to its end; return what its tool has said, and how often its status changed."""
    heard: list[tuple[str, bytes]] = []
    async with aclosing(member.jobs.watch(entry)) as sights, asyncio.timeout(30):
        async for sight in sights:
            for happening in () if isinstance(sight, CallEntry) else sight or ():
                happening.write(lambda kind, body, _: heard.append((kind, body)) or b"")
    return [(kind, int(body.split(b'"done":')[1].split(b",")[0]) if kind == "progress" else 0) for kind, body in heard]


async def test_a_call_is_cancelled_at_another_server(fleet: list[Member]) -> None:
    """Who cancels it hears its end."""
    entry = await fleet[0].submit("hold")
    await until(lambda: BEGUN == ["hold"])

    ended = await asyncio.wait_for(fleet[1].jobs.cancel(entry.id, "default"), 30)
    with pytest.raises(CallEnded):
        await fleet[2].jobs.cancel(entry.id, "default")

    assert (ended.status, ENDS) == ("cancelled", ["cancelled"])


async def test_a_call_is_cancelled_that_begins_at_this_moment(fleet: list[Member]) -> None:
    """One server cancels it, which it found queued, and another begins it before that is written."""
    entry = await fleet[0].submit("hold")
    await until(lambda: BEGUN == ["hold"])
    as_it_was = entry.model_copy(update={"status": "queued"})

    is_told = await fleet[1].jobs._cancel_elsewhere(as_it_was, "ann")
    ended = await fleet[1].jobs.wait(entry, 30)
    again = await fleet[2].jobs._cancel_elsewhere(as_it_was, "ann")

    assert (is_told, ended.status, ENDS, again) == (True, "cancelled", ["cancelled"], False)


async def test_a_call_is_cancelled_between_its_claim_and_its_beginning(
    fleet: list[Member], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server that has claimed it hears of it before it runs there, and looks for it once more."""
    owner = fleet[0].jobs
    claim, told = owner._reconciler._queue.claim, []

    async def claim_late(*args: Any) -> Any:
        taken = await claim(*args)
        for one in taken:
            entry = await fleet[1].jobs.get(one.record.id, "default")
            told.append((entry.status, await fleet[1].jobs._cancel_elsewhere(entry, "ann")))
            await until(lambda: owner._reconciler._heard_cancel)
        return taken

    monkeypatch.setattr(owner._reconciler._queue, "claim", claim_late)
    for other in fleet[1:]:
        monkeypatch.setattr(other.jobs._reconciler, "note_queued", lambda: None)
    request = CallRequest(ToolCall(name="hold", args={}, id="1"))
    record = CallRecord.of(request, new_invocation_id())
    accepted = await owner._accept(record, Submission(), begins=False)
    assert accepted is not None

    ended = await fleet[2].jobs.wait(accepted.entry, 30)

    assert (told, ended.status, ended.message is None) == ([("running", True)], "cancelled", False)


async def test_its_end_is_heard_at_the_others(fleet: list[Member]) -> None:
    """The client that waits there is answered."""
    entry = await fleet[0].submit("hold")
    waiting = [asyncio.ensure_future(member.jobs.wait(entry, 30)) for member in fleet]
    await asyncio.sleep(0.1)

    GO[0].set()

    assert [ended.status for ended in await asyncio.gather(*waiting)] == ["succeeded"] * 3


@pytest.mark.parametrize(("most", "pause"), [(1, 1), (7, 7), (100, 10), (600, 50)])
async def test_all_that_its_tool_says_is_read_at_the_others(fleet: list[Member], most: int, pause: int) -> None:
    """In its order, and each thing once, whether one watches from its beginning or comes after its end."""
    entry = await fleet[0].submit("count", most=most, pause=pause)
    said = [("progress", number) for number in range(1, most + 1)]

    during = await asyncio.gather(*(read(member, entry) for member in fleet[:2]))
    after = await read(fleet[2], entry)

    for heard in (*during, *([after] if most <= 250 else [])):
        assert [each for each in heard if each[0] == "progress"] == said
        assert [kind for kind, _ in heard if kind == "status"] in (["status"] * 2, ["status"] * 3)  # Perhaps queued.
    assert ("progress", most) in after


async def test_what_is_lost_with_a_connection_is_looked_for_once_it_is_back(place: Place, fleet: list[Member]) -> None:
    """An end that was told to nobody."""
    entry = await fleet[0].submit("hold")
    waiting = asyncio.ensure_future(fleet[1].jobs.wait(entry, 30))
    await asyncio.sleep(0.05)
    await place.disconnect(fleet[1])

    GO[0].set()

    assert (await waiting).status == "succeeded"


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
async def test_what_others_say_is_looked_at_and_not_believed(place: Place, fleet: list[Member]) -> None:
    """Who may connect to the database, and read none of its tables, cancels nothing."""
    entry = await fleet[0].submit("hold")
    await until(lambda: fleet[0].running + fleet[1].running + fleet[2].running == 1)
    connection = await asyncpg.connect(place.url)
    channel = fleet[0].ledger.notifications._channel  # type: ignore[attr-defined]
    await connection.execute("SELECT pg_notify($1, $2)", channel, f"forged x{entry.id} c{entry.id} p{entry.id} q m")
    await connection.close()
    await asyncio.sleep(0.2)

    assert (await fleet[1].jobs.get(entry.id, "default")).status == "running"
    assert ENDS == []
