"""Pipelines of the stages that a server has, without a server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sidecall import Registry
from sidecall.composition.stages import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.cache.answers import Caching
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.tool import Compilable, CompiledTool
from sidecall.kernel.executors.base import Executor, InlineExecutor
from sidecall.kernel.pipeline.batch import BatchThrottle, keep, run_batch
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.stores import Approvals


def make_pipeline(
    offered: Registry | Iterable[CompiledTool | Compilable],
    executors: Mapping[ExecutorName, Executor] | None = None,
    approvals: Approvals | None = None,
    caching: Caching | None = None,
    **options: Any,
) -> Pipeline:
    """Make a pipeline of these tools, with an executor for async ones and those that are given."""
    registry = offered if isinstance(offered, Registry) else Registry(offered)
    runners = {"inline": InlineExecutor(), **(executors or {})}
    stages = default_stages(runners, approvals or MemoryApprovals(), caching=caching)
    return Pipeline(registry, stages, **options)


async def run_all(
    pipeline: Pipeline, requests: Sequence[CallRequest], registry: Registry | None = None
) -> list[ToolMessage]:
    """Answer the calls of a batch, in their order; the registry tells which tools want to run alone in it."""
    return await run_batch(pipeline.run, (registry or Registry()).get, requests, keep, BatchThrottle())
