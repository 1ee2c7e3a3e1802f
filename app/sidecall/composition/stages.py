"""The stages of calls without a server: those of the kernel and of the features that give something to tools."""

from collections.abc import Callable, Mapping

from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.approvals.steps import make_approval_stages
from sidecall.features.cache.answers import Caching
from sidecall.features.cache.run import make_cache_stages
from sidecall.features.contract.feature import DEPRECATION_STAGES
from sidecall.features.credentials.stages import make_credential_stages
from sidecall.features.sandbox.late import LateSandboxExecutor
from sidecall.features.workspaces.steps import WORKSPACE_STAGES
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import ExecutorSettings
from sidecall.kernel.pipeline.budget import Budget
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.ports.approvals.stores import ApprovalRules, Approvals

# Where tools may run beside the executors of the kernel.
EXECUTORS: Mapping[str, Callable[[ExecutorSettings], Executor]] = {"sandbox": LateSandboxExecutor}


def default_stages(
    executors: Mapping[ExecutorName, Executor],
    approvals: Approvals | None = None,
    budget: Budget | None = None,
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
