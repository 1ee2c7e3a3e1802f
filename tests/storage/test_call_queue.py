"""Queued calls are handed out fairly, though what is queued is not looked up for each of them."""

import asyncio
from collections.abc import Sequence

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance, CallDecision
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.state_machine import end_cancelled
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.sender import Sender
from sidecall.storage.database import Database
from tests.kit.ledgers import Clock, Place

CALL = ToolCall(name="a", args={}, id="1")


class Line:
    """Calls that are queued, and a queue whose clock stands still."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self.queue = SqlCallQueue(database, clock)
        self._calls = SqlCalls(database)
        self._count = 0

    async def add(self, *names: str, is_noted: bool = False) -> None:
        """Queue calls, whose names begin with that of their caller."""
        for name in names:
            self._count += 1
            request = CallRequest(ToolCall(name=name, args={}, id="1"), Sender(caller=Caller(subject=name[0])))
            await self._calls.accept(CallRecord.of(request, f"{self._count:04}"), Acceptance())
            if is_noted:
                self.queue.note(f"{self._count:04}", "default", name[0])

    async def take(self, most: int, owner: str = "us") -> Sequence[str]:
        """Claim calls, and name them."""
        return [claimed.record.tool_call.name for claimed in await self.queue.claim(owner, most)]


async def begin(calls: SqlCalls, *ids: str) -> None:
    """Accept calls that run at once."""
    for call_id in ids:
        await calls.accept(CallRecord.of(CallRequest(CALL), call_id), Acceptance(owner="us"))


@pytest.fixture
async def line(ledger: Place, clock: Clock) -> Line:
    """Give an empty one."""
    return Line(await ledger.open_database(), clock)


async def test_callers_take_turns(line: Line) -> None:
    """Over several claims as well as in one."""
    await line.add("a1", "a2", "a3", "b1", "c1", "b2")

    assert [await line.take(2), await line.take(1), await line.take(9)] == [["a1", "b1"], ["c1"], ["a2", "b2", "a3"]]
    assert await line.take(1) == []


async def test_who_comes_anew_waits_for_a_moment_only(line: Line, clock: Clock) -> None:
    """A list of what is queued is good for a short while, then calls of others are in it."""
    await line.add("a1", "a2", "a3", "a4")
    assert await line.take(1) == ["a1"]
    await line.add("b1")

    before = await line.take(1)
    clock.now += 0.06
    after = await line.take(1)

    assert (before, after) == (["a2"], ["b1"])


async def test_what_was_listed_and_is_gone_is_made_up_for(line: Line, ledger: Place, clock: Clock) -> None:
    """Another server took some, and a person cancelled one: as many are begun as there is room for."""
    await line.add("a1", "a2", "a3", "a4", "a5", "a6", "a7")
    assert await line.take(1) == ["a1"]
    other = Line(await ledger.open_database(), clock)

    assert [await other.take(2, "them"), await line.take(2), await line.take(9)] == [
        ["a2", "a3"],
        ["a4", "a5"],
        ["a6", "a7"],
    ]


async def test_what_is_noted_is_handed_out_without_a_look(line: Line, clock: Clock) -> None:
    """After what was listed; what nobody has noted is found once the list is old, or at once if that is said."""
    await line.add("a1", "a2")
    assert await line.take(1) == ["a1"]
    await line.add("b1", is_noted=True)
    await line.add("b2")
    noted = await line.take(5)
    line.queue.look_again()
    looked_for = await line.take(5)
    await line.add("b3")
    before = await line.take(5)
    clock.now += 0.06

    assert (noted, looked_for, before, await line.take(5)) == (["a2", "b1"], ["b2"], [], ["b3"])


async def test_a_claimed_call_says_what_is_known_of_it(line: Line) -> None:
    """As an entry that was looked up would."""
    await line.add("a1")

    (claimed,) = await line.queue.claim("us", 5)

    assert claimed.describe is not None
    entry = claimed.describe()
    assert (entry.id, entry.name, entry.tool_call_id, entry.status, entry.attempt, entry.caller) == (
        *("0001", "a1", "1", "running", 1, "a"),
    )
    assert claimed.attempt == 1
    assert entry.started_at is not None
    assert entry.message is None


async def test_many_are_handed_out_once_each(line: Line, ledger: Place, clock: Clock) -> None:
    """To two servers that ask at the same time."""
    await line.add(*(f"{'abc'[number % 3]}{number}" for number in range(60)))
    other = Line(await ledger.open_database(), clock)

    taken = [await asyncio.gather(line.take(7), other.take(7, "them")) for _ in range(9)]

    names = [name for both in taken for each in both for name in each]
    assert sorted(names) == sorted(f"{'abc'[number % 3]}{number}" for number in range(60))


async def test_who_lets_a_call_wait_for_a_person_hears_that_it_was_cancelled(ledger: Place) -> None:
    """The cancellation may have gone to another server."""
    database = await ledger.open_database()
    calls, queue = SqlCalls(database), SqlCallQueue(database)
    await begin(calls, "wanted", "unwanted")
    await queue.cancel("unwanted", end_cancelled(CALL, "unwanted"))

    heard = [await calls.hold(call_id, 1, "approval") for call_id in ("wanted", "unwanted", "unknown")]

    assert heard == [False, True, False]
    assert [entry.id for entry in await queue.list_held_cancelled()] == ["unwanted"]


async def test_a_call_that_waits_again_keeps_what_was_said_and_hears_that_it_was_cancelled(ledger: Place) -> None:
    """Its end has what was said where it says nothing else; one that does not wait is left alone."""
    database = await ledger.open_database()
    calls, queue = SqlCalls(database), SqlCallQueue(database)
    await begin(calls, "held", "running")
    await calls.hold("held", 1, "approval")
    said = CallDecision("ada", reason="Yes.", asked_args="{}", args='{"b":1}')

    heard = [await calls.hold(call_id, None, "approval", said) for call_id in ("held", "running")]
    await queue.ask_to_cancel_held("held")
    await queue.ask_to_cancel_held("running")
    heard += [await calls.hold(call_id, None, "approval") for call_id in ("held", "running")]
    await calls.finish("held", None, end_cancelled(CALL, "held"))

    ended, other = [await calls.get(call_id, "default") for call_id in ("held", "running")]
    assert heard == [False, False, True, False]
    assert (ended.status, ended.decided_by, ended.args, ended.asked_args) == ("cancelled", "ada", {"b": 1}, {})
    assert (other.status, other.decided_by, await queue.list_cancelled("us")) == ("running", None, [])


async def test_who_queues_a_call_again_hears_that_it_was_cancelled(ledger: Place) -> None:
    """So does who begins it then, where the first did not hear that any more."""
    database = await ledger.open_database()
    calls, queue = SqlCalls(database), SqlCallQueue(database)
    await begin(calls, "wanted", "unwanted")
    await queue.cancel("unwanted", end_cancelled(CALL, "unwanted"))

    heard = [await calls.release(call_id, 1) for call_id in ("wanted", "unwanted", "unknown")]
    claimed = await queue.claim("them", 5)

    assert heard == [False, True, False]
    assert {one.record.id: one.is_unwanted for one in claimed} == {"wanted": False, "unwanted": True}
