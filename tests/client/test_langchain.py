"""An agent of LangChain works with the tools of a server as with its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.agents.middleware.human_in_the_loop import ApproveDecision, EditDecision, HITLResponse, RejectDecision
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from sidecall import tool
from sidecall.client import ApprovalNeeded
from sidecall.client.langchain import aload_tools, load_tools
from tests.client.conftest import OpenTwin
from tests.client.desk import book, charge, configure, double, find, recall, refund
from tests.client.twins import Twin, wait_for
from tests.kit.calls import write_call

THREAD: Any = {"configurable": {"thread_id": "1"}}
QUESTION = {"messages": [{"role": "user", "content": "Please."}], "key": "of the state"}


class ScriptedChat(FakeMessagesListChatModel):
    """A model that says one thing after the other, and keeps which tools it was offered."""

    offered: list[Any]

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        """Take them."""
        self.offered[:] = tools
        return self


class Keys(AgentMiddleware[Any, Any]):
    """More keys of the state."""

    class State(AgentState[Any]):
        """What tools read and change."""

        key: NotRequired[str]
        seat: NotRequired[str]

    state_schema = State


def say(*calls: dict[str, Any]) -> AIMessage:
    """Ask for tools."""
    return AIMessage("", tool_calls=[{**call, "id": f"call_{call['name']}"} for call in calls])


async def load(twin: Twin, **options: Any) -> Any:
    """Load the tools with either client."""
    loads = {"Sidecall": load_tools, "AsyncSidecall": aload_tools}
    return await wait_for(loads[type(twin.client).__name__], twin.client, **options)


async def run(twin: Twin, *said: BaseMessage) -> tuple[Any, ScriptedChat]:
    """Make an agent whose model says this, and its tools."""
    model = ScriptedChat(responses=[*said, AIMessage("Done.")], offered=[])
    tools = await load(twin, context={"user": "Ada"})
    return create_agent(model, tools, middleware=[Keys()], checkpointer=InMemorySaver()), model


def answers(state: dict[str, Any]) -> dict[str, ToolMessage]:
    """Return what the tools have answered, by the ids of their calls; the last answer counts."""
    return {it.tool_call_id: it for it in state["messages"] if isinstance(it, ToolMessage)}


async def test_state_artifacts_failures_and_commands_come_across(open_twin: OpenTwin) -> None:
    """As with tools of LangChain's own."""
    twin = await open_twin(double, find, recall, book)
    calls = [
        write_call("find", query="tea"),
        write_call("recall", key="key"),
        write_call("book", seat="1A"),
        write_call("double", number="four"),
    ]
    agent, _ = await run(twin, say(*calls), say(write_call("double", number=4)))

    state = await agent.ainvoke(QUESTION, THREAD)

    first = [it for it in state["messages"] if isinstance(it, ToolMessage)]
    assert [it.status for it in first] == ["success", "success", "success", "error", "success"]
    assert (first[0].content, first[0].artifact) == ("tea for Ada", {"rows": ["tea"]})
    assert (first[1].content, first[2].content, state["seat"]) == ("of the state", "Seat 1A is yours.", "1A")
    assert "number" in str(first[3].content)
    assert (first[4].content, state["messages"][-1].content) == ("8", "Done.")


async def test_a_choice_of_arguments_is_offered_as_one_object(open_twin: OpenTwin) -> None:
    """OpenAI and Anthropic refuse a request with anything else."""
    text = {"type": "string"}
    choice = [{"required": ["route"]}, {"required": ["file"]}]

    @tool(args_schema={"type": "object", "properties": {"route": text, "file": text}, "anyOf": choice})
    async def visit(**given: Any) -> str:
        """Visit."""
        return str(given)

    twin = await open_twin(visit)
    agent, model = await run(twin, say(write_call("visit", route="a", file=None)))
    state = await agent.ainvoke(QUESTION, THREAD)

    function = convert_to_openai_tool(model.offered[0])["function"]
    assert function["description"] == "Visit.\n\nSend route or file."
    assert function["parameters"].keys() == {"type", "properties"}
    assert answers(state)["call_visit"].content == "{'route': 'a'}"


