"""In a batch everything is an answer, also what a single call is told by its status code."""

import asyncio
from typing import Any

import pytest

from sidecall import Registry, ToolCall, ToolException, ToolGuardrailFunctionOutput, ToolMessage, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.pipeline import Pipeline
from tests.kit.pipelines import run_all
from tests.kit.tools import ping

CANARY = "canary-4711"


@tool(requires_approval=True)
async def delete(order: int) -> str:
    """Delete an order."""
    return f"deleted {order}"


@tool(handle_tool_error=None)
async def busy() -> str:
    """Be busy, and let everybody know."""
    raise ToolException("Busy.", retryable=True)


@tool(handle_tool_error=None)
async def crash() -> str:
    """Crash, and let everybody know."""
    raise ValueError(CANARY)


@tool(timeout=0.01, timeout_behavior="raise")
async def hang() -> None:
    """Wait for ever, and let everybody know."""
    await asyncio.Event().wait()


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception("why")])
async def guarded() -> str:
    """Never run."""
    return "ran"


@tool(handle_tool_error=None, tool_output_guardrails=[lambda _: ToolGuardrailFunctionOutput.reject_content("Hidden.")])
async def leaky() -> str:
    """Say too much while failing."""
    raise ToolException(CANARY)


@pytest.fixture
def pipeline() -> Pipeline:
    """Give a pipeline where one call may wait."""
    registry = Registry([ping, delete, busy, crash, hang, guarded, leaky])
    return Pipeline(registry, default_stages({"inline": InlineExecutor()}, MemoryApprovals(most=1)))


async def _batch(pipeline: Pipeline, *names: str, **args: Any) -> list[ToolMessage]:
    calls = [ToolCall(name=name, args=args, id=f"call_{index}") for index, name in enumerate(names)]
    return await run_all(pipeline, [CallRequest(call) for call in calls])


@pytest.mark.parametrize(
    ("name", "kind", "content", "retryable"),
    [
        ("busy", "tool_error", "Busy.", True),
        (
            "crash",
            "execution_error",
            "Error: crash failed unexpectedly (call call_1). The details are in the server's log.",
            False,
        ),
        ("hang", "timeout", "Error: hang timed out after 0.01 seconds.", True),
        ("guarded", "denied", "The guardrail <lambda> refuses this call of guarded.", False),
    ],
)
async def test_what_goes_through_alone_is_an_answer_among_others(
    pipeline: Pipeline, name: str, kind: str, content: str, retryable: bool
) -> None:
    """Its siblings are answered as ever."""
    before, failed, after = await _batch(pipeline, "ping", name, "ping")
    error = failed.response_metadata["error"]

    assert (before.content, after.content) == ("pong", "pong")
    assert (failed.content, failed.status, failed.tool_call_id, failed.name) == (content, "error", "call_1", name)
    assert (error["kind"], error["retryable"]) == (kind, retryable)


async def test_a_call_that_waits_is_an_answer_with_the_approvals_id(pipeline: Pipeline) -> None:
    """The siblings run; the next one to wait finds no room."""
    waiting, ran, refused = await _batch(pipeline, "delete", "ping", "delete", order=7)
    approval_id = waiting.response_metadata["approval_id"]

    assert ran.content == "pong"
    assert waiting.content == f"delete waits for a person's approval ({approval_id})."
    assert (waiting.status, waiting.response_metadata["error"]["kind"]) == ("error", "approval_required")
    assert refused.content == ("So many calls wait for a person's approval that this server takes no more.")
    error = refused.response_metadata["error"]
    assert (error["kind"], error["retryable"], error["retry_after_ms"]) == ("overloaded", True, 60_000)
    assert "approval_id" not in refused.response_metadata


async def test_what_a_guardrail_hides_stays_hidden_in_a_batch(pipeline: Pipeline) -> None:
    """There the text of a failure that goes through is read by the model again."""
    (message,) = await _batch(pipeline, "leaky")

    assert CANARY not in message.model_dump_json()
