"""The messages of a state come in any form that LangChain takes, through every door, for every way to ask for them."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import AgentState, AnyMessage, BaseMessage, InjectedState, MessagesState, ToolRuntime, tool
from tests.kit.clients import MakeClient

CALL = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"q": 1}'}}
FORMS: dict[str, Any] = {
    "OpenAI's": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "content": "4", "tool_call_id": "1"},
    ],
    "pairs": [["user", "hi"], ["assistant", ""], {"role": "tool", "content": "4", "tool_call_id": "1"}],
    "LangChain's": [
        {"type": "human", "content": "hi"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"q": 1}, "id": "1", "type": "tool_call"}]},
        {"type": "tool", "content": "4", "tool_call_id": "1"},
    ],
    "kept": [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": {"content": "hi"},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {"content": ""},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "ToolMessage"],
            "kwargs": {"content": "4", "tool_call_id": "1"},
        },
    ],
}


class Kept(BaseModel):
    """A state of pydantic's."""

    messages: list[AnyMessage]


def name(messages: Any) -> str:
    """Name what each message is, and what it says."""
    return " ".join(f"{type(it).__name__}:{it.text}" for it in messages)


@tool
def by_state(state: Annotated[MessagesState, InjectedState]) -> str:
    """Read."""
    return name(state["messages"])


@tool
def by_agent_state(runtime: ToolRuntime[None, AgentState]) -> str:
    """Read."""
    return name(runtime.state["messages"])


@tool
def by_model(state: Annotated[Kept, InjectedState]) -> str:
    """Read."""
    return name(state.messages)


@tool
def by_any(messages: Annotated[list[AnyMessage], InjectedState("messages")]) -> str:
    """Read."""
    return name(messages)


@tool
def by_base(messages: Annotated[list[BaseMessage], InjectedState("messages")]) -> str:
    """Read."""
    return name(messages)


@tool
def by_dict(state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Read."""
    return name(state["messages"])


@tool
def by_list(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
    """Read."""
    return name(messages)


@tool
def by_runtime(runtime: ToolRuntime) -> str:
    """Read."""
    return name(runtime.state["messages"])


TOOLS = [by_state, by_agent_state, by_model, by_any, by_base, by_dict, by_list, by_runtime]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("it", TOOLS, ids=lambda it: it.name)
async def test_a_tool_finds_messages(make_client: MakeClient, it: Any, form: str) -> None:
    """No matter what the program has sent, in a call, a batch and in process."""
    client = await make_client(*TOOLS)
    call: dict[str, Any] = {"name": it.name, "args": {}, "id": "1", "type": "tool_call"}
    state = {"messages": FORMS[form]}

    alone = await client.post("/tool_calls", json={**call, "state": state})
    [together] = (await client.post("/tool_calls/batch", json={"calls": [call], "state": state})).json()
    inside = await it.ainvoke(call, state=state)

    assert [alone.json()["content"], together["content"], inside.content] == [
        "HumanMessage:hi AIMessage: ToolMessage:4"
    ] * 3


@pytest.mark.parametrize("it", TOOLS[:5], ids=lambda it: it.name)
async def test_what_is_no_message_is_the_programs_fault(make_client: MakeClient, it: Any) -> None:
    """Where messages are asked for."""
    client = await make_client(it)

    answer = await client.post(
        "/tool_calls", json={"name": it.name, "args": {}, "state": {"messages": [["nobody", "hi"]]}}
    )

    assert answer.status_code == 422
