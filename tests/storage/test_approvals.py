"""Calls that wait are remembered for a while, decided once, and never too many."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from sidecall import Caller, ToolCall, ToolMessage
from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.features.approvals.stores import Approvals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.errors import ApprovalConflict, UnknownApproval
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import TooManyApprovals
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.ports.approvals.approval import Approval, Preview
from sidecall.kernel.ports.user_tokens import SignIn
from tests.kit.ledgers import Clock, Place

APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="No.")
DONE = ToolMessage(content="done")


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
        return CallRecord.of(
            CallRequest(call, Sender(caller=self.caller), self.state, self.context or {}), "invocation"
        )

    async def ask(self, approvals: Approvals) -> ApprovalRecord:
        """Keep it, as a person should see it."""
        return await approvals.ask(self.record(), ToolCall(name=self.name, args=self.args, id=self.id))


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock()


@pytest.fixture
def approvals(ledger: Place, clock: Clock) -> Approvals:
    """Remember two calls for ten seconds."""
    return ledger.approvals(10.0, 2, clock)


async def ask(approvals: Approvals, id: str = "call_1") -> Approval:
    """Keep a call of this id."""
    return (await Waiting(id=id).ask(approvals)).approval


async def shown(approvals: Approvals, status: Any = None) -> list[str]:
    """List the ids of what people see."""
    return [approval.id for approval in (await approvals.list("default", status)).approvals]


async def find(approvals: Approvals, approval_id: str) -> Approval:
    """Look up what people see of one."""
    return (await approvals.get(approval_id)).approval


async def test_a_call_that_waits_is_shown_as_it_will_run(approvals: Approvals) -> None:
    """With the arguments that got so far, not those that came; hidden ones are gone from them by then."""
    approval = (await Waiting(caller=Caller("ada")).ask(approvals)).approval

    assert UUID(approval.id).version == 7
    assert approval.status == "pending"
    assert approval.tool_call == ToolCall(name="delete", args={"order": 7}, id="call_1")
    assert approval.requested_by == "ada"
    assert approval.expires_at - approval.created_at == timedelta(seconds=10)
    assert await find(approvals, approval.id) == approval
    assert await shown(approvals) == [approval.id]


async def test_the_call_is_kept_with_what_came_beside_it(approvals: Approvals) -> None:
    """It will run from the top."""
    waiting = await Waiting(caller=Caller("ada", "acme"), state=1, context={"user": "bo"}).ask(approvals)

    kept = await approvals.get(waiting.approval.id)

    assert kept.tenant == "acme"
    assert kept.call is not None
    assert kept.call.to_request().copy_sent(wants_value=False).copy_with(origin=None) == CallRequest(
        ToolCall(name="delete", args={"as": "it came"}, id="call_1"),
        Sender(caller=Caller("ada", "acme")),
        1,
        {"user": "bo"},
        id="invocation",
    )


async def test_another_call_waits_on_its_own(approvals: Approvals) -> None:
    """Nobody approves what they have not seen."""
    first, second = await ask(approvals, "1"), await ask(approvals, "2")

    assert await shown(approvals) == [first.id, second.id]
    assert first.id != second.id


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
async def test_a_decision_is_noted(approvals: Approvals, decision: Decision, status: Any) -> None:
    """Who, when and why."""
    waiting = await ask(approvals)

    decided = (await approvals.decide(waiting.id, decision, "eve")).approval

    assert (decided.status, decided.decided_by, decided.reason) == (status, "eve", decision.reason)
    assert decided.decided_at is not None
    assert decided.decided_at >= waiting.created_at
    assert decided.tool_call == waiting.tool_call
    assert waiting.status == "pending"
    assert await find(approvals, waiting.id) == decided


async def test_other_arguments_are_shown_instead(approvals: Approvals) -> None:
    """What runs is what is shown; none at all count too."""
    waiting = await ask(approvals)

    decided = (await approvals.decide(waiting.id, Decision(decision="approve", args={}), "eve")).approval

    assert decided.tool_call == ToolCall(name="delete", args={}, id="call_1")


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
async def test_a_call_is_decided_once(approvals: Approvals, decision: Decision, status: str) -> None:
    """The second person is told who was first."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, decision, "eve")

    with pytest.raises(ApprovalConflict) as caught:
        await approvals.decide(waiting.id, APPROVE, "bo")

    assert caught.value.message == f"The approval was {status} already, by eve."
    assert (await find(approvals, waiting.id)).decided_by == "eve"


@pytest.mark.parametrize("decision", [APPROVE, REJECT])
async def test_the_same_call_is_known_again_whatever_has_become_of_it(approvals: Approvals, decision: Decision) -> None:
    """A decision holds for one run, and for all who ask about it."""
    waiting = Waiting()
    first, again = [(await waiting.ask(approvals)).approval for _ in range(2)]
    running = await approvals.decide(first.id, decision, "eve")
    found = [await approvals.find(waiting.record()), await waiting.ask(approvals)]

    assert (again, found, await shown(approvals)) == (first, [running, running], [first.id])
    assert await approvals.answer(first.id, DONE) == await approvals.find(waiting.record())


