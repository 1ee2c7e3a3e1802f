"""Large results of tools in processes hold nobody else up, and are bounded."""

import asyncio
import json
import time
from collections.abc import Awaitable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from sidecall import ToolGuardrailFunctionOutput, ToolMessage, ToolOutputGuardrailData, tool_output_guardrail
from sidecall.features.processes.executor import ProcessExecutor
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.collect import TOOLS_OF
from tests.features.processes.large_tools import long_parts, numbers, packed
from tests.kernel.executors.conftest import answering
from tests.kernel.executors.test_room_for_results import Crowded

# Numbers whose JSON is within a bound of 4 MiB, and beyond it.
SOME, MANY = 500_000, 1_000_000


@pytest.fixture(scope="module")
def bounded() -> Iterator[ProcessExecutor]:
    """One process that has loaded its tools, whose results may be of 4 MiB.

    Not an async fixture, with which all tests of the module would share one event loop.
    """
    executor = ProcessExecutor(1, TOOLS_OF, max_result_bytes=4 * 1024 * 1024)
    asyncio.run(executor.start([numbers.compiled, packed.compiled]))
    yield executor
    asyncio.run(executor.close())


@pytest.fixture(scope="module")
def slow() -> float:
    """Seconds that a thread computes to read so many numbers, and to write them: the processor's, which none takes."""
    began = time.thread_time()
    json.dumps(json.loads(json.dumps(list(range(SOME)))))
    return time.thread_time() - began


async def timed(answer: Awaitable[ToolMessage]) -> tuple[ToolMessage, float]:
    """Wait for an answer, and count what its event loop's thread has computed for it."""
    began = time.thread_time()
    message = await answer
    return message, time.thread_time() - began


async def test_a_large_content_is_never_built_in_the_server(bounded: ProcessExecutor, slow: float) -> None:
    """It crosses as the text that the model reads."""
    message, spent = await timed(answering(bounded)(numbers, {"count": MANY}))

    assert message.content == json.dumps(list(range(MANY)))
    assert spent < slow


async def test_a_large_artifact_is_read_and_written_off_the_loop(bounded: ProcessExecutor, slow: float) -> None:
    """Up to the bound."""
    message, spent = await timed(answering(bounded)(packed, {"count": SOME}))

    assert message.artifact == {"numbers": list(range(SOME))}
    assert spent < slow


async def test_an_artifact_beyond_the_bound_is_a_failed_call(bounded: ProcessExecutor) -> None:
    """It does not cross; what may is said."""
    message = await answering(bounded)(packed, {"count": MANY})

    assert message.content == (
        "Error: packed returned an artifact of 6,888,903 bytes as JSON; at most 4,194,304 are passed on."
    )
    assert message.response_metadata["error"]["kind"] == "output_error"


@pytest.mark.parametrize(("count", "kind"), [(100_000, list), (MANY, str)], ids=["within the bound", "beyond it"])
async def test_guardrails_see_structure_up_to_the_bound(bounded: ProcessExecutor, count: int, kind: type) -> None:
    """And beyond it the text that the model would read."""
    seen: list[Any] = []

    @tool_output_guardrail
    def look(given: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        seen.append(given.output)
        return ToolGuardrailFunctionOutput.allow()

    guarded = with_options(numbers.compiled, tool_output_guardrails=(look,))
    message = await answering(bounded)(guarded, {"count": count})

    assert [type(output) for output in seen] == [kind]
    assert str(message.content).endswith(f" {count - 1}]")


async def test_without_a_server_there_is_no_bound() -> None:
    """Nobody else waits."""
    assert await numbers.ainvoke({"count": 60_000}) == list(range(60_000))


async def test_what_a_process_has_made_is_not_read_before_there_is_room() -> None:
    """So that it waits where it was made."""
    executor, crowded = ProcessExecutor(1, "sidecall.loading.collect:tools_of"), Crowded()
    try:
        await executor.start([long_parts.compiled])
        answer = await crowded.call(long_parts, executor)
        is_there = answer.done()
        crowded.results.release("other")
        message = await answer
    finally:
        await executor.close()

    assert not is_there
    assert message.content == "x" * 1_000_000
    assert crowded.results.used == 0


def with_options(tool: CompiledTool, **options: Any) -> CompiledTool:
    """Change a tool's options."""
    return replace(tool, options=replace(tool.options, **options))
