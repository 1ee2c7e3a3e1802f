"""Output guardrails also see what a failed tool says, since the model reads that too."""

import asyncio
from typing import Any

import pytest

from sidecall import ToolException, ToolGuardrailFunctionOutput, ToolMessage, ToolOutputGuardrailData, tool
from sidecall.kernel.core.errors import GuardrailTripped, ToolCallFailed
from tests.kit import calls
from tests.kit.virtual_time import VIRTUAL

CANARY = "canary-4711"
FAILED = "Error: work failed unexpectedly (call call_1). The details are in the server's log."


async def run(guardrail: Any, how: str = "politely", args: Any = None, **options: Any) -> ToolMessage:
    """Call a tool that fails in some way."""

    @tool("work", tool_output_guardrails=[guardrail], **options)
    async def work(number: int) -> Any:
        """Work."""
        if how == "hang":
            await asyncio.Event().wait()
        if how == "politely":
            raise ToolException(CANARY)
        if how == "badly":
            raise ValueError(CANARY)
        return object() if how == "oddly" else how

    return await calls.run(work, args or {"number": 1})


class Judge:
    """Answer always the same, and remember what was seen."""

    def __init__(self, verdict: ToolGuardrailFunctionOutput | None = None) -> None:
        self.seen: list[Any] = []
        self.verdict = verdict or ToolGuardrailFunctionOutput.allow()

    def __call__(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        """Judge."""
        self.seen.append(data.output)
        return self.verdict


FAILURES: list[Any] = [
    pytest.param("politely", {}, CANARY, "tool_error", id="error of the tool"),
    pytest.param("politely", {"handle_tool_error": "Later."}, "Later.", "tool_error", id="in its author's words"),
    pytest.param("badly", {}, FAILED, "execution_error", id="crash"),
    pytest.param(
        "badly", {"failure_error_function": lambda _, error: str(error)}, CANARY, "execution_error", id="words"
    ),
    pytest.param("hang", {"timeout": 0.01}, "Error: work timed out after 0.01 seconds.", "timeout", id="timeout"),
    pytest.param(
        "oddly",
        {},
        "Error: work returned a value of type object, which cannot be said in JSON.",
        "output_error",
        id="odd result",
    ),
]


@pytest.mark.parametrize(("how", "options", "content", "kind"), FAILURES)
async def test_the_text_of_a_failure_is_judged(how: str, options: Any, content: str, kind: str) -> None:
    """The last thing the guardrail sees is what the model will read."""
    judge = Judge()

    message = await run(judge, how, **options)

    assert (judge.seen[-1], message.content, message.status) == (content, content, "error")
    assert message.response_metadata["error"]["kind"] == kind
    assert message.response_metadata["guardrails"][-1] == {"name": "Judge", "verdict": "allow", "output_info": None}


@pytest.mark.parametrize("args", [{"number": "x"}, "{"], ids=["wrong", "malformed"])
async def test_what_the_server_says_of_arguments_is_not_judged(args: Any) -> None:
    """The tool has said nothing."""
    judge = Judge()

    message = await run(judge, args=args)

    assert (judge.seen, message.status) == ([], "error")
    assert "guardrails" not in message.response_metadata


VERDICTS: list[Any] = [
    pytest.param(ToolGuardrailFunctionOutput.reject_content("Hidden."), "Hidden.", id="reject"),
    pytest.param(ToolGuardrailFunctionOutput.replace("Clean."), "Clean.", id="replace"),
    pytest.param(ToolGuardrailFunctionOutput.replace({"why": "é"}), '{"why": "é"}', id="replace by an object"),
]


@pytest.mark.parametrize(("verdict", "content"), VERDICTS)
async def test_a_failure_is_told_in_the_guardrails_words(verdict: Any, content: str) -> None:
    """To programs too; what kind of failure it was stays."""
    message = await run(Judge(verdict))
    error = message.response_metadata["error"]

    assert (message.content, error["message"], error["kind"]) == (content, content, "tool_error")
    assert CANARY not in message.model_dump_json()


async def test_what_an_author_words_otherwise_is_not_told_to_programs_unjudged() -> None:
    """The original text stands beside the words."""
    judge = Judge(ToolGuardrailFunctionOutput.replace("Clean."))

    message = await run(judge, handle_tool_error="Later.")

    assert CANARY not in message.model_dump_json()


async def test_a_failure_may_trip_a_guardrail() -> None:
    """The calling program is told."""
    with pytest.raises(GuardrailTripped) as caught:
        await run(Judge(ToolGuardrailFunctionOutput.raise_exception("why")))

    assert caught.value.members["output_info"] == "why"


async def test_a_failure_that_goes_through_is_judged_too() -> None:
    """A secret does not leave in a problem either."""
    judge = Judge(ToolGuardrailFunctionOutput.reject_content("Hidden."))

    with pytest.raises(ToolCallFailed) as caught:
        await run(judge, handle_tool_error=None)

    assert (caught.value.message, judge.seen) == ("Hidden.", [CANARY])


async def _hang(data: Any) -> ToolGuardrailFunctionOutput:
    await asyncio.Event().wait()
    return ToolGuardrailFunctionOutput.allow()


async def _pause(data: Any) -> ToolGuardrailFunctionOutput:
    await asyncio.sleep(0)
    return ToolGuardrailFunctionOutput.allow()


@pytest.mark.parametrize("anyio_backend", [VIRTUAL], ids=["virtual time"])
@pytest.mark.parametrize("how", ["well", "politely", "hang"])
async def test_what_is_not_judged_in_time_is_not_shown(how: str) -> None:
    """The deadline holds for guardrails too, and a call is answered all the same."""
    message = await run(_hang, how, timeout=0.01)

    assert (message.tool_call_id, message.status) == ("call_1", "error")
    assert CANARY not in message.model_dump_json()


async def test_a_timeout_can_be_judged_although_no_time_is_left() -> None:
    """A guardrail that waits for anything at all must not make a defect of it."""
    message = await run(_pause, "hang", timeout=0.01)

    assert (message.tool_call_id, message.status) == ("call_1", "error")
