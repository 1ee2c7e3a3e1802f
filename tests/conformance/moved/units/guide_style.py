"""Tools of an agent and their unit tests, with what tests of LangChain tools ask most often."""

import asyncio
import json
from datetime import date
from typing import Annotated, Any, List, Literal, Optional, Type
from unittest.mock import MagicMock, patch

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForToolRun, BaseCallbackHandler, CallbackManagerForToolRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, BaseToolkit, StructuredTool, Tool, ToolException, tool
from langgraph.prebuilt import ToolRuntime
from pydantic import BaseModel, Field, ValidationError, field_validator


class SearchInput(BaseModel):
    """Input for the search."""

    query: str = Field(description="what to look for", min_length=2)
    limit: int = Field(default=5, ge=1, le=10)

    @field_validator("query")
    @classmethod
    def refuse_bangs(cls, value: str) -> str:
        if "!" in value:
            raise ValueError("no bangs")
        return value


@tool("search-tool", args_schema=SearchInput, return_direct=True)
def search(query: str, limit: int = 5) -> str:
    """Search it."""
    return f"{query}:{limit}"


@tool
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


@tool
async def amultiply(a: int, b: int) -> int:
    """Multiply two numbers, later."""
    return a * b


@tool
def divide(a: float, b: float) -> float:
    """Divide."""
    if b == 0:
        raise ToolException("Cannot divide by zero")
    return a / b


class Searcher(BaseTool):
    name: str = "Searcher"
    description: str = "useful for searching"
    args_schema: Type[BaseModel] = SearchInput
    return_direct: bool = True

    def _run(self, query: str, limit: int = 5, run_manager: Optional[CallbackManagerForToolRun] = None) -> str:
        return f"{query}{limit}"

    async def _arun(
        self, query: str, limit: int = 5, run_manager: Optional[AsyncCallbackManagerForToolRun] = None
    ) -> str:
        return self._run(query, limit, run_manager=run_manager.get_sync() if run_manager else None)


class Weather(BaseTool):
    name: str = "weather"
    description: str = "Say how the weather is."
    client: Any

    def _run(self, city: str) -> dict:
        return self.client.get(city)


class Times(BaseTool):
    name: str = "times"
    description: str = "Multiply by the length of a text."

    def _run(self, q: str, run_manager: Optional[CallbackManagerForToolRun] = None) -> int:
        child = run_manager.get_child() if run_manager else None
        return multiply.invoke({"a": 2, "b": len(q)}, config={"callbacks": child})


@tool
def greet(greeting: str, runtime: ToolRuntime) -> str:
    """Greet the user."""
    return f"{greeting} {runtime.state['user']} {runtime.tool_call_id}"


@tool
def whose(key: str, config: RunnableConfig) -> str:
    """Say whose a key is."""
    return f"{key} of {config.get('configurable', {}).get('user')}"


@tool
def outer(n: int) -> int:
    """Double."""
    return multiply.invoke({"a": n, "b": 2})


@tool
async def outer_later(n: int) -> str:
    """Ask whose it is."""
    return await whose.ainvoke({"key": str(n)})


@tool
def outer_config(n: int, config: RunnableConfig) -> str:
    """Ask whose it is, here and there."""
    here = whose.invoke({"key": str(n)}, config)
    return f"{here}, {whose.invoke({'key': 'other'}, {'configurable': {'user': 'Bo'}})}"


@tool
def outer_many(n: int) -> str:
    """Ask of several."""
    return ", ".join(whose.batch([{"key": str(it)} for it in range(n)]))


@tool
def careful(n: str) -> str:
    """Say what is wrong with a number."""
    try:
        return str(multiply.invoke({"a": n}))
    except ValidationError as error:
        return f"{error.title}: {[(it['loc'], it['type'], it['msg']) for it in error.errors()]}"


class Heard(BaseCallbackHandler):
    def __init__(self) -> None:
        self.started: list[str] = []
        self.details: list[Any] = []
        self.failed: list[str] = []

    def on_tool_start(self, serialized: Any, input_str: str, **kwargs: Any) -> None:
        self.started.append(f"{serialized['name']} {input_str}")
        self.details.append((kwargs["inputs"], kwargs["tags"], kwargs["metadata"]))

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self.failed.append(type(error).__name__)


