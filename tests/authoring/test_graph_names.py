"""What tools of LangGraph ask of the run: its thread, its state's types, its store; and documents of retrievers."""

from typing import Annotated, Any

import pytest

import sidecall
from sidecall import (
    AgentState,
    Document,
    InjectedState,
    MessagesState,
    RunnableConfig,
    StreamWriter,
    ToolRuntime,
    create_retriever_tool,
    tool,
)
from tests.kit.calls import run
from tests.kit.clients import MakeClient

HUMAN = {"type": "human", "content": "hi"}


@tool(response_format="content_and_artifact")
def name_thread(config: RunnableConfig, runtime: ToolRuntime) -> tuple[str, list[str | None]]:
    """Name the thread in each way."""
    info = runtime.execution_info
    assert info is not None
    same = runtime.config["configurable"].get("thread_id")
    return "named", [config["configurable"].get("thread_id"), same, info.thread_id]


class MyState(AgentState):
    """A state of one's own."""

    user: str


class Conversation(MessagesState):
    """Another one."""

    topic: str


@tool
def read_state(state: Annotated[MyState, InjectedState], runtime: ToolRuntime[None, Conversation]) -> str:
    """Read the state by its types."""
    writer: StreamWriter = runtime.stream_writer
    writer("reading")
    said = [type(it).__name__ for it in (*state["messages"], *runtime.state["messages"])]
    return f"{state['user']}, {runtime.state['topic']}: {said}"


@pytest.mark.parametrize(
    ("context", "headers", "expected"),
    [
        ({}, {}, None),
        ({"conversation_id": "chat-7"}, {}, "chat-7"),
        ({}, {"Sidecall-Conversation": "chat-8"}, "chat-8"),
        ({"thread_id": "t1", "conversation_id": "chat-7"}, {}, "t1"),
    ],
)
async def test_the_thread_is_the_conversation(
    make_client: MakeClient, context: dict[str, str], headers: dict[str, str], expected: str | None
) -> None:
    """Unless the program names one itself."""
    client = await make_client(name_thread)

    sent = {"name": "name_thread", "args": {}, "id": "call_1", "context": context}
    answer = await client.post("/tool_calls", json=sent, headers=headers)

    assert answer.json()["artifact"] == [expected] * 3


async def test_states_have_langgraphs_types() -> None:
    """Their messages become objects; what a type does not name is kept."""
    state = {"messages": [HUMAN, {"type": "ai", "content": "hello"}], "user": "Ada", "topic": "tea"}

    message = await run(read_state, {}, state=state)

    assert message.content == ("Ada, tea: ['HumanMessage', 'AIMessage', 'HumanMessage', 'AIMessage']")


async def test_a_document_keeps_its_id() -> None:
    """In the artifact, where the retriever gives one; as an object, a mapping or a text."""

    def look_up(query: str) -> list[Any]:
        return [
            Document(page_content=query, metadata={"page": 1}, id="doc-1"),
            {"page_content": "two", "id": "doc-2"},
            Document("three"),
            "four",
        ]

    made = create_retriever_tool(look_up, "look_up", "Look up.", response_format="content_and_artifact")

    message = await run(made, {"query": "tea"})

    assert message.content == "tea\n\ntwo\n\nthree\n\nfour"
    assert message.artifact == [
        {"page_content": "tea", "metadata": {"page": 1}, "id": "doc-1"},
        {"page_content": "two", "metadata": {}, "id": "doc-2"},
        {"page_content": "three", "metadata": {}},
        {"page_content": "four", "metadata": {}},
    ]


@pytest.mark.parametrize("name", ["StateGraph", "create_agent", "BaseRetriever", "AgentMiddleware"])
def test_a_name_that_is_not_here_says_what_is(name: str) -> None:
    """At its import."""
    with pytest.raises(ImportError, match=f"{name} is not in sidecall: "):
        exec(f"from sidecall import {name}", {})
    assert name not in dir(sidecall)
