"""A person decides about the question that they have seen."""

from collections.abc import Awaitable, Callable

import pytest

from sidecall import ApprovalRequired, ToolContext, tool
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import ApprovalConflict
from tests.features.approvals.test_decide import APPROVE, Desk

RAN: list[int] = []


@tool
async def move(context: ToolContext) -> str:
    """Move in two steps, each of which a person is asked about."""
    step = context.resumed or 0
    RAN.append(step)
    if step < 2:
        raise ApprovalRequired(f"Take step {step + 1}?", state=step + 1)
    return "moved"


class BusyApprovals(MemoryApprovals):
    """Approvals about which somebody else decides first, just before a decision is noted."""

    overtake: Callable[[], Awaitable[object]] | None = None

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Note a decision."""
        overtake, self.overtake = self.overtake, None
        if overtake is not None:
            await overtake()
        return await super().decide(approval_id, decision, by)


@pytest.fixture
def desk() -> Desk:
    """Give a desk over a tool that asks twice."""
    RAN.clear()
    return Desk(move, approvals=BusyApprovals())


async def test_what_was_shown_is_no_answer_to_what_is_asked_since(desk: Desk) -> None:
    """The call goes on waiting."""
    waiting = await desk.ask("move")
    shown = Decision(decision="approve", question=(await desk.approvals.get(waiting)).approval.question)
    await desk.decide(waiting)

    with pytest.raises(ApprovalConflict):
        await decide(desk.pipeline, desk.approvals, waiting, shown, Caller("bo"))

    left = (await desk.approvals.get(waiting)).approval
    assert (left.status, left.description, left.decided_by) == ("pending", "Take step 2?", None)
    assert RAN == [0, 1]


@pytest.mark.parametrize("decision", [APPROVE, Decision(decision="reject")])
async def test_of_two_decisions_at_once_the_later_one_is_about_nothing(desk: Desk, decision: Decision) -> None:
    """Though the tool asks something else under the same approval in the moment when it is noted."""
    waiting = await desk.ask("move")
    assert isinstance(desk.approvals, BusyApprovals)
    desk.approvals.overtake = lambda: desk.decide(waiting)

    with pytest.raises(ApprovalConflict):
        await desk.decide(waiting, decision)

    left = (await desk.approvals.get(waiting)).approval
    assert (left.status, left.description, left.decided_by) == ("pending", "Take step 2?", None)
    assert RAN == [0, 1]
