"""Which of the servers that share a database count as ended."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from sidecall import ToolCall, ToolMessage
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.ledger.ledger import LedgerBounds
from sidecall.features.ledger.sql_ledger import DatabaseLedger
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.pipeline.format import refuse
from sidecall.storage.heartbeat import Heartbeat
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.ledgers import Clock

CALL = ToolCall(name="pay", args={"text": "7"}, id="call_1")
RECORD = CallRecord.of(CallRequest(CALL), "invocation")
APPROVE = Decision(decision="approve")


@pytest.fixture
async def database() -> AsyncIterator[SqliteDatabase]:
    """Give a database in memory."""
    made = SqliteDatabase()
    await made.open()
    yield made
    await made.close()


async def judges(heartbeat: Heartbeat) -> bool:
    """Return whether a server tells just now which others have ended; where it does, by the time of the database."""
    silent_since = await heartbeat.find_silence()
    assert silent_since is None or time.time() - 11 < silent_since < time.time() - 9
    return silent_since is not None


async def test_a_server_judges_others_once_they_could_speak(database: SqliteDatabase) -> None:
    """That is after it began, after it was late, and after the database was away."""
    clock = Clock()
    heartbeat = Heartbeat(database, "this", silence=10.0, clock=clock)
    found = []
    for clock.now in (0.0, 2.0, 4.0, 6.0, 8.0, 9.9, 10.0, 15.0, 15.1):
        if clock.now < 10:
            await heartbeat.beat()
        found.append(await judges(heartbeat))
    for clock.now in (16.0, 20.0, 24.0, 26.0):  # It was late.
        await heartbeat.beat()
        found.append(await judges(heartbeat))

    assert found == [False] * 6 + [True, False, False] + [False, False, False, True]


async def test_a_server_whose_database_was_away_gives_the_others_time() -> None:
    """They could not say that they live."""
    clock, database = Clock(), SqliteDatabase()
    await database.open()
    heartbeat = Heartbeat(database, "this", silence=10.0, clock=clock)
    for clock.now in (0.0, 4.0, 8.0, 12.0):
        await heartbeat.beat()
    before = await judges(heartbeat)
    await database.close()
    with pytest.raises(StoreUnavailable):
        await heartbeat.beat()
    await database.open()
    after = await judges(heartbeat)
    for clock.now in (13.0, 17.0, 21.0, 23.0):
        await heartbeat.beat()
    later = await judges(heartbeat)
    await database.close()

    assert (before, after, later) == (True, False, True)


async def test_a_late_answer_is_that_which_everybody_else_got(database: SqliteDatabase) -> None:
    """A server that was taken for ended and was only slow says what was written in its place."""
    slow, quick = SqlApprovals(database, "slow"), SqlApprovals(database, "quick")
    asked = (await slow.ask(RECORD, CALL)).approval
    await slow.decide(asked.id, APPROVE, "eve")
    await database.write("register_server", "slow", 100.0)

    alive = await quick.settle_lost(refuse, dead_since=99.0)
    settled = await quick.settle_lost(refuse, dead_since=100.0)
    told = await quick.get(asked.id)
    late = await slow.answer(asked.id, ToolMessage(content="done"))

    assert (alive, settled) == (0, 1)
    assert told.approval.message is not None
    assert told.approval.message.response_metadata["error"]["kind"] == "outcome_unknown"
    assert late.approval.message == told.approval.message == (await slow.get(asked.id)).approval.message


async def test_decided_calls_of_a_server_that_ended_are_answered_by_another(emptied_url: str) -> None:
    """Within the same time as calls that it ran."""
    ledger = DatabaseLedger(PostgresDatabase(emptied_url), LedgerBounds(), refuse, silence=0.5)
    await ledger.open()
    try:
        ended = SqlApprovals(ledger.database, "a server that has said nothing")
        asked = (await ended.ask(RECORD, CALL)).approval
        await ended.decide(asked.id, APPROVE, "eve")
        other = CallRecord.of(CallRequest(CALL.model_copy(update={"id": "call_2"})), "another")
        own = (await ledger.approvals.ask(other, other.tool_call)).approval
        await ledger.approvals.decide(own.id, APPROVE, "eve")
        async with asyncio.timeout(30):
            while (found := await ended.get(asked.id)).approval.message is None:  # noqa: ASYNC110  nobody tells
                await asyncio.sleep(0.02)
        alive = await ledger.approvals.get(own.id)
    finally:
        await ledger.close()

    assert found.approval.message is not None
    assert found.approval.message.response_metadata["error"]["kind"] == "outcome_unknown"
    assert alive.is_running


async def test_a_server_whose_clock_is_ahead_forgets_nothing_of_the_others(
    emptied_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither that they live, nor what they ask people: the clock of the database counts."""
    database = PostgresDatabase(emptied_url)
    await database.open()
    heartbeat = Heartbeat(database, "another")
    await heartbeat.beat()
    asked = (await SqlApprovals(database, "another").ask(RECORD, CALL)).approval
    told = time.time
    monkeypatch.setattr(time, "time", lambda: told() + 7200.0)
    ledger = DatabaseLedger(PostgresDatabase(emptied_url), LedgerBounds(), refuse)
    await ledger.open()
    try:
        servers = {row[0] for row in await database.read("find_servers")}
        found = await ledger.approvals.get(asked.id)
    finally:
        await ledger.close()
        await database.close()

    assert servers == {"another", ledger.owner}
    assert found.approval.status == "pending"
