"""What a graph is resumed with counts for the approval that was shown, and for no other."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt

from sidecall.client import NotAllowed
from tests.client.conftest import OpenApp, OpenTwin
from tests.client.desk import double, empty, refund
from tests.client.test_langchain import QUESTION, THREAD, answers, load, run, say
from tests.client.twins import Twin, make_twin
from tests.kit.callers.keys import write_keys
from tests.kit.calls import write_call

TWO = [write_call("refund", id="call_1", order=1), write_call("refund", id="call_2", order=2)]


async def make_graph(twin: Twin, *calls: dict[str, Any], before: Any = None) -> Any:
    """Make a graph that runs all calls in one step, which may ask something itself before."""
    tools = ToolNode(await load(twin))

    async def work(state: MessagesState) -> Any:
        said = [] if before is None else [AIMessage(str(interrupt(before)))]
        return {"messages": [*said, *(await tools.ainvoke(state))["messages"]]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda _: {"messages": [AIMessage("", tool_calls=list(calls))]})
    graph.add_node("tools", work)
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    return graph.compile(checkpointer=InMemorySaver())


def contents(state: dict[str, Any]) -> dict[str, Any]:
    """Return what the model reads, by the ids of the calls."""
    return {call_id: message.content for call_id, message in answers(state).items()}


def decide(question: Any) -> Any:
    """Approve the first order, and reject the second."""
    return question.value["tool_call"]["args"]["order"] == 1


@pytest.mark.parametrize("by_id", [False, True])
async def test_each_of_two_calls_of_a_step_has_its_own_decision(open_twin: OpenTwin, by_id: bool) -> None:
    """No matter which is shown first."""
    twin = await open_twin(refund)
    graph = await make_graph(twin, *TWO)

    state = await graph.ainvoke(QUESTION, THREAD)
    shown = []
    while questions := state.get("__interrupt__"):
        (question,) = questions
        shown.append(question.value["tool_call"]["id"])
        said = decide(question)
        state = await graph.ainvoke(Command(resume={question.id: said} if by_id else said), THREAD)

    assert sorted(shown) == ["call_1", "call_2"]
    assert contents(state)["call_1"] == "Refunded 100 for order 1."
    assert answers(state)["call_2"].status == "error"


async def test_a_step_may_be_a_task_within_another(open_twin: OpenTwin) -> None:
    """As of LangGraph's functional API, which keeps its interrupts in another place."""
    twin = await open_twin(empty)
    tools = ToolNode(await load(twin))

    @task
    async def work(messages: list[Any]) -> Any:
        return (await tools.ainvoke({"messages": messages}))["messages"][0].content

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(folder: str) -> Any:
        return await work([say(write_call("empty", folder=folder))])

    (first,) = (await flow.ainvoke("mail", THREAD))["__interrupt__"]
    (second,) = (await flow.ainvoke(Command(resume=True), THREAD))["__interrupt__"]
    content: Any = await flow.ainvoke(Command(resume=True), THREAD)

    assert [it.value["description"] for it in (first, second)] == ["Read it?", "Delete it?"]
    assert content == "mail is empty."


async def test_a_decision_about_another_call_of_the_step_is_not_taken(open_twin: OpenTwin) -> None:
    """Somebody has decided about the one that was shown in the meantime."""
    twin = await open_twin(refund)
    graph = await make_graph(twin, *TWO)

    (question,) = (await graph.ainvoke(QUESTION, THREAD))["__interrupt__"]
    await twin.ask("approvals.approve", question.value["id"])
    (other,) = (await graph.ainvoke(Command(resume=True), THREAD))["__interrupt__"]

    assert {question.value["tool_call"]["id"], other.value["tool_call"]["id"]} == {"call_1", "call_2"}
    assert [it.status for it in await twin.ask("approvals.list", None)].count("pending") == 1


