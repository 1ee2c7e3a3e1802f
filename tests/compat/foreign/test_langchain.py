"""A LangChain tool is offered as it is, and runs its calls itself."""

from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tools import Tool as LangChainSimple
from pydantic import BaseModel, Field, ValidationError

from sidecall import StructuredTool, tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.compat.foreign.langchain_tools import Search, aadd, add, by_schema, open_schema, own_message, pair
from tests.kit.calls import run

SEARCH = Search(tags=["web"], metadata={"owner": "us"}, return_direct=True, extras={"defer_loading": True})


async def test_what_a_langchain_tool_says_of_itself_is_taken_over() -> None:
    """Options that are given win."""
    compiled = tool(SEARCH, timeout=3, tags=["mine"]).compiled

    assert (compiled.name, compiled.description, compiled.is_async) == ("search", "Search something.", True)
    assert (compiled.options.return_direct, compiled.options.tags) == (True, ("mine",))
    assert (compiled.options.metadata, compiled.options.extras) == ({"owner": "us"}, {"defer_loading": True})
    assert compiled.options.timeout == 3
    assert compiled.source == "tests.compat.foreign.langchain_tools.Search"
    assert tool(add).compiled.source.startswith("tests/compat/foreign/langchain_tools.py:")


def test_it_can_have_another_name() -> None:
    """And another description."""
    made = tool("plus", description="Sum up.")(add)

    assert (made.compiled.name, made.compiled.description) == ("plus", "Sum up.")
    assert made.invoke({"a": 1}) == "2"


def test_its_function_can_be_called() -> None:
    """If it has one."""
    assert tool(add)(1, b=2) == 3
    with pytest.raises(InvalidToolOption, match="tool 'search' is no function; call it with invoke or ainvoke"):
        tool(Search())("x")


@pytest.mark.parametrize(
    ("made", "schema"),
    [
        pytest.param(
            tool(add),
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"default": 1, "type": "integer"}},
                "required": ["a"],
            },
            id="function",
        ),
        pytest.param(
            tool(aadd), {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, id="async"
        ),
        pytest.param(
            tool(Search()),
            {
                "type": "object",
                "properties": {"query": {"type": "string"}, "limit": {"default": 2, "type": "integer"}},
                "required": ["query"],
            },
            id="class",
        ),
        pytest.param(
            tool(by_schema),
            {
                "type": "object",
                "properties": {"a": {"type": "integer", "default": 4}, "b": {"type": "string"}},
                "required": ["b"],
            },
            id="JSON Schema",
        ),
        pytest.param(
            tool(LangChainSimple("shout", str.upper, "Shout.")),
            {"type": "object", "properties": {"__arg1": {"type": "string"}}, "required": ["__arg1"]},
            id="one text",
        ),
    ],
)
def test_its_arguments_are_shown(made: StructuredTool, schema: dict[str, Any]) -> None:
    """As LangChain shows them."""
    assert made.compiled.args_schema.flat == schema


@pytest.mark.parametrize(
    ("made", "args", "content", "ignored"),
    [
        pytest.param(tool(add), {"a": "1", "b": 2, "z": 3}, "3", ["z"], id="function"),
        pytest.param(tool(aadd), {"a": 1}, "1 {'user': 'ada'}", [], id="async, with the caller's context"),
        pytest.param(tool(Search()), {"query": "a", "limit": "3", "z": 1}, "aaa", ["z"], id="class"),
        pytest.param(tool(by_schema), {"b": "x", "z": True}, '{"b": "x", "a": 4}', ["z"], id="JSON Schema"),
        pytest.param(tool(open_schema), {"b": "x"}, '{"b": "x"}', [], id="open JSON Schema"),
        pytest.param(tool(LangChainSimple("shout", str.upper, "S.")), {"any": "a"}, "A", [], id="one text"),
    ],
)
async def test_it_runs_its_calls(made: StructuredTool, args: dict[str, Any], content: str, ignored: list[str]) -> None:
    """With arguments of the types that it says."""
    message = await run(made, args, context={"user": "ada"})

    assert (message.content, message.status, message.tool_call_id) == (content, "success", "call_1")
    assert message.response_metadata["ignored_args"] == ignored


async def test_content_and_artifact_are_kept_apart() -> None:
    """The plain result is the content, as in LangChain."""
    message = await run(tool(pair), {"a": 1})

    assert (message.content, message.artifact) == ("found 1", {"a": 1})
    assert await tool(pair).ainvoke({"a": 1}) == "found 1"


@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
async def test_a_message_of_its_own_is_taken_over(response_format: str) -> None:
    """No matter what format it promised."""
    made = tool(own_message.model_copy(update={"response_format": "content"}), response_format=response_format)

    message = await run(made, {"kind": "message"})

    assert (message.content, message.artifact, message.status) == ("mine", [1], "success")
    assert message.additional_kwargs == {"x": 1}


@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
async def test_a_command_reaches_the_caller(response_format: str) -> None:
    """As it does from tools of our own."""
    message = await run(tool(own_message, response_format=response_format), {"kind": "command"})

    assert (message.content, message.response_metadata["state_update"]) == ("mine", {"seen": True})


async def test_its_callbacks_hear_of_it() -> None:
    """They are LangChain's to call."""
    heard: list[str] = []

    class Listener(BaseCallbackHandler):
        """Remember what starts."""

        def on_tool_start(self, serialized: dict[str, Any], input_str: str, **_: Any) -> None:
            """Remember it."""
            heard.append(f"{serialized['name']} {input_str}")

    listening = add.model_copy(update={"callbacks": [Listener()]})
    await tool(listening).ainvoke({"a": 1})

    assert heard == ["add {'a': 1}"]


def test_an_args_schema_can_be_given() -> None:
    """Narrower than the tool's own."""

    class Small(BaseModel):
        a: int = Field(le=3)

    made = tool(add, args_schema=Small)

    assert made.invoke({"a": 3}) == "4"
    with pytest.raises(ValidationError):
        made.invoke({"a": 4})


def test_a_foreign_tool_in_a_class_is_no_method() -> None:
    """It has no instance to be bound to."""

    class Box:
        inside = tool(add)

    assert Box().inside is Box.inside
