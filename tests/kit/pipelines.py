"""Pipelines of the stages that a server has, without a server."""

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sidecall import Registry
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.tool import Compilable, CompiledTool
from sidecall.kernel.executors.base import Executor, InlineExecutor
from sidecall.kernel.pipeline.batch import BatchThrottle, keep, run_batch
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.stages import kernel_stages

if TYPE_CHECKING:
    from sidecall.features.approvals import stores

if find_spec("sidecall.features") is not None:
    from sidecall.composition.local_pipeline import default_stages as list_stages
else:

    def list_stages(executors: Mapping[ExecutorName, Executor], *_: Any, **_rest: Any) -> Stages:  # type: ignore[misc]
        """List the stages of the kernel."""
        return kernel_stages(Execute(executors), has_features=True)  # These tests give tools what they ask for.


def make_pipeline(
    offered: Registry | Iterable[CompiledTool | Compilable],
    executors: Mapping[ExecutorName, Executor] | None = None,
    approvals: "stores.Approvals | None" = None,
    caching: Any = None,
    **options: Any,
) -> Pipeline:
    """Make a pipeline of these tools, with an executor for async ones and those that are given.

    Without features it takes the stages of the kernel.
    """
    registry = offered if isinstance(offered, Registry) else Registry(offered)
    runners = {"inline": InlineExecutor(), **(executors or {})}
    stages = list_stages(runners, approvals, caching=caching)
    return Pipeline(registry, stages, **options)


async def run_all(
    pipeline: Pipeline, requests: Sequence[CallRequest], registry: Registry | None = None
) -> list[ToolMessage]:
    """Answer the calls of a batch, in their order; the registry tells which tools want to run alone in it."""
    return await run_batch(pipeline.run, (registry or Registry()).get, requests, keep, BatchThrottle())
