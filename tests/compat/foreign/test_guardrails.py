"""Verdicts of the OpenAI Agents SDK's guardrails mean here what they mean there."""

from typing import Any

import pytest

from sidecall import ToolContext
from sidecall.compat.foreign.agents import as_input_guardrail, as_output_guardrail
from sidecall.kernel.core.guardrails import ToolGuardrailFunctionOutput, ToolInputGuardrailData, ToolOutputGuardrailData
from tests.compat.foreign.agents_sdk import Guardrail, GuardrailOutput

CONTEXT = ToolContext(tool_name="add", tool_call_id="c1", invocation_id="i1", context={"user": "ada"})


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [
        ({"type": "allow"}, ToolGuardrailFunctionOutput.allow("seen")),
        ({"type": "reject_content", "message": "no"}, ToolGuardrailFunctionOutput.reject_content("no", "seen")),
        ({"type": "raise_exception"}, ToolGuardrailFunctionOutput.raise_exception("seen")),
        ({"type": "something_new"}, ToolGuardrailFunctionOutput.raise_exception("seen")),  # rather too strict
    ],
)
async def test_verdicts_are_taken_over(behavior: dict[str, Any], expected: ToolGuardrailFunctionOutput) -> None:
    """Of arguments and of output."""

    def judge(_: Any) -> GuardrailOutput:
        return GuardrailOutput("seen", behavior)

    of_input = as_input_guardrail(Guardrail(judge))
    of_output = as_output_guardrail(Guardrail(judge, "named"))

    assert (of_input.name, of_output.name) == ("judge", "named")
    assert await of_input.judge(ToolInputGuardrailData(context=CONTEXT, args={})) == expected
    assert await of_output.judge(ToolOutputGuardrailData(context=CONTEXT, args={}, output=1)) == expected


async def test_a_guardrail_is_told_what_the_sdk_tells_it() -> None:
    """There is no agent."""
    seen: list[Any] = []

    async def judge(judged: Any) -> GuardrailOutput:
        context = judged.context
        seen.append((context.tool_name, context.tool_call_id, context.tool_arguments, context.context, judged.agent))
        seen.append(judged.output)
        return GuardrailOutput(None)

    await as_output_guardrail(Guardrail(judge)).judge(
        ToolOutputGuardrailData(context=CONTEXT, args={"a": 1}, output="two")
    )

    assert seen == [("add", "c1", '{"a": 1}', {"user": "ada"}, None), "two"]