async def test_a_tool_that_asks_twice_has_two_answers(open_twin: OpenTwin) -> None:
    """The second question is shown, and not answered as the first was."""
    twin = await open_twin(empty)
    agent, _ = await run(twin, say(write_call("empty", folder="mail")))

    (first,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    (second,) = (await agent.ainvoke(Command(resume=True), THREAD))["__interrupt__"]
    state = await agent.ainvoke(Command(resume=False), THREAD)

    assert (first.value["description"], second.value["description"]) == ("Read it?", "Delete it?")
    assert (first.value["id"], first.value["answered_before"]) == (second.value["id"], 0)
    assert second.value["answered_before"] == 1
    assert contents(state) == {"call_empty": "mail stays: 2 asked."}


async def test_going_on_without_an_answer_asks_again(open_twin: OpenTwin) -> None:
    """LangGraph keeps the last answer, and would take it for one to the next question."""
    twin = await open_twin(empty)
    agent, _ = await run(twin, say(write_call("empty", folder="mail")))

    await agent.ainvoke(QUESTION, THREAD)
    (second,) = (await agent.ainvoke(Command(resume=True), THREAD))["__interrupt__"]
    (again,) = (await agent.ainvoke(None, THREAD))["__interrupt__"]
    state = await agent.ainvoke(Command(resume=True), THREAD)

    assert [it.value["description"] for it in (second, again)] == ["Delete it?"] * 2
    assert contents(state) == {"call_empty": "mail is empty."}


async def test_what_is_forgotten_is_asked_about_anew(open_twin: OpenTwin) -> None:
    """A decision about the old approval counts for no other: a call that was rejected would run."""
    twin = await open_twin(refund, approval_ttl=1)
    agent, _ = await run(twin, say(write_call("refund", order=7)))

    (question,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    while await twin.ask("approvals.list"):
        pass
    (again,) = (await agent.ainvoke(Command(resume=True), THREAD))["__interrupt__"]

    assert again.value["id"] != question.value["id"]
    assert again.value["status"] == "pending"


async def test_what_the_server_refuses_is_asked_about_again(open_twin: OpenTwin) -> None:
    """Each time, and of both of a tool's questions, until it is a decision."""
    twin = await open_twin(empty)
    agent, _ = await run(twin, say(write_call("empty", folder="mail")))

    shown = [(await agent.ainvoke(QUESTION, THREAD))["__interrupt__"][0].value]
    for said in ({"decision": "maybe"}, "yes", True, {"decision": "maybe"}):
        (question,) = (await agent.ainvoke(Command(resume=said), THREAD))["__interrupt__"]
        shown.append(question.value)
    state = await agent.ainvoke(Command(resume=True), THREAD)

    assert [it["description"] for it in shown] == ["Read it?"] * 3 + ["Delete it?"] * 2
    assert [it.get("refused", "")[:18] for it in shown] == [
        "",
        "The body is not a ",
        "Resume with True, ",
        "",
        "The body is not a ",
    ]
    assert contents(state) == {"call_empty": "mail is empty."}


async def test_interrupts_of_the_step_itself_keep_their_answers(open_twin: OpenTwin) -> None:
    """What answers them decides about no call."""
    twin = await open_twin(refund, double)
    graph = await make_graph(twin, write_call("refund", order=7), before={"id": "mine"})

    (own,) = (await graph.ainvoke(QUESTION, THREAD))["__interrupt__"]
    (question,) = (await graph.ainvoke(Command(resume=True), THREAD))["__interrupt__"]
    state = await graph.ainvoke(Command(resume=False), THREAD)

    assert (own.value, question.value["tool_call"]["args"]) == ({"id": "mine"}, {"order": 7})
    assert state["messages"][-2].content == "True"
    assert answers(state)["call_1"].status == "error"


LACKING: list[Any] = [
    (("tools:call", "approvals:decide"), True, "approvals:decide_own"),
    (("tools:call",), True, "approvals:decide"),
    (("tools:call",), False, "approvals:decide"),
]


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
@pytest.mark.parametrize(("scopes", "said", "lacking"), LACKING, ids=["no own ones", "no approval", "no rejection"])
async def test_a_program_that_may_not_decide_is_interrupted_again(
    open_app: OpenApp, tmp_path: Path, kind: str, scopes: tuple[str, ...], said: bool, lacking: str
) -> None:
    """With the scope that it lacks; the run goes on when another has decided."""
    headers = write_keys(tmp_path / "keys", {"agent": scopes, "boss": ("*",)})
    app = await open_app(refund, auth="api_key", keys_file=tmp_path / "keys")
    twin, boss = (make_twin(kind, app, headers=headers[name]) for name in ("agent", "boss"))
    agent, _ = await run(twin, say(write_call("refund", order=7)))

    (asked,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    (again,) = (await agent.ainvoke(Command(resume=said), THREAD))["__interrupt__"]
    (third,) = (await agent.ainvoke(Command(resume=said), THREAD))["__interrupt__"]
    await boss.ask("approvals.approve", asked.value["id"])
    state = await agent.ainvoke(Command(resume=said), THREAD)

    assert "refused" not in asked.value
    assert lacking in again.value["refused"]
    assert (again.value["id"], third.value["id"]) == (asked.value["id"],) * 2
    assert contents(state) == {"call_refund": "Refunded 100 for order 7."}


@pytest.mark.parametrize("kind", ["blocking", "asynchronous"])
async def test_a_call_that_may_not_be_made_ends_the_run(open_app: OpenApp, tmp_path: Path, kind: str) -> None:
    """It is no decision, so another one would mend nothing."""
    headers = write_keys(tmp_path / "keys", {"agent": ("approvals:decide",)})
    app = await open_app(double, auth="api_key", keys_file=tmp_path / "keys")
    agent, _ = await run(make_twin(kind, app, headers=headers["agent"]), say(write_call("double", number=4)))

    with pytest.raises(NotAllowed, match="tools:call"):
        await agent.ainvoke(QUESTION, THREAD)
