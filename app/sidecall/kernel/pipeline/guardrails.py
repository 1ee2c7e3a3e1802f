"""Run guardrails on the input and output of a tool."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.errors import CallDenied, GuardrailTripped, ToolFailure
from sidecall.kernel.core.guardrails import (
    Guardrail,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
)
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import JsonText
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import to_plain
from sidecall.kernel.pipeline.arguments import inject, validate
from sidecall.kernel.pipeline.failure_log import log_hook_failure
from sidecall.kernel.pipeline.hooks import PATIENCE, HookFailed, call_hook, patience

# What a model reads when a guardrail crashes: it may have been about to refuse.
_UNCHECKED_CALL = "Error: this call could not be checked and was not carried out."
_UNCHECKED_OUTPUT = "Error: the tool ran, but its answer could not be checked and is withheld."
# Failures whose text comes from the tool's own code.
_SAID_BY_TOOL = frozenset(("tool_error", "execution_error", "timeout", "output_error"))


def has_input_guardrails(tool: CompiledTool) -> bool:
    """Return whether the tool has input guardrails."""
    return bool(tool.options.tool_input_guardrails)


def has_output_guardrails(tool: CompiledTool) -> bool:
    """Return whether the tool has output guardrails."""
    return bool(tool.options.tool_output_guardrails)


async def guard_input(invocation: Invocation) -> None:
    """Run the input guardrails in order; each sees the arguments as the previous one left them.

    Raises:
        CallDenied: One rejected the call, or crashed.
        GuardrailTripped: One refused the request.
    """
    for guardrail in invocation.tool.options.tool_input_guardrails:
        judged = ToolInputGuardrailData(context=invocation.tool_context, args=invocation.visible_values)
        verdict = await _ask(invocation, guardrail, judged, _UNCHECKED_CALL, patience(invocation))
        if verdict.verdict == "replace":
            await _replace_args(invocation, guardrail.name, verdict.value)


async def guard_output(invocation: Invocation) -> None:
    """Run the output guardrails in order; each sees the output as the previous one left it.

    Raises:
        CallDenied: One rejected the output, or crashed.
        GuardrailTripped: One refused the request.
    """
    invocation.output = await _check_output(invocation, invocation.output)


async def guard_text(invocation: Invocation, failure: ToolFailure, content: Any) -> Any:
    """Run the output guardrails on a failed tool's text, and return what the model may read.

    Raises:
        GuardrailTripped: One refused the request.
    """
    if failure.kind not in _SAID_BY_TOOL or not has_output_guardrails(invocation.tool):
        return content
    try:
        return await _check_output(invocation, content)
    except CallDenied as denied:
        return denied.content


async def _check_output(invocation: Invocation, output: Any) -> Any:
    for guardrail in invocation.tool.options.tool_output_guardrails:
        # What stands for a text is shown as one.
        shown = str(output) if isinstance(output, JsonText) else output
        judged = ToolOutputGuardrailData(context=invocation.tool_context, args=invocation.visible_values, output=shown)
        verdict = await _ask(invocation, guardrail, judged, _UNCHECKED_OUTPUT)
        output = verdict.value if verdict.verdict == "replace" else output
    return output


async def _ask(
    invocation: Invocation, guardrail: Guardrail[Any], judged: Any, unchecked: str, seconds: float = PATIENCE
) -> ToolGuardrailFunctionOutput:
    try:
        verdict: ToolGuardrailFunctionOutput = await call_hook(guardrail.judge, judged, patience=seconds)
        said = {"name": guardrail.name, "verdict": verdict.verdict, "output_info": to_plain(verdict.output_info)}
    except HookFailed as failed:
        raise _deny(invocation, guardrail.name, failed.__cause__ or failed, unchecked) from failed
    except ValueError as error:
        raise _deny(invocation, guardrail.name, error, unchecked) from error
    _note(invocation, said)
    if verdict.verdict == "reject_content":
        raise CallDenied(verdict.message)
    if verdict.verdict == "raise_exception":
        text = f"The guardrail {guardrail.name} refuses this call of {invocation.tool.name}."
        guards = "output" if isinstance(judged, ToolOutputGuardrailData) else "input"
        raise GuardrailTripped(text, call_id=invocation.call.id, guards=guards, **said)
    return verdict


async def _replace_args(invocation: Invocation, name: str, args: Any) -> None:
    """Continue with a guardrail's arguments as if the model had sent them; errors in them are the guardrail's."""
    try:
        if not isinstance(args, Mapping):
            raise TypeError(f"arguments are a mapping, not {type(args).__name__}")
        invocation.args = invocation.tool.args_schema.as_sent(args)
        for step in (inject, validate):
            waits = step(invocation)
            if waits is not None:
                await waits
    except (TypeError, ToolFailure) as error:
        raise _deny(invocation, name, error, _UNCHECKED_CALL) from error


def _deny(invocation: Invocation, name: str, error: BaseException, unchecked: str) -> CallDenied:
    log_hook_failure(invocation, f"the guardrail {name}", error)
    _note(invocation, {"name": name, "verdict": "crashed", "output_info": None})
    return CallDenied(unchecked)


def _note(invocation: Invocation, verdict: dict[str, Any]) -> None:
    invocation.remarks.verdicts = [*invocation.remarks.verdicts, verdict]