@pytest.mark.parametrize(
    ("decision", "expected", "status"),
    [
        (True, "Refunded 100 for order 7.", "success"),
        ({"decision": "approve", "args": {"order": 7, "amount": 5}}, "Refunded 5 for order 7.", "success"),
        ({"decision": "reject", "reason": "Ask for a receipt first."}, "Ask for a receipt first.", "error"),
    ],
)
async def test_an_approval_interrupts_the_graph(open_twin: OpenTwin, decision: Any, expected: str, status: str) -> None:
    """It goes on with what a person has said."""
    twin = await open_twin(refund)
    agent, _ = await run(twin, say(write_call("refund", order=7)))

    stopped = await agent.ainvoke(QUESTION, THREAD)
    (question,) = stopped["__interrupt__"]
    state = await agent.ainvoke(Command(resume=decision), THREAD)

    assert question.value["tool_call"]["args"] == {"order": 7}
    assert (answers(state)["call_refund"].content, answers(state)["call_refund"].status) == (expected, status)


HUMAN: list[Any] = [
    ({"type": "approve"}, "Refunded 100 for order 7.", "success"),
    (
        {"type": "edit", "edited_action": {"name": "refund", "args": {"order": 7, "amount": 5}}},
        "Refunded 5 for order 7.",
        "success",
    ),
    ({"type": "reject", "message": "Ask for a receipt first."}, "Ask for a receipt first.", "error"),
]


@pytest.mark.parametrize("is_alone", [False, True])
@pytest.mark.parametrize(("decision", "expected", "status"), HUMAN, ids=["approve", "edit", "reject"])
async def test_a_graph_is_resumed_as_langchains_own_middleware_is(
    open_twin: OpenTwin, decision: Any, expected: str, status: str, is_alone: bool
) -> None:
    """With a decision in a list, as for all calls of a turn, or alone, as for one call."""
    twin = await open_twin(refund)
    agent, _ = await run(twin, say(write_call("refund", order=7)))
    typed: dict[str, Any] = {"approve": ApproveDecision, "edit": EditDecision, "reject": RejectDecision}
    resumed = typed[decision["type"]](**decision)

    await agent.ainvoke(QUESTION, THREAD)
    state = await agent.ainvoke(Command(resume=resumed if is_alone else HITLResponse(decisions=[resumed])), THREAD)

    assert (answers(state)["call_refund"].content, answers(state)["call_refund"].status) == (expected, status)


REFUSED: list[Any] = [
    ("yes", "Resume with True, False, "),
    ({"decision": "approve", "amount": 5}, "Resume with True, False, "),
    ({"decisions": []}, "This is about one call, and there are 0 decisions; give one."),
    ({"decisions": [{"type": "approve"}] * 2}, "This is about one call, and there are 2 decisions; give one."),
    ({"type": "respond", "message": "It is done."}, "A person cannot answer in a tool's place here: reject the call"),
    (
        {"type": "edit", "edited_action": {"name": "double", "args": {}}},
        "A person can change the arguments of refund, ",
    ),
    ({"type": "edit"}, "This is no decision of HumanInTheLoopMiddleware: {'type': 'edit'}"),
    ({"decision": "approve", "args": {"order": "seven"}}, "order: Input should be an integer"),
]


