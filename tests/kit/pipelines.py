"""Pipelines of the stages that a server has, without a server."""

from collections.abc import Iterable, Mapping
from typing import Any

from sidecall import Registry
from sidecall.core.decisions.places import Approvals
from sidecall.core.options import ExecutorName
from sidecall.core.tool import Compilable, CompiledTool
from sidecall.executors.base import Executor
from sidecall.executors.inline import InlineExecutor
from sidecall.ledger.memory.approvals import MemoryApprovals
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.stages import default_stages


def make_pipeline(
    offered: Registry | Iterable[CompiledTool | Compilable],
    executors: Mapping[ExecutorName, Executor] | None = None,
    approvals: Approvals | None = None,
    **options: Any,
) -> Pipeline:
    """Make a pipeline of these tools, with an executor for async ones and those that are given."""
    registry = offered if isinstance(offered, Registry) else Registry(offered)
    stages = default_stages({"inline": InlineExecutor(), **(executors or {})}, approvals or MemoryApprovals())
    return Pipeline(registry, stages, **options)
