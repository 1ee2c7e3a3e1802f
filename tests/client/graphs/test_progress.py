"""The progress of a call reaches the stream of a graph, and a graph that streams none does not ask for it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from sidecall import ToolContext, tool
from tests.client.conftest import OpenTwin
from tests.client.desk import write
from tests.client.test_langchain import QUESTION, THREAD, answers, load, run, say
from tests.client.twins import Twin, wait_for
from tests.kit.calls import write_call

SAID = {"tool": "write", "tool_call_id": "call_write"}
EVENTS: list[Any] = [
    {"type": "progress", **SAID, "done": 1, "total": 2, "message": "begun"},
    {"type": "partial", **SAID, "content": "a"},
    {"type": "partial", **SAID, "content": "b"},
]
DELTAS = [
    {"event": "tool-output-delta", "tool_call_id": "call_write", "delta": "a"},
    {"event": "tool-output-delta", "tool_call_id": "call_write", "delta": "b"},
]


@tool
def tell(context: ToolContext) -> str:
    """Tell which kind of answer the call has asked for."""
    return context.headers.get("accept", "")


@tool(requires_approval=True)
async def wipe(disk: str, context: ToolContext) -> AsyncIterator[str]:
    """Wipe a disk."""
    await context.progress(1, 1, f"wiping {disk}")
    yield "clean"


async def stream(twin: Twin, graph: Any, given: Any, mode: Any, **options: Any) -> list[Any]:
    """Return what a graph streams: an agent with the blocking client in a thread, another one on the event loop."""
    if type(twin.client).__name__ == "Sidecall":
        return list(await wait_for(lambda: list(graph.stream(given, THREAD, stream_mode=mode, **options))))
    return [it async for it in graph.astream(given, THREAD, stream_mode=mode, **options)]


MODES: list[Any] = [
    ("custom", EVENTS),
    (["custom"], [("custom", it) for it in EVENTS]),
    (
        ["tools", "custom"],
        [
            ("custom", EVENTS[0]),
            *(
                it
                for pair in zip([("custom", it) for it in EVENTS[1:]], [("tools", it) for it in DELTAS], strict=True)
                for it in pair
            ),
        ],
    ),
    ("tools", DELTAS),
]


@pytest.mark.parametrize(("mode", "expected"), MODES, ids=["custom", "a list", "both", "tools"])
async def test_progress_is_among_the_events_of_a_graph(open_twin: OpenTwin, mode: Any, expected: list[Any]) -> None:
    """As what a tool of LangGraph writes, in order, with the tool and the call it is of."""
    twin = await open_twin(write)
    agent, _ = await run(twin, say(write_call("write", text="a b")))

    events = await stream(twin, agent, QUESTION, mode)

    assert [it for it in events if "tool-started" not in str(it) and "tool-finished" not in str(it)] == expected


async def test_progress_of_an_agent_within_a_graph_reaches_the_one_around(open_twin: OpenTwin) -> None:
    """With the namespace of the inner one, as LangGraph's own events."""
    twin = await open_twin(write)
    inner, _ = await run(twin, say(write_call("write", text="a b")))
    graph = StateGraph(MessagesState)
    graph.add_node("helper", inner)
    graph.add_edge(START, "helper")
    outer: Any = graph.compile(checkpointer=InMemorySaver())

    events = await stream(twin, outer, QUESTION, "custom", subgraphs=True)

    assert [it for _, it in events] == EVENTS
    assert {place[0].split(":")[0] for place, _ in events} == {"helper"}


async def test_an_approved_call_has_its_answer_alone(open_twin: OpenTwin) -> None:
    """It runs in the server for the person who has decided."""
    twin = await open_twin(wipe)
    agent, _ = await run(twin, say(write_call("wipe", disk="A")))

    before = await stream(twin, agent, QUESTION, "custom")
    after = await stream(twin, agent, Command(resume=True), ["custom", "values"])

    assert before == []
    assert [mode for mode, _ in after if mode == "custom"] == []
    assert after[-1][1]["messages"][-2].content == "clean"


@pytest.mark.parametrize(
    ("mode", "accepted"), [("values", "*/*"), ("updates", "*/*"), ("messages", "*/*"), ("custom", "text/event-stream")]
)
async def test_a_call_is_followed_if_the_graph_streams_its_progress(
    open_twin: OpenTwin, mode: str, accepted: str
) -> None:
    """Otherwise it is an ordinary one, which may have a key."""
    twin = await open_twin(tell)
    agent, _ = await run(twin, say(write_call("tell")))

    await stream(twin, agent, QUESTION, mode)

    state = await wait_for(agent.get_state, THREAD)
    assert answers(state.values)["call_tell"].content == accepted


async def test_a_writer_of_the_programs_own_gets_progress(open_twin: OpenTwin) -> None:
    """As of a test of a tool, which makes the runtime itself."""
    twin = await open_twin(write)
    heard: list[Any] = []
    (offered,) = await load(twin)
    runtime: Any = ToolRuntime(
        state={}, context=None, config={}, stream_writer=heard.append, tool_call_id="call_write", store=None
    )
    call = {
        **write_call("write", id="call_write", text="a b"),
        "args": {"text": "a b", "runtime_of_the_graph": runtime},
    }

    message = await wait_for(
        getattr(offered, "invoke" if type(twin.client).__name__ == "Sidecall" else "ainvoke"), call
    )

    assert (message.content, heard) == ("ab", EVENTS)


async def test_events_and_traces_have_the_models_arguments_alone(open_twin: OpenTwin) -> None:
    """What LangGraph injects holds the whole state, and stays out of them, as of its own tools."""
    twin = await open_twin(tell)
    agent, _ = await run(twin, say(write_call("tell")))

    events = await stream(twin, agent, QUESTION, "tools")
    (offered,) = [it for it in await load(twin) if it.name == "tell"]

    assert [it["input"] for it in events if it["event"] == "tool-started"] == [{}]
    assert "runtime_of_the_graph" not in str(events)
    assert list(offered.tool_call_schema["properties"]) == []
