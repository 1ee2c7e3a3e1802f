"""Pipelines of the stages that a server has, without a server."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sidecall import Registry
from sidecall.core.decisions.places import Approvals
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.options import ExecutorName
from sidecall.core.tool import Compilable, CompiledTool
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.ledger.memory.approvals import MemoryApprovals
from sidecall.pipeline.batch import keep, run_batch
from sidecall.pipeline.cached.answers import Caching
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.portions import Portions
from sidecall.pipeline.stages import default_stages


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
    return await run_batch(pipeline.run, (registry or Registry()).get, requests, keep, Portions())
