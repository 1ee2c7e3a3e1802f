"""What was decided while the database broke off is found by the server that has decided it, once."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sidecall import ToolCall, ToolMessage
from sidecall.features.approvals.record import Decision
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.approvals.stores import OrphanedDecision
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Row
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.faulty import FaultyDatabase
from tests.kit.waiting import until

CALL = ToolCall(name="pay", args={}, id="call_1")
RECORD = CallRecord.of(CallRequest(CALL), "invocation")
APPROVE = Decision(decision="approve")
LONG = "x" * 20_000
# Longer than until an approval in doubt is looked for, or a change is tried again.
SOON = 1.5


class SlowDatabase(FaultyDatabase):
    """Another database, of whose writes nobody hears while it is slow; while it is late, it keeps them."""

    def __init__(self, database: SqliteDatabase) -> None:
        super().__init__(database)
        self.is_slow = self.is_late = False
        self.written = 0
        self.late: list[tuple[Any, ...]] = []

    async def write(self, statement: str, *values: Any, size: int | None = None) -> Row | None:
        """Carry out a statement, and say so if it is not slow."""
        if self.is_late:
            self.late.append((statement, *values))
            raise StoreUnavailable
        row = await super().write(statement, *values, size=size)
        self.written += 1
        if self.is_slow:
            await asyncio.Event().wait()
        return row


@dataclass
class Desk:
    """Approvals in such a database, one of which waits."""

    database: SlowDatabase
    approvals: SqlApprovals
    id: str
    orphans: list[OrphanedDecision] = field(default_factory=list)

    async def break_off(self, work: Any) -> None:
        """Cancel work once it has written something."""
        before, self.database.is_slow = self.database.written, True
        task = asyncio.ensure_future(work)
        await until(lambda: self.database.written > before)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self.database.is_slow = False


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """Give one."""
    database = SlowDatabase(SqliteDatabase())
    await database.open()
    approvals = SqlApprovals(database, "us", most_bytes=15_000)
    made = Desk(database, approvals, (await approvals.ask(RECORD, CALL)).approval.id)
    approvals.on_orphan(made.orphans.append)
    yield made
    await approvals.close()
    await database.close()


async def test_a_decision_of_which_nobody_heard_has_not_begun(desk: Desk) -> None:
    """It is told once, and can be answered as any other."""
    desk.database.after["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await desk.approvals.decide(desk.id, APPROVE, "eve")
    await until(lambda: len(desk.orphans) > 0)
    await desk.approvals.answer(desk.id, ToolMessage(content="done"))
    await asyncio.sleep(SOON)

    [orphan] = desk.orphans
    assert (orphan.record.approval.id, orphan.record.approval.decided_by, orphan.was_begun) == (desk.id, "eve", False)
    assert (await desk.approvals.get(desk.id)).approval.message == ToolMessage(content="done")


async def test_a_decision_is_found_whose_person_went_while_it_was_written(desk: Desk) -> None:
    """As one whose connection broke."""
    await desk.break_off(desk.approvals.decide(desk.id, APPROVE, "eve"))
    await until(lambda: len(desk.orphans) > 0)

    assert [orphan.was_begun for orphan in desk.orphans] == [False]


async def test_a_decision_that_was_made_again_is_no_stray(desk: Desk) -> None:
    """The first try was not written down."""
    desk.database.before["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await desk.approvals.decide(desk.id, APPROVE, "eve")
    await desk.approvals.decide(desk.id, APPROVE, "eve")
    await asyncio.sleep(SOON)

    assert desk.orphans == []


async def test_an_answer_that_was_kept_is_kept_though_its_person_went_while_it_was_written(desk: Desk) -> None:
    """The call is no stray."""
    await desk.approvals.decide(desk.id, APPROVE, "eve")

    await desk.break_off(desk.approvals.answer(desk.id, ToolMessage(content="done")))
    await asyncio.sleep(SOON + 1.0)

    assert desk.orphans == []
    assert (await desk.approvals.get(desk.id)).approval.message == ToolMessage(content="done")


async def test_a_call_has_begun_whose_answer_has_no_room_once_it_can_be_kept(desk: Desk) -> None:
    """The one who decided has it, and others are told that it is not known."""
    await desk.approvals.decide(desk.id, APPROVE, "eve")
    desk.database.before["change_approval"] = 1

    await desk.approvals.answer(desk.id, ToolMessage(content=LONG))
    await until(lambda: len(desk.orphans) > 0)

    assert [(orphan.record.approval.id, orphan.was_begun) for orphan in desk.orphans] == [(desk.id, True)]


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_what_was_reopened_unknowingly_and_decided_anew_is_not_reopened(desk: Desk, is_cancelled: bool) -> None:
    """The call would run twice."""
    await desk.approvals.decide(desk.id, APPROVE, "eve")
    if is_cancelled:
        await desk.break_off(desk.approvals.reopen(desk.id))
    else:
        desk.database.after["change_approval"] = 1
        await desk.approvals.reopen(desk.id)

    await desk.approvals.decide(desk.id, APPROVE, "bo")
    await asyncio.sleep(SOON)

    kept = (await desk.approvals.get(desk.id)).approval
    assert (kept.status, kept.decided_by, desk.orphans) == ("approved", "bo", [])


async def test_a_second_decision_in_doubt_is_looked_for_as_long_as_the_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though nobody looks for the first any more: it was not written down, and the other one is, after a while."""
    monkeypatch.setattr("sidecall.features.approvals.decision_tracker._LOOKS", 2)
    desk.database.before["change_approval"] = 1
    with pytest.raises(StoreUnavailable):
        await desk.approvals.decide(desk.id, APPROVE, "eve")
    await asyncio.sleep(SOON)

    desk.database.is_late = True
    with pytest.raises(StoreUnavailable):
        await desk.approvals.decide(desk.id, APPROVE, "eve")
    await asyncio.sleep(1.0)
    desk.database.is_late = False
    [late] = desk.database.late
    await desk.database.write(*late)
    await until(lambda: len(desk.orphans) > 0)

    assert [orphan.was_begun for orphan in desk.orphans] == [False]
