"""Run guardrails of the OpenAI Agents SDK."""

from types import SimpleNamespace
from typing import Any

from sidecall.compat.foreign.context import make_agents_context
from sidecall.kernel.core.guardrails import (
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
)


def as_input_guardrail(theirs: Any) -> ToolInputGuardrail:
    """Wrap the SDK's guardrail for arguments."""

    async def judge(judged: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = make_agents_context(judged.context, judged.args)
        return _translate_verdict(await theirs.run(SimpleNamespace(context=context, agent=None)))

    return ToolInputGuardrail(judge, theirs.get_name())


def as_output_guardrail(theirs: Any) -> ToolOutputGuardrail:
    """Wrap the SDK's guardrail for outputs."""

    async def judge(judged: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        context = make_agents_context(judged.context, judged.args)
        return _translate_verdict(await theirs.run(SimpleNamespace(context=context, agent=None, output=judged.output)))

    return ToolOutputGuardrail(judge, theirs.get_name())


def _translate_verdict(theirs: Any) -> ToolGuardrailFunctionOutput:
    try:
        return ToolGuardrailFunctionOutput(theirs.output_info, theirs.behavior)
    except ValueError:  # What is not known here may be meant to refuse.
        return ToolGuardrailFunctionOutput.raise_exception(theirs.output_info)
