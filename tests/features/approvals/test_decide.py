"""What a person decides is carried out, once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sidecall import Caller, Registry, StructuredTool, ToolCall, ToolContext, ToolException, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.decide import decide
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.record import Decision
from sidecall.kernel.core.call_record import CallNotRecorded
from sidecall.kernel.core.errors import ApprovalConflict, InvalidDecision, ToolChanged, UnknownApproval
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired

APPROVE = Decision(decision="approve")


@tool(requires_approval=True)
async def delete(order: int, context: ToolContext) -> str:
    """Delete an order."""
    return f"deleted {order} for {context.state}"


@tool(requires_approval=True)
async def refuse() -> str:
    """Refuse."""
    raise ToolException("No.")


@tool(requires_approval=True, handle_tool_error=None)
async def crash() -> str:
    """Crash."""
    raise ValueError("secret")


class Desk:
    """Let calls wait, and decide about them."""

    def __init__(self, *tools: StructuredTool, approvals: MemoryApprovals | None = None) -> None:
        self.registry = Registry(tools)
        self.approvals = approvals or MemoryApprovals()
        self.threads = ThreadExecutor(1)
        executors = {"inline": InlineExecutor(), "thread": self.threads}
        self.pipeline = Pipeline(self.registry, default_stages(executors, self.approvals))  # type: ignore[arg-type]

    async def ask(self, name: str, **args: Any) -> str:
        """Send a call that has to wait, and return the approval's id."""
        request = CallRequest(ToolCall(name=name, args=args, id="call_1"), state="bo")
        with pytest.raises(ApprovalRequired) as caught:
            await self.pipeline.run(request)
        return caught.value.approval.id

    async def decide(self, approval_id: str, decision: Decision = APPROVE) -> Approval:
        """Decide as eve."""
        return (await decide(self.pipeline, self.approvals, approval_id, decision, Caller("eve"))).approval


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """Give a desk over three tools."""
    desk = Desk(delete, refuse, crash)
    yield desk
    await desk.threads.close()


async def test_an_approved_call_runs_with_what_came_beside_it(desk: Desk) -> None:
    """From the top, as if it had been sent now."""
    waiting = await desk.ask("delete", order="7")

    approval = await desk.decide(waiting)

    assert approval.message is not None
    assert (approval.status, approval.decided_by) == ("approved", "eve")
    assert (approval.message.content, approval.message.tool_call_id) == ("deleted 7 for bo", "call_1")
    assert (await desk.approvals.get(waiting)).approval == approval


async def test_a_person_may_change_the_arguments(desk: Desk) -> None:
    """They are checked, run and shown instead."""
    waiting = await desk.ask("delete", order=7)

    approval = await desk.decide(waiting, Decision(decision="approve", args={"order": "8"}))

    assert approval.message is not None
    assert approval.message.content == "deleted 8 for bo"
    assert approval.tool_call.args == {"order": "8"}


@pytest.mark.parametrize(
    ("args", "message", "loc"),
    [
        ({}, "order: Field required (integer)", ["order"]),
        ({"order": 8, "ordre": 9}, "ordre: The tool has no such argument", ["ordre"]),
        ({"order": 8, "context": {}}, "context: The tool has no such argument", ["context"]),
        ({"order": "x"}, "order: Input should be an integer", ["order"]),
    ],
)
async def test_wrong_arguments_of_the_person_change_nothing(
    desk: Desk, args: dict[str, Any], message: str, loc: list[str]
) -> None:
    """They are told, and the call goes on waiting."""
    waiting = await desk.ask("delete", order=7)

    with pytest.raises(InvalidDecision) as caught:
        await desk.decide(waiting, Decision(decision="approve", args=args))

    assert caught.value.message == message
    assert [error["loc"] for error in caught.value.members["errors"]] == [loc]
    assert (await desk.approvals.get(waiting)).approval.status == "pending"
    assert (await desk.decide(waiting)).status == "approved"


@pytest.mark.parametrize(
    ("reason", "content"),
    [("Ask for the number.", "Ask for the number."), (None, "Tool execution was not approved.")],
)
async def test_a_rejected_call_is_answered_with_the_reason(desk: Desk, reason: str | None, content: str) -> None:
    """The model reads it, and nothing runs."""
    waiting = await desk.ask("delete", order=7)

    approval = await desk.decide(waiting, Decision(decision="reject", reason=reason))

    assert approval.message is not None
    assert (approval.status, approval.reason, approval.decided_by) == ("rejected", reason, "eve")
    assert (approval.message.content, approval.message.status) == (content, "error")
    assert (approval.message.tool_call_id, approval.message.name) == ("call_1", "delete")
    assert approval.message.response_metadata["error"]["kind"] == "rejected"


async def test_who_rejects_changes_no_arguments(desk: Desk) -> None:
    """It is not clear what they want; the call goes on waiting."""
    waiting = await desk.ask("delete", order=7)

    with pytest.raises(InvalidDecision) as caught:
        await desk.decide(waiting, Decision(decision="reject", args={"order": 8}))

    assert caught.value.message == "`args` go with an approval only; say in `reason` what was wrong with the call."
    assert (await desk.approvals.get(waiting)).approval.status == "pending"


