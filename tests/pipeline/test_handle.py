"""A tool's author may word what the model reads of a failure; a handler that crashes loses nothing."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from app import ToolException, ToolMessage, tool
from app.core.errors import InvalidToolOption


async def run(handlers: dict[str, Any], **args: Any) -> ToolMessage:
    """Run a tool that has these handlers, and that fails when it is told to."""

    @tool("work", **handlers)
    def work(times: int, fail: bool = True) -> str:
        """Work."""
        if fail:
            raise ToolException({"reason": "closed"})
        return "done"

    call = {"type": "tool_call", "name": "work", "args": {"times": 1, **args}, "id": "call_1"}
    message: ToolMessage = await work.ainvoke(call)
    return message


async def awaited(error: Exception) -> str:
    """Word an error asynchronously."""
    return f"awaited {type(error).__name__}"


def broken(error: Exception) -> str:
    """Crash in the middle of an error."""
    raise RuntimeError("handler is broken")


def errors_of(error: ValidationError) -> list[Any]:
    """Use pydantic's error as LangChain's users do."""
    return [[list(item["loc"]), item["type"]] for item in error.errors()]


TOOL_ERRORS: list[Any] = [
    pytest.param(True, '{"reason": "closed"}', id="True is the default"),
    pytest.param(False, '{"reason": "closed"}', id="False is, too"),
    pytest.param("Ask later.", "Ask later.", id="text"),
    pytest.param(lambda error: f"No: {error.args[0]['reason']}", "No: closed", id="function"),
    pytest.param(lambda _: {"why": "é"}, '{"why": "é"}', id="function that gives no text"),
    pytest.param(lambda _: [{"type": "text", "text": "x"}], [{"type": "text", "text": "x"}], id="blocks"),
    pytest.param(awaited, "awaited ToolException", id="async function"),
    pytest.param(broken, '{"reason": "closed"}', id="function that crashes"),
    pytest.param(lambda _: object(), '{"reason": "closed"}', id="function that gives nothing sayable"),
]


@pytest.mark.parametrize(("handler", "content"), TOOL_ERRORS)
async def test_a_tools_own_error_is_worded(handler: Any, content: Any) -> None:
    """The status and the kind stay what they are."""
    message = await run({"handle_tool_error": handler})

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"
    assert message.response_metadata["error"]["message"] == '{"reason": "closed"}'


ARGUMENT_ERRORS: list[Any] = [
    pytest.param(True, "Tool input validation error", id="True is LangChain's text"),
    pytest.param(False, "times: Input should be a valid integer, unable to parse string as an integer", id="False"),
    pytest.param("Say how often.", "Say how often.", id="text"),
    pytest.param(errors_of, '[[["times"], "int_parsing"]]', id="function of pydantic's error"),
    pytest.param(
        broken,
        "times: Input should be a valid integer, unable to parse string as an integer",
        id="function that crashes",
    ),
]


@pytest.mark.parametrize(("handler", "content"), ARGUMENT_ERRORS)
async def test_wrong_arguments_are_worded(handler: Any, content: str) -> None:
    """The fields stay listed for programs."""
    message = await run({"handle_validation_error": handler}, times="often")

    assert message.content == content
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"
    assert message.response_metadata["error"]["errors"][0]["loc"] == ["times"]


@pytest.mark.parametrize("option", ["handle_tool_error", "handle_validation_error"])
async def test_a_handler_has_no_say_in_a_success(option: str) -> None:
    """It is not asked."""
    message = await run({option: broken}, fail=False)

    assert (message.status, message.content) == ("success", "done")


async def test_a_handler_of_one_kind_has_no_say_in_the_other() -> None:
    """Argument errors and tool errors are handled apart."""
    message = await run({"handle_validation_error": "never"})

    assert message.content == '{"reason": "closed"}'


async def test_a_crash_of_a_handler_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The author finds it; the call is answered."""
    caplog.set_level(logging.ERROR, "sidecall")

    await run({"handle_tool_error": broken})

    assert "an error handler of tool work failed (call call_1)" in caplog.text
    assert "handler is broken" in caplog.text


@pytest.mark.parametrize("option", ["handle_tool_error", "handle_validation_error"])
@pytest.mark.parametrize("value", [5, "", None, ["text"]])
def test_what_is_no_handler_is_refused_at_the_start(option: str, value: Any) -> None:
    """LangChain finds out when the tool fails."""
    decorate: Callable[[Any], Any] = tool(**{option: value})

    with pytest.raises(InvalidToolOption, match=f"option `{option}"):
        decorate(run)
