"""A decision for which there is no room changes nothing."""

import asyncio

import pytest

from sidecall import tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.record import Decision
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval
from tests.features.approvals.test_decide import APPROVE, Desk


@pytest.fixture
def desk() -> Desk:
    """Give a desk of its own."""
    return Desk()


class Till:
    """Pays, one call at a time, and keeps a book of what was paid."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.paid: list[int] = []
        self.is_open = asyncio.Event()
        self.is_busy = asyncio.Event()

        @tool(requires_approval=True, max_concurrency=1)
        async def pay(amount: int) -> str:
            """Pay."""
            self.is_busy.set()
            await self.is_open.wait()
            self.paid.append(amount)
            return f"paid {amount}"

        desk.registry.add(pay)

    async def occupy(self, limits: Limits) -> tuple[Pipeline, asyncio.Task[Approval]]:
        """Begin to pay 1, and return a pipeline of such limits in which there is room for nothing else."""
        stages = default_stages({"inline": InlineExecutor()}, self.desk.approvals)
        pipeline = Pipeline(self.desk.registry, stages, admission=Admission(limits))
        first = await self.desk.ask("pay", amount=1)
        paying = asyncio.create_task(decide(pipeline, self.desk.approvals, first, APPROVE, Caller("eve")))
        await self.is_busy.wait()
        return pipeline, paying


FIFTY = Decision(decision="approve", args={"amount": 50})


async def test_a_call_is_paid_as_shown_though_an_edit_of_it_found_no_room(desk: Desk) -> None:
    """An edit that could not be carried out is not shown, and the next who approves approves what they see."""
    till = Till(desk)
    waiting = await desk.ask("pay", amount=500)
    pipeline, paying = await till.occupy(Limits(queue=0))
    with pytest.raises(Overloaded):
        await decide(pipeline, desk.approvals, waiting, FIFTY, Caller("eve"))
    shown = (await desk.approvals.get(waiting)).approval
    till.is_open.set()
    await paying
    approved, _ = await decide(pipeline, desk.approvals, waiting, APPROVE, Caller("eve"))

    assert (shown.status, shown.tool_call.args) == ("pending", {"amount": 500})
    assert approved.tool_call.args == {"amount": 500}
    assert till.paid == [1, 500]


async def test_a_decision_whose_maker_leaves_before_the_call_begins_changes_nothing(desk: Desk) -> None:
    """Nothing has run, so the call goes on waiting."""
    till = Till(desk)
    waiting = await desk.ask("pay", amount=500)
    pipeline, paying = await till.occupy(Limits())
    deciding = asyncio.create_task(decide(pipeline, desk.approvals, waiting, FIFTY, Caller("eve")))
    await asyncio.sleep(0)
    deciding.cancel()
    await asyncio.wait([deciding])
    shown = (await desk.approvals.get(waiting)).approval
    till.is_open.set()
    await paying

    assert (shown.status, shown.tool_call.args, shown.message) == ("pending", {"amount": 500}, None)
    assert till.paid == [1]
