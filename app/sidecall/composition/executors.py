"""Build the executors from the settings."""

from collections.abc import Iterable

from sidecall.features.processes import tool_location
from sidecall.features.processes.feature import make_process_executor
from sidecall.features.processes.finder import Finder
from sidecall.features.sandbox.feature import LateSandboxExecutor, make_sandbox
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.table import Executors, ExecutorSettings, build_all
from sidecall.loading.collect import TOOLS_OF, tools_of
from sidecall.settings import Settings

# Opens spans in the processes of tools.
_TRACES = "sidecall.features.telemetry.tracing:open_in_process"


def read_executor_settings(settings: Settings) -> ExecutorSettings:
    """Return what executors are made with."""
    return ExecutorSettings(
        tools_of=TOOLS_OF,
        threads=settings.threads,
        processes=settings.processes,
        imports_once=settings.process_import == "once",
        memory_limit_mb=settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=None if settings.otel == "off" else _TRACES,
        process_env=settings.process_env,
    )


def build_executors(settings: Settings) -> Executors:
    """Make one executor of each kind, those of features included; for calls without a server."""
    made_with = read_executor_settings(settings)
    return {
        **build_all(made_with),
        "process": make_process_executor(made_with),
        "sandbox": LateSandboxExecutor(made_with, make_sandbox(settings)),
    }


def refuse_unfit(tools: Iterable[CompiledTool]) -> None:
    """Refuse tools that are set to run in a process and cannot.

    Raises:
        InvalidToolOption: The message says which, and why.
    """
    tool_location.refuse_unfit(tools, Finder(tools_of))
