"""Calls that wait are remembered for a while, decided once, and never too many."""

import gc
import weakref
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from sidecall import Caller, ToolCall, ToolMessage
from sidecall.core.approval import Approval, ApprovalRecord, Decision
from sidecall.core.errors import ApprovalConflict, UnknownApproval
from sidecall.core.invocation import CallRequest
from sidecall.core.overload import TooManyApprovals
from sidecall.core.record import CallRecord
from sidecall.ledger.approvals import MemoryApprovals

APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="No.")
DONE = ToolMessage(content="done")


@dataclass
class Clock:
    """Tell the time that a test says."""

    now: float = 0.0

    def __call__(self) -> float:
        """Read it."""
        return self.now


@dataclass
class Waiting:
    """Make calls that are alike but for what is given."""

    name: str = "delete"
    id: str = "call_1"
    args: dict[str, Any] = field(default_factory=lambda: {"order": 7})
    caller: Caller = field(default_factory=Caller)
    state: Any = None
    context: Any = None

    def record(self) -> CallRecord:
        """Write down the call as it came."""
        call = ToolCall(name=self.name, args={"as": "it came"}, id=self.id)
        return CallRecord.of(CallRequest(call, self.caller, self.state, self.context or {}), "invocation")

    async def ask(self, approvals: MemoryApprovals) -> ApprovalRecord:
        """Keep it, as a person should see it."""
        return await approvals.ask(self.record(), ToolCall(name=self.name, args=self.args, id=self.id))


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock()


@pytest.fixture
def approvals(clock: Clock) -> MemoryApprovals:
    """Remember two calls for ten seconds."""
    return MemoryApprovals(10.0, 2, clock)


async def ask(approvals: MemoryApprovals, id: str = "call_1") -> Approval:
    """Keep a call of this id."""
    return (await Waiting(id=id).ask(approvals)).approval


async def shown(approvals: MemoryApprovals, status: Any = None) -> list[Approval]:
    """List what people see."""
    return [record.approval for record in await approvals.list(status)]


async def find(approvals: MemoryApprovals, approval_id: str) -> Approval:
    """Look up what people see of one."""
    return (await approvals.get(approval_id)).approval


async def test_a_call_that_waits_is_shown_as_it_will_run(approvals: MemoryApprovals) -> None:
    """With the arguments that got so far, not those that came; hidden ones are gone from them by then."""
    approval = (await Waiting(caller=Caller("ada")).ask(approvals)).approval

    assert UUID(approval.id).version == 7
    assert approval.status == "pending"
    assert approval.tool_call == ToolCall(name="delete", args={"order": 7}, id="call_1")
    assert approval.requested_by == "ada"
    assert approval.expires_at - approval.created_at == timedelta(seconds=10)
    assert await find(approvals, approval.id) == approval
    assert await shown(approvals) == [approval]


async def test_the_call_is_kept_with_what_came_beside_it(approvals: MemoryApprovals) -> None:
    """It will run from the top."""
    waiting = await Waiting(caller=Caller("ada", "acme"), state=1, context={"user": "bo"}).ask(approvals)

    kept = await approvals.get(waiting.approval.id)

    assert kept.tenant == "acme"
    assert kept.call is not None
    assert kept.call.to_request() == CallRequest(
        ToolCall(name="delete", args={"as": "it came"}, id="call_1"), Caller("ada", "acme"), 1, {"user": "bo"}
    )


async def test_a_call_that_waits_already_is_not_kept_twice(approvals: MemoryApprovals) -> None:
    """A client may ask again and again."""
    first, again = await ask(approvals), await ask(approvals)

    assert again is first
    assert await shown(approvals) == [first]


async def test_another_call_waits_on_its_own(approvals: MemoryApprovals) -> None:
    """Nobody approves what they have not seen."""
    first, second = await ask(approvals, "1"), await ask(approvals, "2")

    assert [approval.id for approval in await shown(approvals)] == [first.id, second.id]
    assert first.id != second.id


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
async def test_a_decision_is_noted(approvals: MemoryApprovals, decision: Decision, status: Any) -> None:
    """Who, when and why."""
    waiting = await ask(approvals)

    decided = (await approvals.decide(waiting.id, decision, "eve")).approval

    assert (decided.status, decided.decided_by, decided.reason) == (status, "eve", decision.reason)
    assert decided.decided_at is not None
    assert decided.decided_at >= waiting.created_at
    assert decided.tool_call == waiting.tool_call
    assert waiting.status == "pending"
    assert await find(approvals, waiting.id) == decided


