"""What goes wrong in a LangChain tool is told to the one who can mend it."""

from typing import Any

import pytest
from langchain_core.tools import ToolException as LangChainException
from langchain_core.tools import tool as langchain_tool
from pydantic import ValidationError

from sidecall import StructuredTool, ToolException, tool
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from tests.compat.foreign.langchain_tools import Search, add, by_schema
from tests.kit.calls import run


@pytest.mark.parametrize(
    ("made", "args", "content"),
    [
        pytest.param(
            tool(add),
            {"a": "x"},
            "a: Input should be an integer",
            id="function",
        ),
        pytest.param(tool(Search()), {}, "query: Field required (string)", id="class"),
        pytest.param(tool(by_schema), {"b": 1}, "b: Input should be a string", id="JSON Schema"),
        pytest.param(
            tool(add, unknown_args="forbid"),
            {"a": 1, "c": 2},
            "c: There is no such argument; the arguments are: a, b",
            id="closed",
        ),
    ],
)
async def test_arguments_are_checked_before_it_runs(made: StructuredTool, args: dict[str, Any], content: str) -> None:
    """So that a model can mend them."""
    message = await run(made, args)

    assert (message.content, message.status) == (content, "error")
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_its_tool_exception_is_for_the_model() -> None:
    """Like ours."""
    with pytest.raises(ToolException) as caught:
        await tool(Search()).ainvoke({"query": "refuse"})

    assert caught.value.args == ("not that", "and more")
    assert caught.value.message == "not that"


async def test_it_may_word_its_exceptions_itself() -> None:
    """The answer is an error then, with its words."""
    message = await run(tool(Search(handle_tool_error="try again")), {"query": "refuse"})

    assert (message.content, message.status) == ("try again", "error")
    assert message.response_metadata["error"] == {
        "kind": "tool_error",
        "message": "try again",
        "retryable": False,
        "errors": [],
        "nearest": [],
        "retry_after_ms": None,
    }


@pytest.mark.parametrize("handle", [False, True, "mend it"])
async def test_a_crash_is_not_blamed_on_the_arguments(handle: bool | str) -> None:
    """Not even a ValidationError, which LangChain would take for one of theirs; it is raised as it is."""
    made = tool(Search(handle_validation_error=handle))

    with pytest.raises(ValueError, match=r"^secret$"):
        await made.ainvoke({"query": "crash"})
    with pytest.raises(ValidationError):
        await made.ainvoke({"query": "invalid"})


async def test_it_may_word_wrong_arguments() -> None:
    """As LangChain's option says."""
    message = await run(tool(Search(handle_validation_error="mend it")), {"query": 1})

    assert (message.content, message.status) == ("mend it", "error")
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_a_failed_message_is_one() -> None:
    """Its status is kept."""

    @langchain_tool(response_format="content_and_artifact")
    def fail() -> tuple[Any, None]:
        """Fail."""
        raise LangChainException("no")

    fail.handle_tool_error = True
    message = await run(tool(fail), {})

    assert (message.content, message.status, message.artifact) == ("no", "error", None)


class Opaque:
    """What JSON cannot say."""


def test_what_cannot_be_said_stops_the_start() -> None:
    """Naming file, tool and reason."""

    @langchain_tool
    def take(it: Opaque) -> str:
        """Take something."""
        return str(it)

    with pytest.raises(DefinitionError) as caught:
        tool(take)

    assert ": tool 'take': args_schema take: Cannot generate a JsonSchema" in caught.value.message


def test_an_unknown_option_names_its_file() -> None:
    """Not ours."""
    with pytest.raises(InvalidToolOption, match=r"tests/compat/foreign/langchain_tools.py:\d+: tool 'add': there is"):
        tool(add, nothing=1)