def test_wrong_arguments_are_a_validation_error() -> None:
    with pytest.raises(ValidationError) as caught:
        search.invoke({"query": "a"})
    assert caught.value.error_count() == 1
    assert caught.value.errors()[0]["type"] == "string_too_short"
    assert caught.value.title == "SearchInput"
    with pytest.raises(ValidationError, match="no bangs"):
        search.invoke({"query": "a!b"})
    with pytest.raises(ValidationError, match="1 validation error for multiply") as caught:
        multiply.run({"a": 1})
    assert caught.value.errors()[0]["loc"] == ("b",)
    assert caught.value.errors()[0]["msg"] == "Field required"


def test_wrong_arguments_of_an_async_tool() -> None:
    async def run() -> Any:
        with pytest.raises(ValidationError):
            await amultiply.ainvoke({"a": 1})
        return await amultiply.ainvoke({"a": 2, "b": "3"})

    assert asyncio.run(run()) == 6


def test_wrong_arguments_within() -> None:
    assert careful.invoke({"n": "x"}) == (
        "multiply: [(('a',), 'int_parsing', 'Input should be a valid integer, unable to parse string as an integer'), "
        "(('b',), 'missing', 'Field required')]"
    )


def test_wrong_arguments_in_a_batch() -> None:
    answers = multiply.batch([{"a": 1, "b": 1}, {"a": "x", "b": 2}], return_exceptions=True)
    assert answers[0] == 1
    assert isinstance(answers[1], ValidationError)


def test_handlers() -> None:
    fixed = StructuredTool.from_function(multiply.func, name="m", handle_validation_error="bad input")
    told = StructuredTool.from_function(
        multiply.func, name="m", handle_validation_error=lambda e: f"{type(e).__name__} {len(e.errors())}"
    )
    worded = StructuredTool.from_function(divide.func, name="d", handle_tool_error=lambda e: f"ERR {e}")
    assert fixed.invoke({"a": "z"}) == "bad input"
    assert told.invoke({"a": "z"}) == "ValidationError 2"
    assert worded.invoke({"a": 1, "b": 0}) == "ERR Cannot divide by zero"
    with pytest.raises(ToolException, match="Cannot divide by zero"):
        divide.invoke({"a": 1, "b": 0})


def test_mocked_client() -> None:
    it = Weather(client=MagicMock(get=MagicMock(return_value={"t": 1})))
    assert it.invoke({"city": "Rome"}) == {"t": 1}
    it.client.get.assert_called_once_with("Rome")
    message = it.invoke({"name": "weather", "args": {"city": "Rome"}, "id": "1", "type": "tool_call"})
    assert json.loads(message.content) == {"t": 1}
    broken = Weather(client=MagicMock(get=MagicMock(side_effect=ConnectionError("down"))))
    with pytest.raises(ConnectionError, match="down"):
        broken.invoke({"city": "Rome"})


def test_patched() -> None:
    with patch.object(Weather, "_run", return_value="patched"):
        assert Weather(client=None).invoke({"city": "Rome"}) == "patched"


def test_class() -> None:
    it = Searcher()
    assert it.run({"query": "ab", "limit": 2}) == "ab2"
    assert asyncio.run(it.ainvoke({"query": "ab"})) == "ab5"
    assert it._run("ab") == "ab5"
    assert (it.get_name(), it.return_direct, it.tags, it.metadata) == ("Searcher", True, None, None)
    assert it.input_schema.model_json_schema()["properties"]["limit"]["maximum"] == 10


def test_runtime_made_by_hand() -> None:
    runtime = ToolRuntime(
        state={"user": "Bo"}, context=None, config={}, stream_writer=lambda _: None, tool_call_id="c9", store=None
    )
    assert greet.func("hi", runtime) == "hi Bo c9"
    assert greet.invoke({"greeting": "hi", "runtime": runtime}) == "hi Bo c9"


def test_calls_of_a_message() -> None:
    message = AIMessage("", tool_calls=[{"name": "multiply", "args": {"a": 2, "b": 5}, "id": "q"}])
    (answer,) = [multiply.invoke(call) for call in message.tool_calls]
    assert (answer.content, answer.name, answer.tool_call_id) == ("10", "multiply", "q")
    answer = divide.invoke(ToolCall(name="divide", args={"a": 4, "b": 2}, id="z", type="tool_call"))
    assert (answer.content, answer.tool_call_id) == ("2.0", "z")


