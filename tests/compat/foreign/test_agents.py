"""Function tools of the OpenAI Agents SDK are offered with what they say of themselves.

The objects have the SDK's shape; it cannot be installed beside our pins.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import StructuredTool, tool
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import GuardrailTripped, ToolCallFailed, ToolTimeout
from sidecall.kernel.pipeline.hooks import is_visible
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from tests.compat.foreign.agents_sdk import (
    FunctionTool,
    Guardrail,
    GuardrailOutput,
    RunContextWrapper,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
)
from tests.kit.calls import run

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def weather(context: RunContextWrapper[dict[str, str]], city: str, days: int = 3) -> str:
    """Say the weather.

    Args:
        city: Where.
    """
    return f"{context.context} {city} {days}"  # type: ignore[attr-defined]  # ours


async def told(context: Any, text: str) -> str:
    """Say what the tool is told."""
    return f"{context.tool_name} {context.tool_call_id} {context.context} {context.tool_arguments == text} {text}"


def crash(a: str) -> str:
    """Crash."""
    raise ValueError(a)


def hand_built(invoke: Callable[[Any, str], Any] = told, **fields: Any) -> FunctionTool:
    """Make a tool by hand, as the SDK lets you."""
    return FunctionTool("built", "Be built by hand.", SCHEMA, invoke, **fields)


async def test_a_decorated_function_is_made_anew() -> None:
    """With the tool's name and description, and the parameters' texts."""
    made = tool(function_tool(weather, name="forecast", description="Forecast."))

    assert (made.name, made.compiled.description) == ("forecast", "Forecast.")
    assert made.compiled.args_schema.flat == {
        "type": "object",
        "properties": {
            "city": {"description": "Where.", "type": "string"},
            "days": {"default": 3, "type": "integer"},
        },
        "required": ["city"],
    }
    assert await made.ainvoke({"city": "Ulm"}, context={"user": "ada"}) == "{'user': 'ada'} Ulm 3"


async def test_a_tool_that_is_built_by_hand_runs_itself() -> None:
    """With JSON text that has been checked."""
    made = tool(hand_built())

    message = await run(made, {"a": "x"}, context={"user": "ada"})

    assert made.compiled.args_schema.flat == SCHEMA
    assert made.compiled.source.startswith("tests/compat/foreign/test_agents.py:")
    assert message.content == """built call_1 {'user': 'ada'} True {"a": "x"}"""


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({}, "a: Field required (string)"),
        ({"a": 1}, "a: Input should be a string"),
        ({"a": "x", "b": 1}, "b: There is no such argument; the arguments are: a"),
    ],
)
async def test_its_arguments_are_checked(args: dict[str, Any], expected: str) -> None:
    """Before its own code sees them."""
    with pytest.raises(ValidationError) as caught:
        await tool(hand_built()).ainvoke(args)

    assert caught.value.__notes__ == [expected]


def test_options_can_be_said_otherwise() -> None:
    """Under our names and theirs."""
    made = tool("mine", timeout=7, needs_approval=False, unknown_args="forbid")(hand_built(needs_approval=True))

    assert (made.name, made.timeout, made.requires_approval, made.unknown_args) == ("mine", 7, False, "forbid")


@pytest.mark.parametrize(
    ("made", "strict"),
    [
        pytest.param(tool(hand_built()), True, id="their default"),
        pytest.param(tool(hand_built(strict_json_schema=False)), False, id="switched off"),
        pytest.param(
            tool(FunctionTool("open", "Open.", {"type": "object", "additionalProperties": True}, told)),
            None,
            id="cannot be strict",
        ),
        pytest.param(tool(hand_built(), strict=None), None, id="said otherwise"),
    ],
)
def test_definitions_are_strict_where_they_can_be(made: StructuredTool, strict: bool | None) -> None:
    """It is the SDK's default, whose tools need not bear it."""
    assert made.strict is strict
    assert made.compiled.name in ("built", "open")


async def test_it_may_need_approval() -> None:
    """Always, if it says so."""
    made = tool(function_tool(weather, needs_approval=True))

    with pytest.raises(ApprovalRequired):
        await made.ainvoke({"city": "Ulm"})
    assert await made.ainvoke({"city": "Ulm"}, approved=True) == "{} Ulm 3"


