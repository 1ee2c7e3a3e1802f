"""Tools and their unit tests, as they are written for LangChain."""

import asyncio
from typing import Annotated, Any, Optional

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForToolRun
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, StructuredTool, ToolException, tool
from langgraph.prebuilt import InjectedState
from pydantic import BaseModel, Field


class AddInput(BaseModel):
    a: int = Field(description="first")
    b: int = Field(default=1, description="second")


@tool("add", args_schema=AddInput)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
def fetch(url: str, token: Annotated[str, InjectedToolArg]) -> str:
    """Fetch a page."""
    return f"{url} with {token}"


@tool
def last(state: Annotated[dict, InjectedState], call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Say what was said last."""
    return f"{state['messages'][-1].content} {call_id}"


@tool(response_format="content_and_artifact")
def rows(count: int) -> tuple[str, list[int]]:
    """List rows."""
    return f"{count} rows", list(range(count))


class Divide(BaseTool):
    name: str = "divide"
    description: str = "Divide two numbers."
    handle_tool_error: bool = True

    def _run(self, a: float, b: float, run_manager: Optional[CallbackManagerForToolRun] = None) -> float:
        if b == 0:
            raise ToolException("Division by zero")
        return a / b


@tool
def who(config: RunnableConfig) -> str:
    """Say who asks."""
    return str(config["configurable"]["user"])


@tool
def fail(text: str) -> str:
    """Fail."""
    raise RuntimeError(text)


async def shout(text: str) -> str:
    """Shout."""
    return text.upper()


class Heard(BaseCallbackHandler):
    def __init__(self) -> None:
        self.events: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.events.append(f"start {serialized['name']} {input_str}")

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.events.append(f"error {error}")


def test_invoke() -> None:
    assert add.invoke({"a": 2, "b": 3}) == 5
    assert add.invoke({"a": "2"}) == 3
    assert add.run({"a": 2}) == 3


def test_schema() -> None:
    assert add.name == "add"
    assert add.description == "Add two numbers."
    assert add.args["a"]["type"] == "integer"
    assert set(add.args_schema.model_json_schema()["properties"]) == {"a", "b"}
    assert set(fetch.args) == {"url"}
    assert set(fetch.get_input_schema().model_json_schema()["properties"]) == {"url", "token"}


def test_bad_input() -> None:
    with pytest.raises(ValueError):
        add.invoke({"a": "many"})
    with pytest.raises(ValueError):
        add.invoke({})


def test_call_gives_message() -> None:
    message = add.invoke({"name": "add", "args": {"a": 2}, "id": "1", "type": "tool_call"})
    assert isinstance(message, ToolMessage)
    assert (message.content, message.tool_call_id, message.name, message.status) == ("3", "1", "add", "success")


def test_artifact() -> None:
    assert rows.invoke({"count": 2}) == "2 rows"
    message = rows.invoke({"name": "rows", "args": {"count": 2}, "id": "1", "type": "tool_call"})
    assert message.artifact == [0, 1]


def test_hidden_arguments() -> None:
    assert fetch.invoke({"url": "a", "token": "t"}) == "a with t"
    said = {"messages": [HumanMessage("hi"), AIMessage("hello")]}
    message = last.invoke({"name": "last", "args": {"state": said}, "id": "7", "type": "tool_call"})
    assert message.content == "hello 7"


def test_function_behind() -> None:
    assert add.func(1, 2) == 3
    assert fetch.func(url="a", token="t") == "a with t"
    assert last.func({"messages": [AIMessage("hello")]}, "8") == "hello 8"
    assert Divide()._run(1, 2) == 0.5


def test_tool_error() -> None:
    assert Divide().invoke({"a": 1, "b": 0}) == "Division by zero"
    message = Divide().invoke({"name": "divide", "args": {"a": 1, "b": 0}, "id": "1", "type": "tool_call"})
    assert (message.content, message.status) == ("Division by zero", "error")
    with pytest.raises(ToolException, match="Division by zero"):
        Divide(handle_tool_error=False).invoke({"a": 1, "b": 0})


def test_crash() -> None:
    with pytest.raises(RuntimeError, match="boom"):
        fail.invoke({"text": "boom"})


def test_config() -> None:
    assert who.invoke({}, config={"configurable": {"user": "Ada"}}) == "Ada"
    assert who.invoke({}, {"configurable": {"user": "Bo"}}) == "Bo"


def test_async() -> None:
    loud = StructuredTool.from_function(coroutine=shout)
    assert asyncio.run(loud.ainvoke({"text": "a"})) == "A"
    assert asyncio.run(add.ainvoke({"a": 1})) == 2
    assert asyncio.run(add.abatch([{"a": 1}, {"a": 2}])) == [2, 3]


def test_batch_and_stream() -> None:
    assert add.batch([{"a": 1}, {"a": 2, "b": 2}]) == [2, 4]
    assert list(add.stream({"a": 1})) == [2]


def test_callbacks() -> None:
    heard = Heard()
    with pytest.raises(RuntimeError):
        fail.invoke({"text": "boom"}, config={"callbacks": [heard]})
    assert heard.events == ["start fail {'text': 'boom'}", "error boom"]