def test_callbacks_hear_of_the_calls_within() -> None:
    heard = Heard()
    config: Any = {"callbacks": [heard], "tags": ["t"], "metadata": {"m": 1}}
    assert outer.invoke({"n": 3}, config=config) == 6
    assert heard.started == ["outer {'n': 3}", "multiply {'a': 3, 'b': 2}"]
    inputs, tags, metadata = heard.details[1]
    assert (inputs, "t" in tags, metadata["m"]) == ({"a": 3, "b": 2}, True, 1)
    heard = Heard()
    assert Times().invoke({"q": "ab"}, config={"callbacks": [heard]}) == 4
    assert heard.started == ["times {'q': 'ab'}", "multiply {'a': 2, 'b': 2}"]


def test_callbacks_hear_of_wrong_arguments() -> None:
    heard = Heard()
    with pytest.raises(ValidationError):
        multiply.invoke({"a": 1}, config={"callbacks": [heard]})
    assert (len(heard.started), heard.failed) == (1, ["ValidationError"])


def test_calls_within_have_the_config() -> None:
    config: Any = {"configurable": {"user": "Ada"}}
    assert asyncio.run(outer_later.ainvoke({"n": 1}, config)) == "1 of Ada"
    assert outer_config.invoke({"n": 1}, config) == "1 of Ada, other of Bo"
    assert outer_many.invoke({"n": 2}, config) == "0 of Ada, 1 of Ada"
    assert outer_many.invoke({"n": 1}) == "0 of None"
    assert whose.with_config(configurable={"user": "Cy"}).invoke({"key": "k"}) == "k of Cy"


def test_types() -> None:
    @tool
    def plan(day: date, kind: Literal["a", "b"], parts: Optional[List[int]] = None) -> str:
        """Plan."""
        return f"{day:%Y} {kind} {parts}"

    assert plan.invoke({"day": "2024-01-01", "kind": "a"}) == "2024 a None"
    with pytest.raises(ValidationError):
        plan.invoke({"day": "soon", "kind": "c"})


def test_one_text() -> None:
    it = Tool(name="upper", func=lambda text: text.upper(), description="Shout.")
    assert (it.run("a"), it.invoke("b")) == ("A", "B")
    assert it.args == {"tool_input": {"type": "string"}}
    with pytest.raises(ToolException):
        it.run({"a": "1", "b": "2"})


def test_state_of_a_tool() -> None:
    class Counter(BaseTool):
        name: str = "counter"
        description: str = "Count."
        calls: int = 0

        def _run(self, q: str) -> str:
            self.calls += 1
            return str(self.calls)

    counter = Counter()
    counter.invoke({"q": "a"})
    assert (counter.invoke({"q": "a"}), counter.calls) == ("2", 2)


def test_toolkit() -> None:
    class Kit(BaseToolkit):
        key: str

        def get_tools(self) -> list[BaseTool]:
            return [multiply, search]

    assert [it.name for it in Kit(key="a").get_tools()] == ["multiply", "search-tool"]
    assert isinstance(multiply, StructuredTool)
    assert not isinstance(multiply, Tool)


def test_messages() -> None:
    said = HumanMessage("hi", name="Bo")
    asked = AIMessage("", tool_calls=[{"name": "multiply", "args": {"a": 2}, "id": "q"}])
    assert said.pretty_repr() == "================================ Human Message =================================\nName: Bo\n\nhi"
    assert asked.pretty_repr() == (
        "================================== Ai Message ==================================\n"
        "Tool Calls:\n  multiply (q)\n Call ID: q\n  Args:\n    a: 2"
    )
    assert ToolMessage("3", tool_call_id="1").pretty_repr().endswith("= Tool Message =================================\n\n3")
    assert said.content_blocks == [{"type": "text", "text": "hi"}]
    assert asked.content_blocks == [{"type": "tool_call", "name": "multiply", "args": {"a": 2}, "id": "q"}]
    assert HumanMessage("x") == HumanMessage("x")
    assert HumanMessage(content=[{"type": "text", "text": "a"}]).text == "a"
    assert Document(page_content="a", metadata={"s": 1}).metadata["s"] == 1
