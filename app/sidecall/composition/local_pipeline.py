"""Build the stages and the pipeline of calls without a server: nothing that only a server needs is loaded."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from sidecall.composition.executors import build_executors
from sidecall.composition.features import Features, choose_features
from sidecall.composition.requirements import settle_settings
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.steps import make_approval_stages
from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.features.cache.answers import Caching
from sidecall.features.cache.steps import make_cache_stages
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.contract.feature import DEPRECATION_STAGES
from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.features.credentials.steps import make_credential_stages
from sidecall.features.processes.feature import make_process_executor
from sidecall.features.sandbox.feature import LateSandboxExecutor
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.features.workspaces.limits import WorkspaceLimits
from sidecall.features.workspaces.steps import WORKSPACE_STAGES
from sidecall.features.workspaces.workspaces import Expiry, Workspaces
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import ExecutorSettings, close_all
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.pipeline.truncate import Truncate
from sidecall.kernel.registry import Registry
from sidecall.settings import Settings

# Where tools may run beside the executors of the kernel.
EXECUTORS: Mapping[str, Callable[[ExecutorSettings], Executor]] = {
    "process": make_process_executor,
    "sandbox": LateSandboxExecutor,
}


def default_stages(
    executors: Mapping[ExecutorName, Executor],
    approvals: Approvals | None = None,
    budget: Truncate | None = None,
    caching: Caching | None = None,
    rules: ApprovalRules | None = None,
) -> Stages:
    """List the stages of a call in order, as on a server that has all features; what asks a person asks in memory."""
    execute, asked = Execute(executors), MemoryApprovals() if approvals is None else approvals
    return kernel_stages(execute, budget, has_features=True).add(
        [
            *WORKSPACE_STAGES,
            *make_approval_stages(asked, rules),
            *make_credential_stages(asked),
            *DEPRECATION_STAGES,
            *([] if caching is None else make_cache_stages(execute, caching)),
        ]
    )


@asynccontextmanager
async def build_pipeline(registry: Registry, settings: Settings) -> AsyncIterator[Pipeline]:
    """Build only the pipeline; what it keeps is in memory, and its executors are closed afterwards."""
    there, off = choose_features(settings)
    settings, features = settle_settings(settings, off), Features(there, registry, settings, off=off)
    features.hold_tools()
    executors = dict(build_executors(settings))
    sandbox = executors["sandbox"] if features.has("sandbox") else executors.pop("sandbox")
    assert isinstance(sandbox, LateSandboxExecutor)
    try:
        contents = MemoryContents(
            settings.artifact_ttl, settings.max_artifact_bytes, quota=settings.max_artifact_bytes_per_caller
        )
        items = ItemStore(MemoryItems(settings.max_store_bytes, settings.max_item_bytes))
        resources = ToolResources(
            items if features.has("store") else None,
            secrets_in(settings.secrets_dir),
            contents=contents if features.has("contents") else None,
            sandbox=sandbox.sandbox if features.has("sandbox") else None,
            workspaces=build_workspaces(settings) if features.has("workspaces") else None,
        )
        stages = default_stages(executors, MemoryApprovals(settings.approval_ttl, settings.max_approvals))
        yield Pipeline(registry, stages, settings.tool_timeout, CallServices(resources))
    finally:
        await close_all(executors)


def build_workspaces(settings: Settings) -> Workspaces:
    """Build the store of workspaces; folders are made on first use."""
    most = settings.workspace_max_bytes, settings.workspace_max_file_bytes, settings.workspace_max_entries
    expiry = Expiry(settings.workspace_idle_ttl, settings.workspace_ttl)
    return Workspaces(settings.workspace_dir, WorkspaceLimits(*most), expiry, settings.max_workspaces)
