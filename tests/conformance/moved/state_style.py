"""Tools that read a graph's state and its messages in the ways that LangChain's docs show, and call each other."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, List, Optional

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException, tool
from langgraph.prebuilt import InjectedState, ToolRuntime

@tool
def inner(n: int) -> int:
    """Give a number back."""
    if n == 0: raise ValueError("zero")
    if n == 1: raise KeyError("one")
    if n == 2: raise ToolException("two")
    return n


@tool
def o_bad(n: int) -> str:
    """Call another tool."""
    try: return str(inner.invoke({"n": "x"}))
    except ValueError as e: return "caught bad"


@tool
def o_missing(n: int) -> str:
    """Call another tool."""
    try: return str(inner.invoke({}))
    except Exception as e: return "caught " + str(isinstance(e, ValueError))


@tool
def o_batch(n: int) -> str:
    """Call another tool."""
    return str(inner.batch([{"n": n}, {"n": n + 1}]))


@tool
def s_get(q: str, state: Annotated[dict, InjectedState]) -> str:
    """Say what is in the state."""
    m = state["messages"]
    return json.dumps([type(x).__name__ + ":" + str(x.content) for x in m]) + str(isinstance(m[0], HumanMessage)) + m[-1].tool_calls[0]["name"]


@tool
def s_list(q: str, messages: Annotated[list[BaseMessage], InjectedState("messages")]) -> str:
    """Say what is in the state."""
    return ",".join(type(x).__name__ for x in messages)


@tool
def s_any(q: str, messages: Annotated[list[AnyMessage], InjectedState("messages")]) -> str:
    """Say what is in the state."""
    return ",".join(type(x).__name__ + x.type for x in messages)


@tool
def s_plain(q: str, messages: Annotated[list, InjectedState("messages")]) -> str:
    """Say what is in the state."""
    return ",".join(type(x).__name__ for x in messages)


@tool
def s_opt(q: str, messages: Annotated[Optional[list[BaseMessage]], InjectedState("messages")] = None) -> str:
    """Say what is in the state."""
    return ",".join(type(x).__name__ for x in messages)


@tool
def s_rt(q: str, runtime: ToolRuntime) -> str:
    """Say what is in the state."""
    return ",".join(type(x).__name__ for x in runtime.state["messages"]) + runtime.state["messages"][-1].tool_calls[0]["id"]


@tool
def s_pass(q: str, runtime: ToolRuntime) -> str:
    """Say what is in the state."""
    return s_get.invoke({"q": q, "state": runtime.state})


@tool
def s_pass2(q: str, runtime: ToolRuntime) -> str:
    """Say what is in the state."""
    return s_rt.invoke({"q": q, "runtime": runtime})


@tool
def s_pass3(q: str, config: RunnableConfig, state: Annotated[dict, InjectedState]) -> str:
    """Say what is in the state."""
    return s_get.invoke({"q": q, "state": state}, config)


@tool
def s_text(q: str, state: Annotated[dict, InjectedState]) -> str:
    """Say what is in the state."""
    return state["messages"][0].text + str(state["messages"][0].type) + str(state["messages"][0].id)


@tool
def s_tid(q: str, config: RunnableConfig) -> str:
    """Say what is in the state."""
    return str(config["configurable"]["thread_id"]) + str((config.get("metadata") or {}).get("thread_id"))


@tool
def s_sequence(q: str, messages: Annotated[Sequence[BaseMessage], InjectedState("messages")]) -> str:
    """Say what is in the state."""
    return ",".join(str(isinstance(it, AIMessage)) for it in messages)


@tool
def s_old_list(q: str, messages: Annotated[List[Any], InjectedState("messages")]) -> str:
    """Say what is in the state."""
    return str(messages[-1].content) + str(len(messages))
