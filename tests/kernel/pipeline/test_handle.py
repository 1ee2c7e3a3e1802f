"""A tool's author may word what the model reads of a failure; a handler that crashes loses nothing."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import ToolException, ToolGuardrailFunctionOutput, ToolMessage, tool
from sidecall.kernel.core.errors import InvalidToolOption, ToolCallFailed
from tests.kit import calls


async def run(handlers: dict[str, Any], **args: Any) -> ToolMessage:
    """Run a tool that has these handlers, and that fails when it is told to."""

    @tool("work", **handlers)
    def work(times: int, fail: bool = True) -> str:
        """Work."""
        if fail:
            raise ToolException({"reason": "closed"})
        return "done"

    return await calls.run(work, {"times": 1, **args})


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
    pytest.param(False, "times: Input should be an integer", id="False"),
    pytest.param("Say how often.", "Say how often.", id="text"),
    pytest.param(errors_of, '[[["times"], "int_parsing"]]', id="function of pydantic's error"),
    pytest.param(
        broken,
        "times: Input should be an integer",
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


NO_HANDLERS = [
    *[("handle_tool_error", value) for value in (5, "", ["text"])],
    *[("handle_validation_error", value) for value in (5, "", ["text"])],
    *[("failure_error_function", value) for value in (5, "text", True)],
    *[("timeout_error_function", value) for value in (5, "text", True)],
]


@pytest.mark.parametrize(("option", "value"), NO_HANDLERS)
def test_what_is_no_handler_is_refused_at_the_start(option: str, value: Any) -> None:
    """LangChain finds out when the tool fails."""
    decorate: Callable[[Any], Any] = tool(**{option: value})

    with pytest.raises(InvalidToolOption, match=f"option `{option}"):
        decorate(run)


async def fail(how: str, args: Any = None, **options: Any) -> ToolMessage:
    """Run a tool that fails in one of many ways."""

    @tool("work", timeout=0.01 if how == "hang" else None, **options)
    async def work(times: int) -> Any:
        """Work."""
        if how == "hang":
            await asyncio.Event().wait()
        if how == "politely":
            raise ToolException("closed") from KeyError("door")
        if how == "badly":
            raise ValueError("canary-4711")
        return object()

    return await calls.run(work, args or {"times": 1})


def word(context: Any, error: Exception) -> str:
    """Word any failure."""
    return f"{context.tool_name} {context.tool_call_id}: {type(error).__name__}"


async def format_later(context: Any, error: Exception) -> str:
    """Word it asynchronously."""
    return word(context, error)


TIMED_OUT = "Error: work timed out after 0.01 seconds."
WORDED: list[Any] = [
    pytest.param("politely", None, "work call_1: ToolException", "tool_error", id="error of the tool"),
    pytest.param("badly", None, "work call_1: ValueError", "execution_error", id="crash"),
    pytest.param("well", {"times": "x"}, "work call_1: ValidationError", "invalid_arguments", id="arguments"),
    pytest.param("well", "{", "work call_1: MalformedArguments", "malformed_arguments", id="malformed"),
    # as in the OpenAI Agents SDK, where another function words these
    pytest.param("hang", None, TIMED_OUT, "timeout", id="timeout"),
]


@pytest.mark.parametrize("function", [word, format_later], ids=["sync", "async"])
@pytest.mark.parametrize(("how", "args", "content", "kind"), WORDED)
async def test_one_function_words_all_failures(function: Any, how: str, args: Any, content: str, kind: str) -> None:
    """It is given the context and what was raised, as in the OpenAI Agents SDK."""
    message = await fail(how, args, failure_error_function=function)

    assert (message.content, message.status) == (content, "error")
    assert message.response_metadata["error"]["kind"] == kind


async def test_the_handler_of_one_kind_beats_the_function_of_all() -> None:
    """It is the more exact."""
    options: Any = {"failure_error_function": word, "handle_tool_error": "own", "handle_validation_error": "fields"}

    assert (await fail("politely", **options)).content == "own"
    assert (await fail("well", {"times": "x"}, **options)).content == "fields"
    assert (await fail("badly", **options)).content == "work call_1: ValueError"


async def test_a_function_that_crashes_leaves_the_default_text(caplog: pytest.LogCaptureFixture) -> None:
    """Its own reason is for the log."""
    message = await fail("politely", failure_error_function=lambda _, error: error.missing)

    assert message.content == "closed"
    assert "an error handler of tool work failed (call call_1)" in caplog.text


@pytest.mark.parametrize(
    ("function", "content"),
    [
        (lambda context, error: f"{context.tool_name}: {error}", f"work: {TIMED_OUT}"),
        (format_later, "work call_1: ToolTimeout"),
        (lambda _, __: {"late": True}, '{"late": true}'),
        (lambda _, __: None, TIMED_OUT),
        (lambda _, error: error.missing, TIMED_OUT),
    ],
    ids=["sync", "async", "object", "None", "crash"],
)
async def test_a_timeout_is_worded_by_a_function_of_its_own(function: Any, content: str) -> None:
    """The other one is not asked."""
    message = await fail("hang", timeout_error_function=function, failure_error_function=word)

    assert (message.content, message.response_metadata["error"]["kind"]) == (content, "timeout")


CRASHED = "Error: work failed unexpectedly (call call_1). The details are in the server's log."
UNSAYABLE = "Error: work returned a value of type object, which cannot be said in JSON."
THROUGH: list[Any] = [
    pytest.param("politely", {"handle_tool_error": None}, "tool_error", "closed", False, id="error of the tool"),
    pytest.param("badly", {"handle_tool_error": None}, "execution_error", CRASHED, False, id="crash"),
    pytest.param("oddly", {"handle_tool_error": None}, "output_error", UNSAYABLE, False, id="odd result"),
    pytest.param("badly", {"failure_error_function": lambda _, __: None}, "execution_error", CRASHED, False, id="None"),
    pytest.param("hang", {"timeout_behavior": "raise"}, "timeout", TIMED_OUT, True, id="timeout"),
]


@pytest.mark.parametrize(("how", "options", "kind", "said", "retryable"), THROUGH)
async def test_a_failure_may_go_through_to_the_calling_program(
    how: str, options: Any, kind: str, said: str, retryable: bool
) -> None:
    """With the ids by which the log has more; never with the reason of a crash."""
    with pytest.raises(ToolCallFailed) as caught:
        await fail(how, **options)
    members = dict(caught.value.members)

    assert caught.value.message == said
    assert len(members.pop("invocation_id")) == 36
    assert members.pop("timeout_seconds", None) == (0.01 if kind == "timeout" else None)
    assert members == {"tool": "work", "call_id": "call_1", "kind": kind, "retryable": retryable}


REMAIN: list[Any] = [
    pytest.param("well", {"times": "x"}, {"handle_tool_error": None}, "invalid_arguments", id="arguments"),
    pytest.param("well", "{", {"handle_tool_error": None}, "malformed_arguments", id="malformed"),
    pytest.param("hang", None, {"handle_tool_error": None}, "timeout", id="timeout"),
    pytest.param("politely", None, {"timeout_behavior": "raise"}, "tool_error", id="error of the tool"),
    pytest.param(
        "well",
        None,
        {
            "handle_tool_error": None,
            "tool_input_guardrails": [lambda _: ToolGuardrailFunctionOutput.reject_content("No.")],
        },
        "denied",
        id="denied",
    ),
]


@pytest.mark.parametrize(("how", "args", "options", "kind"), REMAIN)
async def test_what_is_not_the_tools_failure_stays_the_models_to_read(
    how: str, args: Any, options: Any, kind: str
) -> None:
    """Repairing is its part."""
    message = await fail(how, args, **options)

    assert message.response_metadata["error"]["kind"] == kind