async def test_other_arguments_are_shown_instead(approvals: MemoryApprovals) -> None:
    """What runs is what is shown; none at all count too."""
    waiting = await ask(approvals)

    decided = (await approvals.decide(waiting.id, Decision(decision="approve", args={}), "eve")).approval

    assert decided.tool_call == ToolCall(name="delete", args={}, id="call_1")


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
async def test_a_call_is_decided_once(approvals: MemoryApprovals, decision: Decision, status: str) -> None:
    """The second person is told who was first."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, decision, "eve")

    with pytest.raises(ApprovalConflict) as caught:
        await approvals.decide(waiting.id, APPROVE, "bo")

    assert caught.value.message == f"The approval was {status} already, by eve."
    assert (await find(approvals, waiting.id)).decided_by == "eve"


async def test_the_same_call_waits_anew_once_the_first_is_decided(approvals: MemoryApprovals) -> None:
    """A decision holds for one run."""
    first = await ask(approvals)
    await approvals.decide(first.id, APPROVE, "eve")

    assert (await ask(approvals)).id != first.id


async def test_the_answer_is_kept_with_the_approval(approvals: MemoryApprovals) -> None:
    """Whoever asks later gets it."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, APPROVE, "eve")

    answered = (await approvals.answer(waiting.id, DONE)).approval

    assert answered.message == DONE
    assert await find(approvals, waiting.id) == answered


async def test_what_came_beside_a_call_is_let_go_once_it_is_answered(approvals: MemoryApprovals) -> None:
    """Only the answer is of use then; the rest may be large or secret."""
    record = Waiting(state="secret").record()
    known = weakref.ref(record)
    waiting = (await approvals.ask(record, record.tool_call)).approval
    await approvals.decide(waiting.id, APPROVE, "eve")
    await approvals.answer(waiting.id, DONE)

    del record
    gc.collect()

    assert known() is None
    assert (await approvals.get(waiting.id)).tenant == "default"


async def test_a_decision_that_is_taken_back_leaves_no_trace(approvals: MemoryApprovals) -> None:
    """The next person sees the call that would run, not what the first one made of it."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, Decision(decision="approve", args={"order": 8}, reason="Yes."), "eve")

    await approvals.reopen(waiting.id)

    assert await find(approvals, waiting.id) == waiting


async def test_approvals_are_listed_oldest_first_and_by_status(approvals: MemoryApprovals) -> None:
    """Those that wait are what people look for."""
    first, second = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(first.id, REJECT, "eve")

    assert [approval.id for approval in await shown(approvals)] == [first.id, second.id]
    assert [approval.id for approval in await shown(approvals, "pending")] == [second.id]
    assert [approval.id for approval in await shown(approvals, "rejected")] == [first.id]
    assert await shown(approvals, "approved") == []


@pytest.mark.parametrize(("now", "known"), [(9.9, 1), (10.0, 0)])
async def test_a_call_is_forgotten_after_its_time(
    approvals: MemoryApprovals, clock: Clock, now: float, known: int
) -> None:
    """Its client has given up long ago."""
    await ask(approvals)

    clock.now = now

    assert len(await shown(approvals)) == known


async def test_a_forgotten_call_is_unknown_in_every_way(approvals: MemoryApprovals, clock: Clock) -> None:
    """It can neither be read nor decided nor found again."""
    waiting = await ask(approvals)
    clock.now = 10.0

    with pytest.raises(UnknownApproval):
        await find(approvals, waiting.id)
    with pytest.raises(UnknownApproval):
        await approvals.decide(waiting.id, APPROVE, "eve")
    assert (await ask(approvals)).id != waiting.id


async def test_an_id_that_never_was_is_unknown(approvals: MemoryApprovals) -> None:
    """The message does not say which of the two it is."""
    with pytest.raises(UnknownApproval) as caught:
        await approvals.get("nope")

    assert caught.value.message == "There is no such approval, or it has expired."


async def test_a_call_is_not_forgotten_while_it_runs(approvals: MemoryApprovals, clock: Clock) -> None:
    """Its answer has to go somewhere; once it is there the time counts again."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, APPROVE, "eve")
    clock.now = 11.0

    running = await find(approvals, waiting.id)
    answered = (await approvals.answer(waiting.id, DONE)).approval

    assert (running.message, answered.message) == (None, DONE)
    with pytest.raises(UnknownApproval):
        await find(approvals, waiting.id)


async def test_no_more_calls_wait_than_are_allowed(approvals: MemoryApprovals) -> None:
    """A client in a loop fills no memory; the same call again is still found."""
    first, _ = await ask(approvals, "1"), await ask(approvals, "2")

    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")
    assert await ask(approvals, "1") is first


async def test_a_call_that_runs_makes_no_room(approvals: MemoryApprovals) -> None:
    """It is not answered yet."""
    first, _ = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(first.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")


async def test_an_answer_makes_no_room_before_its_time(approvals: MemoryApprovals, clock: Clock) -> None:
    """Its agent may not have asked for it yet."""
    _, second = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(second.id, REJECT, "eve")
    await approvals.answer(second.id, DONE)
    clock.now = 9.9
    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")

    assert (await find(approvals, second.id)).message == DONE


async def test_what_has_expired_makes_room(approvals: MemoryApprovals, clock: Clock) -> None:
    """Without anything being answered."""
    await ask(approvals, "1")
    await ask(approvals, "2")
    clock.now = 10.0

    assert await shown(approvals) == []
    assert (await ask(approvals, "3")).status == "pending"
