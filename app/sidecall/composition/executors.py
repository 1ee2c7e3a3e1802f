"""Build the executors from the settings."""

from sidecall.features.processes.late import make_late_processes
from sidecall.features.sandbox.late import LateSandboxExecutor, make_sandbox
from sidecall.kernel.executors.table import Executors, ExecutorSettings, build_all
from sidecall.loading.offers import TOOLS_OF
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
        "process": make_late_processes(made_with),
        "sandbox": LateSandboxExecutor(made_with, make_sandbox(settings)),
    }
