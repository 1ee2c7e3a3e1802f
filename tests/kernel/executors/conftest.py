"""How all tests of this folder call a tool."""

from collections.abc import Awaitable, Callable
from typing import Any

from sidecall import Registry, ToolCall, ToolMessage
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.core.tool import Compilable, CompiledTool
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import Stages, kernel_stages
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
