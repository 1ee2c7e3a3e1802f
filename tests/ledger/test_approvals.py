"""Calls that wait are remembered for a while, decided once, and never too many."""

import gc
import math
import weakref
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from sidecall import Caller, ToolCall, ToolMessage, tool
from sidecall.core.approval import Approval, Decision
from sidecall.core.errors import ApprovalConflict, UnknownApproval
from sidecall.core.invocation import CallRequest, Invocation, new_invocation
from sidecall.core.overload import TooManyApprovals
from sidecall.ledger.approvals import MemoryApprovals

DELETE = tool("delete", description="Delete.")(lambda: None).compiled
CREATE = tool("create", description="Create.")(lambda: None).compiled
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

    tool: Any = DELETE
    id: str = "call_1"
    args: dict[str, Any] = field(default_factory=lambda: {"order": 7})
    caller: Caller = field(default_factory=Caller)
    state: Any = None
    context: Any = None

    def invocation(self) -> Invocation:
        """Bring the call to where it has to wait."""
        call = ToolCall(name=self.tool.name, args={"as": "it came"}, id=self.id)
        request = CallRequest(call, self.caller, self.state, self.context or {})
        invocation = new_invocation(request, self.tool, None)
        invocation.args = self.args
        return invocation


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock()


@pytest.fixture
def approvals(clock: Clock) -> MemoryApprovals:
    """Remember two calls for ten seconds."""
    return MemoryApprovals(10.0, 2, clock)


def ask(approvals: MemoryApprovals, id: str = "call_1") -> Approval:
    """Keep a call of this id."""
    return approvals.ask(Waiting(id=id).invocation())


def test_a_call_that_waits_is_shown_as_it_will_run(approvals: MemoryApprovals) -> None:
    """With the arguments that got so far, not those that came; hidden ones are gone from them by then."""
    approval = approvals.ask(Waiting(caller=Caller("ada")).invocation())

    assert UUID(approval.id).version == 7
    assert approval.status == "pending"
    assert approval.tool_call == ToolCall(name="delete", args={"order": 7}, id="call_1")
    assert approval.requested_by == "ada"
    assert approval.expires_at - approval.created_at == timedelta(seconds=10)
    assert approvals.get(approval.id) == approval
    assert approvals.list() == [approval]


def test_the_call_is_kept_with_what_came_beside_it(approvals: MemoryApprovals) -> None:
    """It will run from the top."""
    invocation = Waiting(state=1, context={"tenant": "acme"}).invocation()

    approval = approvals.ask(invocation)

    assert approvals.request(approval.id) is invocation.request


def test_a_call_that_waits_already_is_not_kept_twice(approvals: MemoryApprovals) -> None:
    """A client may ask again and again."""
    first, again = ask(approvals), ask(approvals)

    assert again is first
    assert approvals.list() == [first]


DIFFERENT: list[Any] = [
    pytest.param({"tool": CREATE}, id="tool"),
    pytest.param({"id": "call_2"}, id="call id"),
    pytest.param({"args": {"order": 8}}, id="args"),
    pytest.param({"args": {"order": "7"}}, id="type of an argument"),
    pytest.param({"caller": Caller("ada")}, id="caller"),
    pytest.param({"caller": Caller(tenant="acme")}, id="tenant"),
    pytest.param({"state": {"user": "bo"}}, id="state"),
    pytest.param({"context": {"tenant": "acme"}}, id="context"),
    pytest.param({"args": {"order": math.inf}}, id="number that JSON lacks"),
    pytest.param({"context": {"db": object()}}, id="object of the caller's process"),
]


@pytest.mark.parametrize("other", DIFFERENT)
def test_a_call_that_differs_in_anything_waits_on_its_own(approvals: MemoryApprovals, other: dict[str, Any]) -> None:
    """Nobody approves what they have not seen."""
    first = approvals.ask(Waiting().invocation())

    second = approvals.ask(Waiting(**other).invocation())

    assert [approval.id for approval in approvals.list()] == [first.id, second.id]
    assert first.id != second.id


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
def test_a_decision_is_noted(approvals: MemoryApprovals, decision: Decision, status: Any) -> None:
    """Who, when and why."""
    waiting = ask(approvals)

    decided = approvals.decide(waiting.id, decision, "eve")

    assert (decided.status, decided.decided_by, decided.reason) == (status, "eve", decision.reason)
    assert decided.decided_at is not None
    assert decided.decided_at >= waiting.created_at
    assert decided.tool_call == waiting.tool_call
    assert waiting.status == "pending"
    assert approvals.get(waiting.id) == decided


def test_other_arguments_are_shown_instead(approvals: MemoryApprovals) -> None:
    """What runs is what is shown; none at all count too."""
    waiting = ask(approvals)

    decided = approvals.decide(waiting.id, Decision(decision="approve", args={}), "eve")

    assert decided.tool_call == ToolCall(name="delete", args={}, id="call_1")