@pytest.mark.parametrize(
    ("answer", "is_asked"), [(True, True), (None, True), (0, True), ("", True), (False, False)], ids=repr
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_policy_is_asked(answer: Any, is_asked: bool, is_async: bool) -> None:
    """Every answer but exactly False asks a person, and it is told what the SDK tells it."""
    seen: list[Any] = []

    def policy(context: Any, args: dict[str, Any], call_id: str) -> Any:
        seen.append((context.context, context.agent, args, call_id))
        return answer

    async def apolicy(context: Any, args: dict[str, Any], call_id: str) -> Any:
        return policy(context, args, call_id)

    made = tool(hand_built(needs_approval=apolicy if is_async else policy))
    given = await asyncio.gather(run(made, {"a": "x"}, context={"user": "ada"}), return_exceptions=True)

    assert isinstance(given[0], ApprovalRequired) is is_asked
    assert seen == [({"user": "ada"}, None, {"a": "x"}, "call_1")]


@pytest.mark.parametrize(
    ("is_enabled", "expected"),
    [
        pytest.param(True, True, id="on"),
        pytest.param(False, False, id="off"),
        pytest.param(lambda context, agent: context.caller.subject == "ada" and agent is None, True, id="function"),
        pytest.param(lambda context, agent: context.context["missing"] is agent, False, id="crash"),
        pytest.param(lambda context, _: asyncio.sleep(0, context.tool_name == "built"), True, id="async"),
    ],
)
async def test_it_may_be_hidden(is_enabled: Any, expected: bool) -> None:
    """There is no agent, and a crash hides it."""
    compiled = tool(hand_built(is_enabled=is_enabled)).compiled

    assert (compiled.options.is_enabled is not False and await is_visible(compiled, Caller("ada"))) is expected


async def test_it_may_have_a_deadline() -> None:
    """With the words and the behavior that it says."""
    fields = {"timeout_seconds": 0.01, "timeout_error_function": lambda context, _: f"{context.tool_name} is late"}

    async def hang(_context: Any, _text: str) -> None:
        await asyncio.Event().wait()

    worded = await run(tool(hand_built(hang, **fields)), {"a": "x"})
    raising = tool(hand_built(hang, timeout_seconds=0.01, timeout_behavior="raise_exception"))

    assert (worded.content, worded.status) == ("built is late", "error")
    with pytest.raises(ToolCallFailed) as caught:
        await run(raising, {"a": "x"})
    assert isinstance(caught.value.__cause__, ToolTimeout)


async def test_it_may_word_its_failures() -> None:
    """Or let them through."""
    worded = tool(
        function_tool(
            crash,
            _use_default_failure_error_function=False,
            _failure_error_function=lambda context, error: f"{context.tool_name}: {error}",
        )
    )
    raising = tool(function_tool(crash, _use_default_failure_error_function=False))

    assert (await run(worded, {"a": "x"})).content == "crash: x"
    with pytest.raises(ToolCallFailed):
        await run(raising, {"a": "x"})


async def test_its_guardrails_stand() -> None:
    """Those of arguments and those of output."""

    def no_secrets(judged: Any) -> GuardrailOutput:
        kind = "reject_content" if "secret" in judged.context.tool_arguments else "allow"
        return GuardrailOutput("seen", {"type": kind, "message": "not that"})

    async def no_bombs(judged: Any) -> GuardrailOutput:
        return GuardrailOutput(None, {"type": "raise_exception" if "bomb" in judged.output else "allow"})

    made = tool(
        hand_built(tool_input_guardrails=[Guardrail(no_secrets)], tool_output_guardrails=[Guardrail(no_bombs, "bombs")])
    )
    denied = await run(made, {"a": "secret"})

    assert (await run(made, {"a": "x"})).status == "success"
    assert (denied.content, denied.response_metadata["error"]["kind"]) == ("not that", "denied")
    with pytest.raises(GuardrailTripped, match="The guardrail bombs refuses this call of built"):
        await run(made, {"a": "bomb"})


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        pytest.param("text", "text", id="text"),
        pytest.param(ToolOutputText(text="hi"), [{"type": "text", "text": "hi"}], id="text object"),
        pytest.param(
            [ToolOutputText(text="hi"), ToolOutputImage(image_url="https://e.org/i.png")],
            [{"type": "text", "text": "hi"}, {"type": "image", "url": "https://e.org/i.png"}],
            id="several",
        ),
        pytest.param([], "[]", id="nothing"),
        pytest.param([ToolOutputText(text="hi"), 1], '[{"type": "text", "text": "hi"}, 1]', id="mixed"),
        pytest.param({"type": "invoice"}, '{"type": "invoice"}', id="JSON"),
    ],
)
async def test_its_output_objects_are_blocks_of_content(answer: Any, content: Any) -> None:
    """What is none of them is said as JSON."""
    message = await run(tool(hand_built(lambda _context, _text: answer)), {"a": "x"})

    assert message.content == content
