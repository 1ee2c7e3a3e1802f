"""What waits takes so many bytes and no more, and lists leave out what is large."""

import tracemalloc
from typing import Any

import pytest

from sidecall import ToolCall, ToolMessage
from sidecall.core.approval import ApprovalRecord, Decision
from sidecall.core.invocation import CallRequest
from sidecall.core.record import CallRecord
from sidecall.ledger.memory.approvals import MemoryApprovals
from sidecall.ledger.memory.room import Room

APPROVE = Decision(decision="approve")
LONG = "x" * 20_000


class Desk:
    """Approvals within so many bytes, for as long as a test lets them wait."""

    def __init__(self, most: int, ttl: float = 10.0) -> None:
        self.room = Room(most)
        self.now = 0.0
        self.approvals = MemoryApprovals(ttl, 1000, lambda: self.now, self.room)

    async def ask(self, id: str = "1", sent: Any = None, **shown: Any) -> ApprovalRecord:
        """Keep a call that was sent with other arguments than it is shown with, if it says so."""
        call = ToolCall(name="pay", args=shown if sent is None else sent, id=id)
        record = CallRecord.of(CallRequest(call), f"invocation {id}")
        return await self.approvals.ask(record, ToolCall(name="pay", args=shown, id=id))

    async def ids(self, **options: Any) -> tuple[list[str], str | None]:
        """List the ids of calls on a page, and where the next one begins."""
        page = await self.approvals.list(**options)
        return [approval.tool_call.id for approval in page.approvals], page.cursor


async def test_small_values_take_no_more_than_they_say() -> None:
    """As Python's objects, 15,000 empty objects take 50 times as much as JSON."""
    desk = Desk(10_000_000)
    rows = [[{}] for _ in range(15_000)]
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()

    await desk.ask(rows=rows)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert 75_000 < desk.room.taken < 90_000
    assert after - before < 150_000


@pytest.mark.parametrize("decision", [APPROVE, Decision(decision="reject")])
async def test_there_is_always_room_for_a_decision_and_a_short_answer(decision: Decision) -> None:
    """Though not a byte is left."""
    desk = Desk(24_900)
    waiting = (await desk.ask(text=LONG)).approval
    desk.room.take(desk.room.most - desk.room.taken)

    await desk.approvals.decide(waiting.id, decision, "eve")
    answered = await desk.approvals.answer(waiting.id, ToolMessage(content="n" * 1000))

    assert answered.approval.message is not None
    assert desk.room.taken <= desk.room.most
