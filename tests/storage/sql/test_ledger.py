"""A ledger in a file goes on where the one before it ended, however that was."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from sidecall import ToolCall, ToolMessage
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.ledger.ledger import LedgerBounds
from sidecall.features.ledger.sql_ledger import DatabaseLedger
from sidecall.kernel.core.context import ANONYMOUS
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.contents import TEXT
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.faulty import FaultyDatabase
from tests.kit.waiting import until

CALL = ToolCall(name="pay", args={"text": "ü\0"}, id="call_1")
RECORD = CallRecord.of(CallRequest(CALL), "invocation")
APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="Too much.")
DONE = ToolMessage(content="done")


@asynccontextmanager
async def opened(path: Path, **bounds: float) -> AsyncIterator[DatabaseLedger]:
    """Open the ledger of a file."""
    ledger = DatabaseLedger(SqliteDatabase(path, patience=0.1), LedgerBounds(**bounds), refuse)
    await ledger.open()
    try:
        yield ledger
    finally:
        await ledger.close()


async def test_what_was_kept_is_there_after_the_end(tmp_path: Path) -> None:
    """Calls that wait, their answers, and what was cut."""
    path = tmp_path / "ledger.db"
    async with opened(path) as ledger:
        asked = await ledger.approvals.ask(RECORD, CALL)
        key = await ledger.contents.keep("large", ANONYMOUS, TEXT)
    async with opened(path) as ledger:
        kept = await ledger.approvals.find(RECORD)
        await ledger.approvals.decide(asked.approval.id, APPROVE, "eve")
        await ledger.approvals.answer(asked.approval.id, DONE)
    async with opened(path) as ledger:
        answered = await ledger.approvals.get(asked.approval.id)
        content = await ledger.contents.get(key or "", ANONYMOUS)

    assert kept == asked
    assert (answered.approval.message, answered.call) == (DONE, None)
    assert (content.body, content.tenant) == (b"large", ANONYMOUS.tenant)


@pytest.mark.parametrize(
    ("decision", "kind", "told"),
    [
        (
            APPROVE,
            "outcome_unknown",
            "Error: the server ended while the call ran, so its outcome is unknown; it may have had effects.",
        ),
        (REJECT, "rejected", "Too much."),
    ],
)
async def test_a_call_that_had_no_answer_when_its_server_ended_gets_one(
    tmp_path: Path, decision: Decision, kind: str, told: str
) -> None:
    """It is never run a second time."""
    path = tmp_path / "ledger.db"
    async with opened(path) as ledger:
        asked = (await ledger.approvals.ask(RECORD, CALL)).approval
        await ledger.approvals.decide(asked.id, decision, "eve")
    async with opened(path) as ledger:
        found = await ledger.approvals.get(asked.id)
        with pytest.raises(ApprovalConflict):
            await ledger.approvals.decide(asked.id, APPROVE, "bo")

    message = found.approval.message
    assert message is not None
    assert (message.status, message.content, message.tool_call_id) == ("error", told, "call_1")
    assert message.response_metadata["error"]["kind"] == kind
    assert found.call is None


async def test_of_many_deciders_one_succeeds(tmp_path: Path) -> None:
    """Also where each asks the database by a way of its own."""
    async with AsyncExitStack() as stack:
        ledger = await stack.enter_async_context(opened(tmp_path / "ledger.db"))
        asked = (await ledger.approvals.ask(RECORD, CALL)).approval
        database = ledger.database
        ways = [SqlApprovals(database, str(number)) for number in range(20)]

        results = await asyncio.gather(
            *(way.decide(asked.id, APPROVE, str(number)) for number, way in enumerate(ways)), return_exceptions=True
        )
        found = (await ledger.approvals.get(asked.id)).approval

    conflicts = [result for result in results if isinstance(result, ApprovalConflict)]
    assert len(conflicts) == 19
    assert {error.message for error in conflicts} == {f"The approval was approved already, by {found.decided_by}."}


async def test_of_many_askers_one_makes_the_approval(tmp_path: Path) -> None:
    """The others find it."""
    async with opened(tmp_path / "ledger.db") as ledger:
        asked = await asyncio.gather(*(ledger.approvals.ask(RECORD, CALL) for _ in range(20)))

    assert len({record.approval.id for record in asked}) == 1


async def test_an_answer_is_kept_as_soon_as_it_can_be(tmp_path: Path) -> None:
    """The call ran, so the person who decided gets its answer at once."""
    path = tmp_path / "ledger.db"
    async with opened(path) as ledger:
        asked = (await ledger.approvals.ask(RECORD, CALL)).approval
        await ledger.approvals.decide(asked.id, APPROVE, "eve")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answered = await ledger.approvals.answer(asked.id, DONE)
        trouble = ledger.trouble
        meanwhile = await ledger.approvals.get(asked.id)
        other.execute("ROLLBACK")
        other.close()
        for _ in range(1500):
            kept = (await ledger.approvals.get(asked.id)).approval.message
            if kept is not None:
                break
            await asyncio.sleep(0.02)

    assert "another program has locked it" in (trouble or "")
    assert (answered.approval.message, meanwhile.is_running, kept) == (DONE, True, DONE)


async def test_a_cut_result_is_answered_without_its_whole_where_that_cannot_be_kept(tmp_path: Path) -> None:
    """The call has run, and what is left of its answer is worth more than none."""
    path = tmp_path / "ledger.db"
    async with opened(path) as ledger:
        path.unlink()

        assert await ledger.contents.keep("large", ANONYMOUS, TEXT) is None


async def test_what_has_expired_is_removed_from_the_file(tmp_path: Path) -> None:
    """Whether somebody asks or not."""
    path = tmp_path / "ledger.db"
    async with opened(path, approval_ttl=0.001, artifact_ttl=0.001) as ledger:
        await ledger.approvals.ask(RECORD, CALL)
        await ledger.contents.keep("large", ANONYMOUS, TEXT)
        await asyncio.sleep(0.01)
    async with opened(path):
        pass
    connection = sqlite3.connect(path)
    counts = [connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in _TABLES]
    left = connection.execute("SELECT status, size FROM approvals").fetchall()
    connection.close()

    assert counts == [(1,), (0,), (0,)]
    assert left == [("expired", 0)]  # Which lists show for an hour.


async def test_a_ledger_that_does_not_answer_at_the_start_begins_later(tmp_path: Path) -> None:
    """It registers its server, and answers the calls that were lost with the one before."""
    path = tmp_path / "ledger.db"
    async with opened(path) as ledger:
        asked = (await ledger.approvals.ask(RECORD, CALL)).approval
        await ledger.approvals.decide(asked.id, APPROVE, "eve")
    database = FaultyDatabase(SqliteDatabase(path))
    database.before["register_server"] = 1
    ledger = DatabaseLedger(database, LedgerBounds(), refuse)
    await ledger.open()
    begun = [len(await database.read("find_servers"))]
    await until(lambda: not ledger.is_behind)
    begun.append(len(await database.read("find_servers")))
    found = await ledger.approvals.get(asked.id)
    await ledger.close()

    assert begun == [0, 1]
    assert found.approval.message is not None
    assert found.approval.message.response_metadata["error"]["kind"] == "outcome_unknown"


_TABLES = ("approvals", "contents", "servers")
