"""Each error of a tool, in each executor, is one failed message, and harms no other call."""

import asyncio
from collections.abc import Iterator

import pytest

from sidecall import Registry, ToolCall
from sidecall.kernel.concurrency.event_loop import run_steadily
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.executors.table import EXECUTORS, Executors, ExecutorSettings, build_all, start_all
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from tests.kernel.pipeline import exit_tools
from tests.kernel.pipeline.exit_tools import AROUND, ERRORS, PLACES
from tests.kit.pipelines import run_all

ALONE = [f"{place}_{executor}" for executor in EXECUTORS for place in PLACES]
TOOLS = list(discover([exit_tools.__name__]))


@pytest.fixture(scope="module")
def executors() -> Iterator[Executors]:
    """Have one thread for all rows of the table."""
    executors = build_all(ExecutorSettings(tools_of=TOOLS_OF))
    asyncio.run(start_all(executors, TOOLS))
    yield executors
    asyncio.run(executors["thread"].close())


def request(name: str, how: str) -> CallRequest:
    """Call one of them."""
    exit_tools.NEXT[0] = how
    args = {"text": how} if name.startswith("fine") else {"how": how}
    return CallRequest(ToolCall(name=name, args=args, id=name))


@pytest.mark.parametrize("how", ERRORS)
@pytest.mark.parametrize("name", [*ALONE, *(tool.name for tool in AROUND)])
def test_one_call_fails_and_its_neighbours_answer(executors: Executors, name: str, how: str) -> None:
    """Also the next call of the same kind, which finds everything in order; on a loop as servers run theirs."""
    pipeline = Pipeline(Registry(TOOLS), kernel_stages(Execute(executors)), 10.0)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        run_steadily(loop, loop.create_task(call_between_neighbours(pipeline, name, how, "fine_thread")))


async def call_between_neighbours(pipeline: Pipeline, name: str, how: str, beside: str) -> None:
    """Call it between two others, and afterwards one that runs beside it."""
    before, failed, after = await run_all(pipeline, [request(called, how) for called in ("fine", name, "fine")])
    later = await pipeline.run(request(beside, how))

    assert (failed.status, failed.tool_call_id) == ("error", name)
    assert [message.content for message in (before, after, later)] == [how] * 3
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