@pytest.mark.parametrize("first", [APPROVE, Decision(decision="reject")], ids=["approve", "reject"])
async def test_a_second_decision_is_refused(desk: Desk, first: Decision) -> None:
    """Also by the person who made the first."""
    waiting = await desk.ask("delete", order=7)
    await desk.decide(waiting, first)

    with pytest.raises(ApprovalConflict):
        await desk.decide(waiting)


async def test_of_two_people_at_once_one_decides(desk: Desk) -> None:
    """The call runs once, no matter whose arguments are checked first."""
    waiting = await desk.ask("delete", order=7)

    first, second = await asyncio.gather(
        desk.decide(waiting, Decision(decision="approve", args={"order": 8})),
        desk.decide(waiting, Decision(decision="approve", args={"order": 9})),
        return_exceptions=True,
    )

    assert isinstance(first, Approval)
    assert isinstance(second, ApprovalConflict)


async def test_what_never_waited_cannot_be_decided(desk: Desk) -> None:
    """There is nothing to run."""
    with pytest.raises(UnknownApproval):
        await desk.decide("nope")


@pytest.mark.parametrize(("name", "kind"), [("refuse", "tool_error"), ("crash", "execution_error")])
async def test_an_approved_call_that_fails_is_answered_all_the_same(desk: Desk, name: str, kind: str) -> None:
    """The failure is the call's, not the decision's, even one that its author lets through."""
    approval = await desk.decide(await desk.ask(name))

    assert approval.message is not None
    assert approval.status == "approved"
    assert approval.message.response_metadata["error"]["kind"] == kind


@pytest.mark.parametrize("changed", [None, {"order": 8}], ids=["as asked", "changed"])
async def test_a_call_whose_tool_is_gone_goes_on_waiting(desk: Desk, changed: dict[str, object] | None) -> None:
    """It was taken away meanwhile; when it comes back, the call is decided about as ever."""
    waiting = await desk.ask("delete", order=7)
    kept = [desk.registry.get(name) for name in desk.registry.names]
    desk.registry.replace([refuse])

    with pytest.raises(ToolChanged) as caught:
        await desk.decide(waiting, Decision(decision="approve", args=changed))

    assert "is gone" in caught.value.message
    desk.registry.replace([it for it in kept if it is not None])
    approval = await desk.decide(waiting, Decision(decision="approve", args=changed))
    assert approval.message is not None
    assert approval.message.status == "success"


async def test_a_call_whose_tool_is_gone_can_be_rejected(desk: Desk) -> None:
    """The model reads why."""
    waiting = await desk.ask("delete", order=7)
    desk.registry.replace([refuse])

    approval = await desk.decide(waiting, Decision(decision="reject", reason="Too late."))

    assert approval.status == "rejected"
    assert approval.message is not None
    assert "Too late." in approval.message.content


async def test_a_call_that_is_interrupted_is_answered_for_whoever_asks_later(desk: Desk) -> None:
    """Nobody would learn otherwise that it may have had effects."""
    started = asyncio.Event()

    @tool(requires_approval=True, timeout=1000)
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    desk.registry.add(hang)
    waiting = await desk.ask("hang")
    deciding = asyncio.ensure_future(desk.decide(waiting))
    await started.wait()
    running = (await desk.approvals.get(waiting)).approval
    deciding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await deciding
    message = (await desk.approvals.get(waiting)).approval.message

    assert (running.status, running.message) == ("approved", None)
    assert message is not None
    assert message.content == "Error: the call was interrupted; it may have had effects."
    assert message.response_metadata["error"]["kind"] == "execution_error"


async def test_a_call_with_objects_of_this_process_can_be_rejected_but_not_run(desk: Desk) -> None:
    """Without them it would be another call than the one that was asked about."""
    request = CallRequest(ToolCall(name="delete", args={"order": 7}, id="call_1"), state=object())
    with pytest.raises(ApprovalRequired) as caught:
        await desk.pipeline.run(request)
    waiting = caught.value.approval.id

    with pytest.raises(CallNotRecorded, match=r"JSON cannot say `state`\.$"):
        await desk.decide(waiting)
    rejected = await desk.decide(waiting, Decision(decision="reject"))

    assert rejected.status == "rejected"


async def test_a_call_for_which_there_is_no_room_waits_on_as_it_came(desk: Desk) -> None:
    """The next decision is about the call that would run."""
    waiting = await desk.ask("delete", order=7)
    full = Pipeline(
        desk.registry,
        default_stages({"inline": InlineExecutor()}, desk.approvals),
        admission=Admission(Limits(concurrency=1, queue=0)),
    )
    is_full = asyncio.Event()

    @tool
    async def stay() -> None:
        """Take the only place."""
        is_full.set()
        await asyncio.Event().wait()

    desk.registry.add(stay)
    staying = asyncio.ensure_future(full.run(CallRequest(ToolCall(name="stay", args={}, id="call_2"))))
    await is_full.wait()
    edited = Decision(decision="approve", args={"order": 8})
    with pytest.raises(Overloaded):
        await decide(full, desk.approvals, waiting, edited, Caller("eve"))
    staying.cancel()
    await asyncio.wait([staying])
    shown = (await desk.approvals.get(waiting)).approval

    assert (shown.status, shown.tool_call.args, shown.decided_by) == ("pending", {"order": 7}, None)
    assert (await desk.decide(waiting)).message is not None
