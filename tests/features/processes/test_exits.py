"""Each error of a tool in a process is one failed message, and harms no other call."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.processes.feature import make_process_executor
from sidecall.kernel.concurrency.event_loop import run_steadily
from sidecall.kernel.executors.table import Executors, ExecutorSettings, build_all, start_all
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.loading.collect import TOOLS_OF
from tests.kernel.pipeline.exit_tools import AROUND, ERRORS, PLACES
from tests.kernel.pipeline.test_exits import TOOLS, call_between_neighbours


@pytest.fixture(scope="module")
def executors() -> Iterator[Executors]:
    """Start one process for all rows of the table."""
    settings = ExecutorSettings(tools_of=TOOLS_OF)
    executors: Any = {**build_all(settings), "process": make_process_executor(settings)}
    asyncio.run(start_all(executors, TOOLS))
    yield executors
    asyncio.run(executors["process"].close())


@pytest.mark.parametrize("how", ERRORS)
@pytest.mark.parametrize("name", [*(f"{place}_process" for place in PLACES), *(tool.name for tool in AROUND)])
def test_one_call_fails_and_its_neighbours_answer(executors: Executors, name: str, how: str) -> None:
    """Also the next call of the same kind, which finds everything in order; on a loop as servers run theirs."""
    pipeline = Pipeline(Registry(TOOLS), kernel_stages(Execute(executors), has_features=True), 10.0)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        run_steadily(loop, loop.create_task(call_between_neighbours(pipeline, name, how, "fine_process")))