@pytest.mark.parametrize(("said", "why"), REFUSED, ids=[why[:30] for _, why in REFUSED])
async def test_what_is_no_decision_stops_the_graph_again(open_twin: OpenTwin, said: Any, why: str) -> None:
    """With the reason; the next decision counts."""
    twin = await open_twin(refund)
    agent, _ = await run(twin, say(write_call("refund", order=7)))

    (asked,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    (again,) = (await agent.ainvoke(Command(resume=said), THREAD))["__interrupt__"]
    state = await agent.ainvoke(Command(resume=True), THREAD)

    assert "refused" not in asked.value
    assert why in again.value["refused"]
    assert again.value["id"] == asked.value["id"]
    assert answers(state)["call_refund"].content == "Refunded 100 for order 7."


async def test_a_person_may_decide_elsewhere(open_twin: OpenTwin) -> None:
    """The graph stops again as long as nobody has."""
    twin = await open_twin(refund)
    agent, _ = await run(twin, say(write_call("refund", order=7)))

    (question,) = (await agent.ainvoke(QUESTION, THREAD))["__interrupt__"]
    again = await agent.ainvoke(Command(resume={question.id: None}), THREAD)
    await twin.ask("approvals.reject", question.value["id"], "No.")
    (question,) = again["__interrupt__"]
    state = await agent.ainvoke(Command(resume={question.id: True}), THREAD)

    assert answers(state)["call_refund"].content == "No."


async def test_the_model_is_offered_what_the_server_lists(open_twin: OpenTwin) -> None:
    """Hidden parameters stay hidden, and a tool's options go along."""
    twin = await open_twin(find, recall)
    agent, model = await run(twin)

    await agent.ainvoke(QUESTION, THREAD)

    assert [(it.name, list(it.tool_call_schema["properties"])) for it in model.offered] == [
        ("find", ["query"]),
        ("recall", ["key"]),
    ]


async def test_tools_run_without_a_graph_too(open_twin: OpenTwin) -> None:
    """In a ToolNode, by a whole call, or by bare arguments; an approval is an exception there."""
    twin = await open_twin(double, refund)
    tools = {it.name: it for it in await load(twin, filters={"names": ["double", "refund"]})}

    message = await tools["double"].ainvoke(write_call("double", number=4))
    content = await tools["double"].ainvoke({"number": 4})

    assert (message.content, message.tool_call_id, content) == ("8", "call_1", "8")
    assert ToolNode(list(tools.values())).tools_by_name.keys() == tools.keys()
    with pytest.raises(ApprovalNeeded):
        await tools["refund"].ainvoke(write_call("refund", order=7))


async def test_a_sync_agent_takes_the_blocking_client(open_twin: OpenTwin) -> None:
    """The other one says so."""
    twin = await open_twin(double)
    (tool,) = await load(twin)

    if type(twin.client).__name__ == "Sidecall":
        assert (await wait_for(tool.invoke, write_call("double", number=4))).content == "8"
    else:
        with pytest.raises(TypeError, match="use ainvoke"):
            tool.invoke(write_call("double", number=4))


async def test_a_thread_is_a_conversation(open_twin: OpenTwin) -> None:
    """Models that count their calls give one thread's ids to another's calls, which are not answered as those were."""
    twin = await open_twin(charge)
    contents = []
    for thread, amount in (("A", 1), ("B", 2), ("A", 1)):
        agent, _ = await run(twin, say(write_call("charge", amount=amount)))
        state = await agent.ainvoke(QUESTION, {"configurable": {"thread_id": thread}})
        contents.append(answers(state)["call_charge"])

    assert [it.content for it in contents] == ["Charged 1.", "Charged 2.", "Charged 1."]
    assert contents[0].id == contents[2].id


async def test_an_id_that_is_used_again_is_an_error_that_the_model_reads(open_twin: OpenTwin) -> None:
    """As in a batch: a model that counts its calls begins at the same one again."""
    twin = await open_twin(charge)
    agent, _ = await run(twin, *(say(write_call("charge", amount=amount)) for amount in (1, 2)))
    state = await agent.ainvoke(QUESTION, THREAD)
    plain = {"name": "charge", "args": {"amount": 1}, "id": "call_7"}
    (_, batched) = [await twin.ask("batch", [{**plain, "args": {"amount": it}}]) for it in (1, 2)]

    answer = answers(state)["call_charge"]
    assert (answer.status, answer.content) == ("error", batched[0].content.replace("call_7", "call_charge"))
    assert answer.response_metadata["error"]["kind"] == batched[0].failure.kind == "key_reused"
    assert state["messages"][-1].content == "Done."


async def test_a_parameter_may_be_called_as_something_of_the_frameworks(open_twin: OpenTwin) -> None:
    """It gets what the model has written."""
    twin = await open_twin(configure)
    args = {"runtime": "node", "config": {"a": 1}, "tool_call_id": "T", "store": 7, "state": "S", "callbacks": "C"}
    agent, _ = await run(twin, say(write_call("configure", **args)))

    state = await agent.ainvoke(QUESTION, THREAD)

    assert answers(state)["call_configure"].content == "node {'a': 1} T 7 S C"


@dataclass
class Person:
    """Who a run is for."""

    name: str


async def test_a_context_may_be_that_of_a_run(open_twin: OpenTwin) -> None:
    """A function makes it, of the run's own context and of its config."""
    twin = await open_twin(find)
    model = ScriptedChat(responses=[say(write_call("find", query="tea")), AIMessage("Done.")] * 2, offered=[])
    tools = await load(
        twin, context=lambda runtime: {"user": runtime.context.name + runtime.config["configurable"]["title"]}
    )
    agent: Any = create_agent(model, tools, context_schema=Person)

    first = await agent.ainvoke(QUESTION, {"configurable": {"title": ", Countess"}}, context=Person("Ada"))
    second = await agent.ainvoke(QUESTION, {"configurable": {"title": ""}}, context=Person("Eve"))

    assert [answers(it)["call_find"].content for it in (first, second)] == ["tea for Ada, Countess", "tea for Eve"]
    assert await {it.name: it for it in tools}["find"].ainvoke({"query": "tea"}) == "tea for nobody"