@pytest.mark.parametrize(("decision", "status"), [(APPROVE, "approved"), (REJECT, "rejected")])
def test_a_call_is_decided_once(approvals: MemoryApprovals, decision: Decision, status: str) -> None:
    """The second person is told who was first."""
    waiting = ask(approvals)
    approvals.decide(waiting.id, decision, "eve")

    with pytest.raises(ApprovalConflict) as caught:
        approvals.decide(waiting.id, APPROVE, "bo")
    with pytest.raises(ApprovalConflict):
        approvals.request(waiting.id)

    assert caught.value.message == f"The approval was {status} already, by eve."
    assert approvals.get(waiting.id).decided_by == "eve"


def test_the_same_call_waits_anew_once_the_first_is_decided(approvals: MemoryApprovals) -> None:
    """A decision holds for one run."""
    first = ask(approvals)
    approvals.decide(first.id, APPROVE, "eve")

    assert ask(approvals).id != first.id


def test_the_answer_is_kept_with_the_approval(approvals: MemoryApprovals) -> None:
    """Whoever asks later gets it."""
    waiting = ask(approvals)
    approvals.decide(waiting.id, APPROVE, "eve")

    answered = approvals.answer(waiting.id, DONE)

    assert answered.message == DONE
    assert approvals.get(waiting.id) == answered


class Session:
    """Something of the caller's that is expensive to keep."""


def test_what_came_beside_a_call_is_let_go_once_it_is_answered(approvals: MemoryApprovals) -> None:
    """Only the answer is of use then; the rest may be large or secret."""
    session = Session()
    known = weakref.ref(session)
    waiting = approvals.ask(Waiting(state=session).invocation())
    approvals.decide(waiting.id, APPROVE, "eve")
    approvals.answer(waiting.id, DONE)

    del session
    gc.collect()

    assert known() is None


def test_approvals_are_listed_oldest_first_and_by_status(approvals: MemoryApprovals) -> None:
    """Those that wait are what people look for."""
    first, second = ask(approvals, "1"), ask(approvals, "2")
    approvals.decide(first.id, REJECT, "eve")

    assert [approval.id for approval in approvals.list()] == [first.id, second.id]
    assert [approval.id for approval in approvals.list("pending")] == [second.id]
    assert [approval.id for approval in approvals.list("rejected")] == [first.id]
    assert approvals.list("approved") == []


@pytest.mark.parametrize(("now", "known"), [(9.9, 1), (10.0, 0)])
def test_a_call_is_forgotten_after_its_time(approvals: MemoryApprovals, clock: Clock, now: float, known: int) -> None:
    """Its client has given up long ago."""
    ask(approvals)

    clock.now = now

    assert len(approvals.list()) == known


def test_a_forgotten_call_is_unknown_in_every_way(approvals: MemoryApprovals, clock: Clock) -> None:
    """It can neither be read nor decided nor found again."""
    waiting = ask(approvals)
    clock.now = 10.0

    with pytest.raises(UnknownApproval):
        approvals.get(waiting.id)
    with pytest.raises(UnknownApproval):
        approvals.request(waiting.id)
    with pytest.raises(UnknownApproval):
        approvals.decide(waiting.id, APPROVE, "eve")
    assert ask(approvals).id != waiting.id


def test_an_id_that_never_was_is_unknown(approvals: MemoryApprovals) -> None:
    """The message does not say which of the two it is."""
    with pytest.raises(UnknownApproval) as caught:
        approvals.get("nope")

    assert caught.value.message == "There is no such approval, or it has expired."


def test_a_call_is_not_forgotten_while_it_runs(approvals: MemoryApprovals, clock: Clock) -> None:
    """Its answer has to go somewhere; once it is there the time counts again."""
    waiting = ask(approvals)
    approvals.decide(waiting.id, APPROVE, "eve")
    clock.now = 11.0

    running = approvals.get(waiting.id)
    answered = approvals.answer(waiting.id, DONE)

    assert (running.message, answered.message) == (None, DONE)
    with pytest.raises(UnknownApproval):
        approvals.get(waiting.id)


def test_no_more_calls_wait_than_are_allowed(approvals: MemoryApprovals) -> None:
    """A client in a loop fills no memory; the same call again is still found."""
    first, _ = ask(approvals, "1"), ask(approvals, "2")

    with pytest.raises(TooManyApprovals):
        ask(approvals, "3")
    assert ask(approvals, "1") is first


def test_a_call_that_runs_makes_no_room(approvals: MemoryApprovals) -> None:
    """It is not answered yet."""
    first, _ = ask(approvals, "1"), ask(approvals, "2")
    approvals.decide(first.id, APPROVE, "eve")

    with pytest.raises(TooManyApprovals):
        ask(approvals, "3")


def test_the_oldest_answer_makes_room(approvals: MemoryApprovals) -> None:
    """Calls that wait are worth more than answers that were given."""
    first, second = ask(approvals, "1"), ask(approvals, "2")
    approvals.decide(second.id, REJECT, "eve")
    approvals.answer(second.id, DONE)

    third = ask(approvals, "3")

    assert [approval.id for approval in approvals.list()] == [first.id, third.id]


def test_what_has_expired_makes_room(approvals: MemoryApprovals, clock: Clock) -> None:
    """Without anything being answered."""
    ask(approvals, "1")
    ask(approvals, "2")
    clock.now = 10.0

    assert approvals.list() == []
    assert ask(approvals, "3").status == "pending"
