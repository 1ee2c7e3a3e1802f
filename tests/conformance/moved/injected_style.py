"""Twelve tools that live on what they are given: state, store, ids, configuration and commands."""

from __future__ import annotations

import operator
from collections import deque
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Optional

from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolArg, InjectedToolCallId, ToolException, tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.store.base import BaseStore
from langgraph.types import Command, Send
from pydantic import BaseModel, Field
from typing_extensions import TypedDict


class State(TypedDict):
    """The state of the graph."""

    messages: list[AnyMessage]
    user: str
    visited: Annotated[list[str], operator.add]


class Color(str, Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    """A point."""

    x: int
    y: int = 0


@tool
def who(state: Annotated[dict, InjectedState], greeting: str = "Hello") -> str:
    """Greet the user."""
    return f"{greeting}, {state['user']}"


@tool
def last_words(messages: Annotated[list[AnyMessage], InjectedState("messages")], upper: bool = False) -> str:
    """Repeat what was said last."""
    said = next(message.content for message in reversed(messages) if isinstance(message, HumanMessage))
    return said.upper() if upper else said


@tool
def transfer(
    agent: Literal["sales", "support"],
    state: Annotated[State, InjectedState],
    tool_call_id: Annotated[str, InjectedToolCallId],
) -> Command[Literal["sales", "support"]]:
    """Hand the conversation to another agent."""
    message = ToolMessage(content=f"Transferred to {agent}", name="transfer", tool_call_id=tool_call_id)
    return Command(
        goto=agent, graph=Command.PARENT, update={"messages": [message], "visited": [*state["visited"], agent]}
    )


@tool
def fan_out(subjects: list[str], tool_call_id: Annotated[str, InjectedToolCallId]) -> Command:
    """Work on several subjects."""
    return Command(
        goto=[Send("worker", {"subject": subject}) for subject in subjects],
        update={"messages": [ToolMessage(f"{len(subjects)} sent", tool_call_id=tool_call_id)]},
    )


@tool
def remember(key: str, value: Any, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Remember a value."""
    store.put(("memories",), key, {"value": value})
    return f"{key}={store.get(('memories',), key).value['value']}"


@tool
async def thread(config: RunnableConfig, *, prefix: str = "thread") -> str:
    """Name the thread."""
    return f"{prefix} {config['configurable']['thread_id']}"


@tool
def optional_config(key: str, config: Annotated[RunnableConfig, InjectedToolArg] = None) -> str:
    """Look something up."""
    return f"{key} {type(config).__name__ in ('dict', 'NoneType')}"


@tool
def plan(runtime: ToolRuntime[None, State], steps: int = 1) -> Command:
    """Make a plan."""
    if steps > 3:
        raise ToolException({"code": 7, "reason": "too many steps"})
    visited = runtime.state["visited"]
    return Command(
        update={
            "plan": [f"{n} after {len(visited)}" for n in range(steps)],
            "messages": [ToolMessage([{"type": "text", "text": "planned"}], tool_call_id=runtime.tool_call_id)],
        }
    )


@tool
def paint(color: Color, at: Point, on: Optional[date] = None) -> dict[str, Any]:
    """Paint a point."""
    return {"color": color.value, "x": at.x + at.y, "on": on.isoformat() if on else None}


@tool
def status(ok: bool, tool_call_id: Annotated[str, InjectedToolCallId]) -> ToolMessage:
    """Report a status."""
    return ToolMessage("fine" if ok else "broken", tool_call_id=tool_call_id, status="success" if ok else "error")


@tool(response_format="content_and_artifact")
def rows(count: Annotated[int, Field(ge=1, le=3)], run_manager: Optional[CallbackManagerForToolRun] = None) -> Any:
    """Read rows."""
    return [{"type": "text", "text": f"{count} rows"}], [{"row": n} for n in range(count)]


@tool
def recent(items: list[int], keep: Annotated[int, "how many"] = 2) -> list[int]:
    """Keep the last items."""
    return list(deque(items, maxlen=keep))
