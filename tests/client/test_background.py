"""A call that its server runs in the background waits for a person as any other: the client never waits for ever."""

from typing import Any

import pytest
from langgraph.types import Command
from pydantic_ai import DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ToolCallPart, ToolReturnPart

from sidecall import ApprovalRequired, ToolContext, tool
from sidecall.client import ApprovalNeeded, CallApproval, Conflicting
from tests.client.conftest import OpenApp, OpenTwin
from tests.client.desk import empty
from tests.client.test_langchain import QUESTION, THREAD, answers, run, say
from tests.client.test_pydantic_ai import DEPS, make_agent, parts, script
from tests.client.twins import make_twin
from tests.kit.calls import write_call

RAN: list[str] = []


@tool(background=True, requires_approval=True)
def wipe(disk: str) -> str:
    """Wipe a disk."""
    RAN.append(disk)
    return f"Wiped {disk}."


@tool(background=True)
def clear(disk: str, context: ToolContext) -> str:
    """Clear a disk."""
    if not context.approved:
        raise ApprovalRequired("All of it?")
    return f"Cleared {disk}."


@tool
def nag() -> str:
    """Ask again and again."""
    raise ApprovalRequired("Really?", state="asked")


@pytest.mark.parametrize(("name", "done"), [("wipe", "Wiped a."), ("clear", "Cleared a.")])
async def test_a_person_is_asked_about_a_call_in_the_background(open_twin: OpenTwin, name: str, done: str) -> None:
    """Or the program is told that one has to be."""
    twin = await open_twin(wipe, clear)

    with pytest.raises(ApprovalNeeded) as needed:
        await twin.ask("call", name, {"disk": "b"}, timeout=5)
    with pytest.raises(ApprovalNeeded):
        await twin.ask("call", name, {"disk": "b"}, approval_wait=0.1)
    approved, rejected = [
        await twin.ask("call", name, {"disk": "a"}, ask=lambda _, said=said: said) for said in (True, False)
    ]

    assert needed.value.approvals[0].tool_call["args"] == {"disk": "b"}
    assert (approved.content, rejected.failure.kind) == (done, "rejected")


async def test_a_tool_that_asks_twice_is_answered_twice(open_twin: OpenTwin) -> None:
    """Each of its questions once, also one that nobody here answers."""
    twin = await open_twin(empty)
    asked: list[str] = []

    def say_yes(approval: CallApproval) -> bool:
        asked.append(approval.description or "")
        return True

    def say_yes_once(approval: CallApproval) -> bool | None:
        asked.append(approval.description or "")
        return True if approval.description == "Read it?" else None

    answer = await twin.ask("call", "empty", {"folder": "mail"}, ask=say_yes)
    with pytest.raises(ApprovalNeeded):
        await twin.ask("call", "empty", {"folder": "post"}, ask=say_yes_once, approval_wait=1)

    assert answer.content == "mail is empty."
    assert asked == ["Read it?", "Delete it?"] * 2


async def test_what_a_person_says_answers_the_question_that_they_were_shown(open_app: OpenApp) -> None:
    """Where somebody else has answered it meanwhile, the next one waits on; also one of the same words."""
    twin = make_twin("asynchronous", await open_app(nag))

    async def say_late(approval: CallApproval) -> bool:
        await twin.ask("approvals.approve", approval.id)
        return True

    with pytest.raises(Conflicting):
        await twin.ask("call", "nag", {}, ask=say_late)
    (waiting,) = await twin.ask("approvals.list")

    assert waiting.document["question"] == 2
    await twin.ask("close")


async def test_a_tool_that_asks_without_end_is_not_answered_for_ever(open_twin: OpenTwin) -> None:
    """A hundred times are enough, also of the same words."""
    twin = await open_twin(nag)
    asked: list[str] = []

    def say_yes(approval: CallApproval) -> bool:
        asked.append(approval.id)
        return True

    with pytest.raises(ApprovalNeeded):
        await twin.ask("call", "nag", {}, ask=say_yes)

    assert (len(asked), len(set(asked))) == (100, 1)


async def test_somebody_else_decides_about_it_meanwhile(open_app: OpenApp) -> None:
    """While the client waits as long as it is told to."""
    twin = make_twin("asynchronous", await open_app(wipe))

    async def decide_elsewhere(approval: Any) -> None:
        await twin.ask("approvals.approve", approval.id)

    answer = await twin.ask("call", "wipe", {"disk": "a"}, ask=decide_elsewhere, approval_wait=5)

    assert answer.content == "Wiped a."
    await twin.ask("close")


async def test_a_call_in_the_background_interrupts_a_graph(open_app: OpenApp) -> None:
    """And runs once when it goes on."""
    twin = make_twin("asynchronous", await open_app(wipe))
    agent, _ = await run(twin, say(write_call("wipe", disk="a")))
    RAN.clear()

    (question,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    state = await agent.ainvoke(Command(resume=True), THREAD)

    assert question.value["tool_call"]["args"] == {"disk": "a"}
    assert (answers(state)["call_wipe"].content, RAN) == ("Wiped a.", ["a"])
    assert len(await twin.ask("approvals.list", None)) == 1
    await twin.ask("close")


async def test_a_call_in_the_background_is_deferred(open_app: OpenApp) -> None:
    """Until the run goes on with what a person has said."""
    twin = make_twin("asynchronous", await open_app(clear))
    agent = make_agent(twin.client, script([ToolCallPart("clear", {"disk": "a"}, "a")]))

    stopped = await agent.run("Please.", deps=DEPS)
    result = await agent.run(
        message_history=stopped.all_messages(),
        deferred_tool_results=DeferredToolResults(approvals={"a": True}),
        deps=DEPS,
    )

    assert isinstance(stopped.output, DeferredToolRequests)
    assert parts(result, ToolReturnPart)[-1].content == "Cleared a."
    await twin.ask("close")
