"""Commands of tools change a graph as those of its own tools do."""

from typing import Annotated, Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send

from sidecall import Command as ToolCommand
from sidecall import InjectedState, InjectedToolCallId, tool
from sidecall import ToolMessage as Said
from sidecall.client import ToolAnswer
from sidecall.client.interrupts import read_graph_output
from tests.client.conftest import OpenTwin
from tests.client.test_langchain import QUESTION, ScriptedChat, load, say
from tests.kit.calls import write_call


@tool
def hand_off(
    messages: Annotated[list[Any], InjectedState("messages")], call_id: Annotated[str, InjectedToolCallId]
) -> ToolCommand:
    """Hand the conversation over to another agent."""
    said = [*messages, Said("transferred", tool_call_id=call_id)]
    return ToolCommand(goto="other", graph=ToolCommand.PARENT, update={"messages": said})


@tool
def forget(
    messages: Annotated[list[Any], InjectedState("messages")], call_id: Annotated[str, InjectedToolCallId]
) -> ToolCommand:
    """Forget all but the call."""
    everything = {"type": "remove", "id": "__remove_all__", "content": ""}
    return ToolCommand(update={"messages": [everything, messages[-1], Said("forgotten", tool_call_id=call_id)]})


def tell(messages: list[Any]) -> list[tuple[str, Any]]:
    """Tell messages by their kinds and contents."""
    return [(it.type, it.content) for it in messages]


async def test_a_hand_off_brings_the_answer_behind_its_call(open_twin: OpenTwin) -> None:
    """As models want it: the agent's messages are new to the graph around it, in their order."""
    twin = await open_twin(hand_off)
    model = ScriptedChat(responses=[say(write_call("hand_off"))], offered=[])
    graph = StateGraph(MessagesState)
    graph.add_node("one", create_agent(model, await load(twin)), destinations=("other",))
    graph.add_node("other", lambda _: {"messages": [AIMessage("Hello.")]})
    graph.add_edge(START, "one")

    state = await graph.compile().ainvoke(QUESTION)

    assert tell(state["messages"]) == [("human", "Please."), ("ai", ""), ("tool", "transferred"), ("ai", "Hello.")]


async def test_what_removes_all_messages_leaves_the_answer_behind_it(open_twin: OpenTwin) -> None:
    """The call that it answers too."""
    twin = await open_twin(forget)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode(await load(twin)))
    graph.add_edge(START, "tools")

    state = await graph.compile().ainvoke({"messages": [*QUESTION["messages"], say(write_call("forget"))]})

    assert tell(state["messages"]) == [("ai", ""), ("tool", "forgotten")]


def test_several_commands_and_sends_are_read() -> None:
    """The first brings the message along."""
    step = {"node": "writer", "arg": {"subject": "tea"}}
    asked = [{"state_update": {}, "goto": [step, "checker"]}, {"state_update": {"a": 1}, "graph": "__parent__"}]
    answer = ToolAnswer("sent", "call_1", "plan", response_metadata={"state_update": {"a": 1}, "commands": asked})

    first, second = read_graph_output(answer)

    assert ([it.content for it in first.update["messages"]], first.goto) == (
        ["sent"],
        [Send("writer", {"subject": "tea"}), "checker"],
    )
    assert (second.update, second.graph, second.goto) == ({"a": 1}, "__parent__", [])


def test_the_command_that_has_the_answer_brings_it() -> None:
    """Between its other messages."""
    other = ToolMessage("other", tool_call_id="call_0")
    asked = [{"state_update": {"a": 1}}, {"state_update": {"messages": [other]}, "answer_at": 1}]
    answer = ToolAnswer("sent", "call_1", "plan", response_metadata={"state_update": {"a": 1}, "commands": asked})

    outputs: Any = read_graph_output(answer)

    assert "messages" not in outputs[0].update
    assert tell(outputs[1].update["messages"]) == [("tool", "other"), ("tool", "sent")]
