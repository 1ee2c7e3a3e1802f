"""Tools with the rarer features of LangChain, each of which some project uses."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Callable, ClassVar, Dict, List, Literal, Optional, Type, Union

from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForToolRun
from langchain_core.messages import AnyMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import (
    BaseTool,
    BaseToolkit,
    InjectedToolArg,
    InjectedToolCallId,
    StructuredTool,
    Tool,
    ToolException,
    tool,
)
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from langgraph.types import Command, Send
from pydantic import BaseModel, ConfigDict, Field, SecretStr, computed_field, model_validator
from typing_extensions import NotRequired, TypedDict


class DeskState(TypedDict):
    messages: List[AnyMessage]
    user: str
    visited: NotRequired[List[str]]


class Desk(TypedDict):
    who: str


# A class that takes a client and makes its description at the start.
class Client:
    def __init__(self, token: str) -> None:
        self.token = token

    def get(self, path: str) -> Dict[str, Any]:
        return {"path": path, "auth": len(self.token)}


class ApiTool(BaseTool):
    name: str = "api_get"
    description: str = ""
    client: Any = Field(default=None, exclude=True)
    api_token: SecretStr
    allowed: List[str] = []
    return_direct: bool = False

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def make_client(cls, values: Dict[str, Any]) -> Any:
        values.setdefault("api_token", "abc")
        values["client"] = Client(values["api_token"])
        values["description"] = f"Get one of {', '.join(values['allowed'])}."
        return values

    def _run(self, path: str, *, run_manager: Optional[CallbackManagerForToolRun] = None) -> Dict[str, Any]:
        if path not in self.allowed:
            raise ToolException({"error": "not allowed", "path": path})
        return self.client.get(path)


# A subclass of a subclass, with super() and a class of arguments inside.
class Searching(BaseTool):
    name: str = "base"
    description: str = "Look through things."
    things: ClassVar[List[str]] = ["tea", "team", "coffee"]

    class Input(BaseModel):
        query: str = Field(description="What to look for", examples=["tea"])
        top_k: int = Field(2, alias="topK", ge=1)

        model_config = ConfigDict(populate_by_name=True)

    args_schema: Type[BaseModel] = Input

    def _run(self, query: str, top_k: int = 2) -> List[str]:
        return [it for it in self.things if query in it][:top_k]


class LoudSearching(Searching):
    name: str = "loud_search"

    def _run(self, query: str, top_k: int = 2) -> List[str]:
        return [it.upper() for it in super()._run(query, top_k)]


# A StructuredTool with its own way of running.
class Counting(StructuredTool):
    seen: List[str] = Field(default_factory=list)

    def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
        self.seen.append(json.dumps(kwargs))
        return {"result": self.func(*args, **kwargs), "calls": len(self.seen)}


def _add(a: int, b: int = 10) -> int:
    return a + b


counting = Counting.from_function(func=_add, name="counting_add", description="Add, and count.")


# A decorator of the team around the function.
def logged(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return f"<{function(*args, **kwargs)}>"

    return wrapper


@tool
@logged
def wrapped(text: str, times: Annotated[int, "How often"] = 1) -> str:
    """Repeat a text."""
    return text * times


# State as a type, with a store, a runtime and the id at once.
@tool
def summarize(
    style: Literal["short", "long"],
    state: Annotated[DeskState, InjectedState],
    runtime: ToolRuntime[Desk, DeskState],
    call_id: Annotated[str, InjectedToolCallId],
    store: Annotated[Any, InjectedStore],
) -> Command:
    """Summarize what was said."""
    words = [message.content for message in runtime.state["messages"] if isinstance(message, HumanMessage)]
    store.put(("summaries",), call_id, {"style": style})
    found = store.get(("summaries",), call_id)
    text = f"{state['user']}: {len(words)} said {found.value['style']}"
    return Command(
        update={"visited": [*state["visited"], style], "messages": [ToolMessage(text, tool_call_id=call_id, name="x")]},
        goto=[Send("writer", {"style": style}), "checker"],
    )


# Many messages at once.
@tool
def report(parts: List[str], tool_call_id: Annotated[str, InjectedToolCallId]) -> List[Union[Command, ToolMessage]]:
    """Report in parts."""
    message = ToolMessage(
        content=[{"type": "text", "text": part} for part in parts],
        tool_call_id=tool_call_id,
        artifact={"parts": len(parts)},
        status="success" if parts else "error",
    )
    return [message, Command(update={"user": "Bo"})]


@dataclass
class Row:
    key: str
    value: float | None = None


class Filter(BaseModel):
    """Choose rows."""

    model_config = ConfigDict(extra="allow")

    field: str
    op: Literal["eq", "gt"] = "eq"
    any_of: Optional[List[Filter]] = None


class QueryInput(BaseModel):
    table: str = Field(pattern="^[a-z]+$")
    where: Union[Filter, List[Filter], None] = None
    order: Dict[str, Literal["asc", "desc"]] = Field(default_factory=dict)

    @computed_field
    @property
    def sql(self) -> str:
        return f"select * from {self.table}"


@tool("query_rows", args_schema=QueryInput, return_direct=True, extras={"cache_control": {"type": "ephemeral"}})
def query(table: str, where: Any = None, order: Optional[Dict[str, str]] = None) -> str:
    """Query rows."""
    filters = where if isinstance(where, list) else [where] if where else []
    return f"{table}: {[(it.field, it.op, it.model_extra) for it in filters]} {order}"


# Positional texts, with a default handler that depends on the error.
def _handle(error: ToolException) -> str:
    kind = type(error).__name__
    return json.dumps({"kind": kind, "args": list(error.args)})


class NotFound(ToolException):
    pass


def _lookup(key: str) -> str:
    if key == "none":
        raise NotFound("no such key", key)
    if key == "break":
        raise KeyError(key)
    return key[::-1]


lookup = Tool(
    name="lookup", func=_lookup, description="Look a key up.", handle_tool_error=_handle, verbose=True, tags=["a"]
)


# A toolkit which makes methods into tools.
class Shop(BaseToolkit):
    prices: Dict[str, float]

    def get_tools(self) -> List[BaseTool]:
        return [
            StructuredTool.from_function(self.price, parse_docstring=True),
            StructuredTool.from_function(coroutine=self.acheapest, name="cheapest"),
        ]

    def price(self, item: str, count: int = 1) -> float:
        """Say a price.

        Args:
            item: What to buy.
            count: How many.
        """
        return self.prices[item] * count

    async def acheapest(self, of: Sequence[str]) -> str:
        """Find what costs least."""
        return min(of, key=lambda it: self.prices[it])


price, cheapest = Shop(prices={"tea": 2.5, "cake": 4}).get_tools()


# A copy with other names, and calls from tool to tool in all ways.
@tool
def inner(n: int, note: Annotated[Optional[str], InjectedToolArg] = None) -> str:
    """Say a number."""
    return f"{n}{note or ''}"


renamed = copy.copy(inner)
renamed.name = "renamed"
renamed.description = "Say a number under another name."


class Listener(BaseCallbackHandler):
    def __init__(self) -> None:
        self.heard: List[str] = []

    def on_tool_start(self, serialized: Dict[str, Any], input_str: str, **kwargs: Any) -> None:
        self.heard.append(f"start {serialized['name']} {sorted(kwargs.get('tags') or [])}")

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self.heard.append(f"end {getattr(output, 'content', output)}")


@tool
async def outer(numbers: List[int], config: RunnableConfig) -> str:
    """Use another tool in every way."""
    listener = Listener()
    heard = inner.with_config(tags=["outer"], callbacks=[listener])
    said = [await heard.ainvoke({"n": n}) for n in numbers]
    said += await inner.abatch([{"n": n} for n in numbers])
    said += [part async for part in inner.astream({"n": 0})]
    call: ToolCall = {"name": "inner", "args": {"n": 7}, "id": "x", "type": "tool_call"}
    message = await inner.ainvoke(call)
    said.append(f"{message.tool_call_id}:{message.content}:{message.status}")
    return json.dumps([said, listener.heard])


api = ApiTool(allowed=["users", "orders"])
loud_search = LoudSearching()
