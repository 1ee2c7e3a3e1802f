"""Calls that have ended are forgotten when they are old or many, and none that somebody may still ask for."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.errors import KeyReused, UnknownCall
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import Acceptance, CallCompletion
from sidecall.features.jobs.retention import CallBounds
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.webhooks.queue import SqlCallbacks
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.database import Database
from tests.kit.ledgers import Clock, Place

NOW = 1_000_000.0
TTLS = {"ttl": 100.0, "key_ttl": 1000.0, "approval_ttl": 500.0}
DONE = CallCompletion("succeeded", None, ToolMessage("done"))


@pytest.fixture
async def database(ledger: Place) -> Database:
    """Give the database of a ledger."""
    return await ledger.open_database()


@pytest.fixture
def calls(database: Database, clock: Clock) -> SqlCalls:
    """Give what keeps any number of calls for 100 s."""
    return SqlCalls(database, CallBounds(**TTLS), clock)


async def begin(
    calls: SqlCalls,
    id: str,
    *,
    args: Any = None,
    key: float | None = None,
    of: str | None = None,
    url: str | None = None,
) -> None:
    """Accept a call whose key, or that of another, is known for so many seconds."""
    call = ToolCall(name="work", args=args or {}, id=id)
    record = CallRecord(id=id, created_at=datetime.fromtimestamp(NOW, UTC), tool_call=call, caller=Caller("ann"))
    known = None if key is None else CallKey(f"key of {of or id}", "same", NOW + key)
    await calls.accept(record, Acceptance("me", key=known, callback_url=url))


async def end(calls: SqlCalls, *ids: str, **members: Any) -> None:
    """Accept calls and end them."""
    for one in ids:
        await begin(calls, one, **members)
        await calls.finish(one, 1, DONE)


async def list_ids(calls: SqlCalls) -> str:
    """List what is there, oldest first."""
    page = await calls.list(CallFilter("default"))
    return " ".join(reversed([entry.id for entry in page.calls]))


async def test_a_call_is_kept_until_nobody_may_ask_for_it(calls: SqlCalls, database: Database, clock: Clock) -> None:
    """Neither by its key nor its approval, and all listeners have been told."""
    await end(calls, "a plain")
    await end(calls, "b keyed", key=300.0)
    await begin(calls, "c held")
    await calls.hold("c held", 1, "approval")
    await calls.finish("c held", None, DONE)
    await end(calls, "d told", url="https://hooks.example.com/")
    await begin(calls, "e open", key=1.0)

    left = {}
    for second in (99.0, 100.0, 299.0, 300.0, 499.0, 500.0, 5000.0):
        clock.now = NOW + second
        assert await calls.kept.forget() is False
        left[second] = await list_ids(calls)
    callbacks = SqlCallbacks(database)
    [due] = await callbacks.list_due(clock.now, 10, 10)
    await callbacks.settle(due, None)
    await calls.kept.forget()

    assert left == {
        99.0: "a plain b keyed c held d told e open",
        100.0: "b keyed c held d told e open",
        299.0: "b keyed c held d told e open",
        300.0: "c held d told e open",
        499.0: "c held d told e open",
        500.0: "d told e open",
        5000.0: "d told e open",
    }
    assert await list_ids(calls) == "e open"
    with pytest.raises(UnknownCall):
        await calls.get("a plain", "default")


async def test_one_whose_end_cannot_be_told_is_not_kept_for_ever(calls: SqlCalls, clock: Clock) -> None:
    """A week is more than all tries take."""
    await end(calls, "a", url="https://hooks.example.com/")
    clock.now = NOW + 7 * 86_400 - 1.0
    await calls.kept.forget()
    before = await list_ids(calls)
    clock.now += 1.0
    await calls.kept.forget()

    assert (before, await list_ids(calls)) == ("a", "")


async def test_a_key_is_free_when_its_call_is_forgotten(calls: SqlCalls, clock: Clock) -> None:
    """And stands for that call until then."""
    key = CallKey("key of a", "same", NOW + 300.0)
    await end(calls, "a", key=300.0)
    clock.now = NOW + 299.0
    await calls.kept.forget()
    found = await calls.find(key)
    clock.now = NOW + 300.0
    await calls.kept.forget()

    assert found is not None
    assert found.message == DONE.message
    assert await calls.find(key) is None


@pytest.mark.parametrize("way", ["runs", "waits for a person", "is queued"])
async def test_the_time_of_a_key_begins_with_the_end_of_its_call(
    calls: SqlCalls, database: Database, clock: Clock, way: str
) -> None:
    """Its call may run or wait for longer than that, and is not accepted again meanwhile."""
    key = CallKey("key of a", "same", NOW + 300.0)
    await begin(calls, "a", key=300.0)
    if way == "waits for a person":
        await calls.hold("a", 1, "approval")
    elif way == "is queued":
        await calls.release("a", 1)

    clock.now = NOW + 5000.0
    await begin(calls, "b", key=300.0, of="a")
    known = await calls.find(key)
    assert (known is not None and known.id, await list_ids(calls)) == ("a", "a")
    with pytest.raises(KeyReused):
        await calls.find(CallKey("key of a", "other", NOW + 300.0))

    if way == "is queued":
        assert await SqlCallQueue(database).cancel("a", CallCompletion("cancelled", "cancelled", ToolMessage("gone")))
    else:
        await calls.finish("a", 1 if way == "runs" else None, DONE)
    ended_at = (await calls.get("a", "default")).ended_at
    assert ended_at is not None
    found = {}
    for second in (299.0, 301.0):
        clock.now = ended_at.timestamp() + second
        found[second] = await calls.find(key) is not None
    await begin(calls, "b", key=300.0, of="a")

    assert found == {299.0: True, 301.0: False}
    assert await list_ids(calls) == "a b"


async def test_a_call_is_kept_as_long_as_its_key_is_known(calls: SqlCalls, clock: Clock) -> None:
    """Also where it ran for longer than that."""
    await begin(calls, "a", key=300.0)
    clock.now = NOW + 5000.0
    await calls.finish("a", 1, DONE)

    left = {}
    for second in (5299.0, 5300.0):
        clock.now = NOW + second
        await calls.kept.forget()
        left[second] = await list_ids(calls)

    assert left == {5299.0: "a", 5300.0: ""}


async def test_the_oldest_go_where_there_are_too_many(database: Database, clock: Clock) -> None:
    """A minute after their end at the earliest, so that their answers can be fetched."""
    calls = SqlCalls(database, CallBounds(most=3, **TTLS), clock)
    for name in ("a", "b", "c"):
        await end(calls, name)
        clock.now += 1.0
    assert calls.kept.is_full
    clock.now = NOW + 59.0
    await calls.kept.forget(1)
    young = await list_ids(calls)
    clock.now = NOW + 63.0
    await calls.kept.forget()
    enough = await list_ids(calls)
    await calls.kept.forget(1)

    assert (young, enough, await list_ids(calls)) == ("a b c", "a b c", "b c")
    assert not calls.kept.is_full


async def test_the_largest_bound_is_that_of_bytes(database: Database, clock: Clock) -> None:
    """What is sent and what is answered count, as UTF-8."""
    calls = SqlCalls(database, CallBounds(most_bytes=100_000, **TTLS), clock)
    await end(calls, "a")
    await begin(calls, "b", args={"text": "ü" * 30_000})
    small = calls.kept.is_full
    await calls.finish("b", 1, CallCompletion("succeeded", None, ToolMessage("ü" * 30_000)))
    large = calls.kept.is_full
    clock.now += 61.0
    await calls.kept.forget(1)

    assert (small, large, calls.kept.is_full) == (False, True, False)
    assert await list_ids(calls) == ""


async def test_what_is_promised_is_kept_though_there_is_no_room(database: Database, clock: Clock) -> None:
    """Keys, approvals, and calls that have not ended."""
    calls = SqlCalls(database, CallBounds(most=3, **TTLS), clock)
    await end(calls, "a", key=300.0)
    await begin(calls, "b")
    await begin(calls, "c")
    await calls.hold("c", 1, "approval")
    await calls.finish("c", None, DONE)
    clock.now = NOW + 299.0

    assert await calls.kept.forget(1) is False
    assert calls.kept.is_full
    assert await list_ids(calls) == "a b c"


async def test_what_was_refused_takes_no_room(database: Database, clock: Clock) -> None:
    """Neither a call that was forgotten before it began, nor one whose key is known."""
    calls = SqlCalls(database, CallBounds(most=2, **TTLS), clock)
    await begin(calls, "a")
    await calls.forget("a", 1)
    await begin(calls, "b", key=300.0)
    await begin(calls, "c", key=300.0, of="b")

    assert not calls.kept.is_full
    assert await list_ids(calls) == "b"


async def test_many_go_in_steps_and_several_servers_do_not_harm_each_other(database: Database, clock: Clock) -> None:
    """Each counts what others have kept when it looks first."""
    bounds = CallBounds(most=300, **TTLS)
    servers = [SqlCalls(database, bounds, clock) for _ in range(2)]
    await asyncio.gather(*(end(servers[0], f"{number:03}") for number in range(300)))
    known = [server.kept.is_full for server in servers]
    await servers[1].kept.forget()
    known.append(servers[1].kept.is_full)
    clock.now = NOW + 100.0
    more = await asyncio.gather(*(server.kept.forget() for server in servers))
    while await servers[0].kept.forget():
        pass

    assert known == [True, False, True]
    assert True in more
    assert await list_ids(servers[0]) == ""


async def test_a_call_is_remembered_with_its_end(calls: SqlCalls, clock: Clock) -> None:
    """In one step, unless its key is known; it is kept as others are."""
    at = datetime.fromtimestamp(NOW, UTC)
    call = ToolCall(name="work", args={}, id="1")
    known = Acceptance("me", key=CallKey("key", "same", NOW + 300))
    clock.now = NOW + 1
    accepted = [
        await calls.record(CallRecord(id=name, created_at=at, tool_call=call, caller=Caller("ann")), how, DONE)
        for name, how in (("a", known), ("b", known), ("c", Acceptance("me")))
    ]
    found = await calls.get("a", "default")
    by_key = await calls.find(CallKey("key", "same", NOW))

    assert [None if call is None else call.entry.id for call in accepted] == ["a", None, "c"]
    assert accepted[0] is not None
    assert accepted[0].entry.model_dump() == found.model_dump()
    assert (found.status, found.duration_ms, found.message, by_key) == ("succeeded", 1000, DONE.message, found)
    assert not await calls.finish("a", 1, DONE)

    clock.now = NOW + 201
    await calls.kept.forget()
    assert await list_ids(calls) == "a"
    clock.now = NOW + 301
    await calls.kept.forget()
    assert await list_ids(calls) == ""