async def test_a_call_that_never_came_or_has_expired_is_not_found(approvals: Approvals, clock: Clock) -> None:
    """It is a new one."""
    await ask(approvals)
    other = await approvals.find(Waiting(id="call_2").record())
    clock.now = 10.0
    assert (other, await approvals.find(Waiting().record())) == (None, None)


async def test_the_answer_is_kept_with_the_approval(approvals: Approvals) -> None:
    """Anyone who asks later gets it."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, APPROVE, "eve")

    answered = (await approvals.answer(waiting.id, DONE)).approval

    assert answered.message == DONE
    assert await find(approvals, waiting.id) == answered


async def test_what_came_beside_a_call_is_let_go_once_it_is_answered(approvals: Approvals) -> None:
    """Only the answer is of use then; the rest may be large or secret."""
    waiting = (await Waiting(state="secret").ask(approvals)).approval
    await approvals.decide(waiting.id, APPROVE, "eve")
    await approvals.answer(waiting.id, DONE)

    kept = await approvals.get(waiting.id)

    assert (kept.call, kept.tenant) == (None, "default")


async def test_a_decision_that_is_taken_back_leaves_no_trace(approvals: Approvals) -> None:
    """The next person sees the call that would run, not what the first one made of it."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, Decision(decision="approve", args={"order": 8}, reason="Yes."), "eve")

    await approvals.reopen(waiting.id)

    assert await find(approvals, waiting.id) == waiting
    await approvals.decide(waiting.id, APPROVE, "eve")
    sign_in = SignIn(provider="hub", url="http://here")  # The call waits for something else now.
    await approvals.reopen(waiting.id, Preview(sign_in=sign_in))
    asked = await find(approvals, waiting.id)
    other = {"sign_in": sign_in, "question": 2, "expires_at": asked.expires_at}
    assert asked == waiting.model_copy(update=other)


async def test_approvals_are_listed_oldest_first_and_by_status(approvals: Approvals) -> None:
    """Those that wait are what people look for."""
    first, second = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(first.id, REJECT, "eve")

    assert await shown(approvals) == [first.id, second.id]
    assert await shown(approvals, "pending") == [second.id]
    assert await shown(approvals, "rejected") == [first.id]
    assert await shown(approvals, "approved") == []


@pytest.mark.parametrize(("now", "known"), [(9.9, 1), (10.0, 0)])
async def test_a_call_is_forgotten_after_its_time(approvals: Approvals, clock: Clock, now: float, known: int) -> None:
    """Its client has given up long ago."""
    await ask(approvals)

    clock.now = now

    assert len(await shown(approvals)) == known


async def test_a_forgotten_call_is_unknown_in_every_way(approvals: Approvals, clock: Clock) -> None:
    """It can neither be read nor decided nor found again."""
    waiting = await ask(approvals)
    clock.now = 10.0

    with pytest.raises(UnknownApproval):
        await find(approvals, waiting.id)
    with pytest.raises(UnknownApproval):
        await approvals.decide(waiting.id, APPROVE, "eve")
    assert (await ask(approvals)).id != waiting.id


async def test_an_id_that_never_was_is_unknown(approvals: Approvals) -> None:
    """The message does not say which of the two it is."""
    with pytest.raises(UnknownApproval) as caught:
        await approvals.get("nope")

    assert caught.value.message == "There is no such approval, or it has expired."


async def test_a_call_is_not_forgotten_while_it_runs(approvals: Approvals, clock: Clock) -> None:
    """Its answer has to go somewhere; once it is there the time counts again."""
    waiting = await ask(approvals)
    await approvals.decide(waiting.id, APPROVE, "eve")
    clock.now = 11.0

    running = await find(approvals, waiting.id)
    answered = (await approvals.answer(waiting.id, DONE)).approval

    assert (running.message, answered.message) == (None, DONE)
    with pytest.raises(UnknownApproval):
        await find(approvals, waiting.id)


async def test_no_more_calls_wait_than_are_allowed(approvals: Approvals) -> None:
    """A client in a loop fills no memory; the same call again is still found."""
    first, _ = await ask(approvals, "1"), await ask(approvals, "2")

    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")
    assert await ask(approvals, "1") == first


async def test_a_call_that_runs_makes_no_room(approvals: Approvals) -> None:
    """It is not answered yet."""
    first, _ = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(first.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")


async def test_an_answer_takes_no_place_of_those_that_wait(approvals: Approvals, clock: Clock) -> None:
    """And it stays, since its agent may not have asked for it yet."""
    _, second = await ask(approvals, "1"), await ask(approvals, "2")
    await approvals.decide(second.id, REJECT, "eve")
    with pytest.raises(TooManyApprovals):
        await ask(approvals, "3")
    await approvals.answer(second.id, DONE)
    clock.now = 9.9
    await ask(approvals, "3")

    assert (await find(approvals, second.id)).message == DONE


async def test_what_has_expired_makes_room(approvals: Approvals, clock: Clock) -> None:
    """Without anything being answered."""
    await ask(approvals, "1")
    await ask(approvals, "2")
    clock.now = 10.0

    assert await shown(approvals) == []
    assert (await ask(approvals, "3")).status == "pending"
