"""Processes that all tests of this folder share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from sidecall import Registry, ToolCall, ToolMessage
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.core.tool import Compilable, CompiledTool
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.process.executor import ProcessExecutor
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import Stages, kernel_stages
from sidecall.loading.discovery import discover
from sidecall.loading.offers import TOOLS_OF
from tests.kernel.executors.process import process_tools
from tests.kit.calls import request_call

Answer = Callable[..., Awaitable[ToolMessage]]


def answering(executor: Executor, stages: Stages | None = None) -> Answer:
    """Make a function that runs a call of a tool on this executor, with the kernel's stages unless others are given."""
    own = kernel_stages(Execute({"inline": executor, "thread": executor, "process": executor}), has_features=True)

    async def answer(
        tool: CompiledTool | Compilable, args: Any = None, secrets: Any = None, store: Any = None, **beside: Any
    ) -> ToolMessage:
        registry = Registry([tool])
        pipeline = Pipeline(registry, stages or own, services=CallServices(ToolResources(store, (secrets or {}).get)))
        call = ToolCall(name=registry.names[0], args=args or {}, id="call_1")
        return await pipeline.run(request_call(call, **beside))

    return answer


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessExecutor]:
    """Two processes that have loaded their tools, with room for 512 MB in each.

    Not an async fixture, with which all tests of the session would share one event loop.
    """
    executor = ProcessExecutor(2, TOOLS_OF, 512)
    asyncio.run(executor.start(discover([process_tools.__name__])))
    yield executor
    asyncio.run(executor.close())


@pytest.fixture
def answer(processes: ProcessExecutor) -> Answer:
    """Run a call in one of them."""
    return answering(processes)
