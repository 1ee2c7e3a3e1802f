"""The executor of tool processes, which is made with the first tool that runs in one."""

import os
from typing import TYPE_CHECKING

from sidecall.features.processes.environment import choose_variables
from sidecall.kernel.executors.table import ExecutorSettings, LateExecutor
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.processes import executor as _executor
else:
    _executor = Later("sidecall.features.processes.executor")


def make_late_processes(settings: ExecutorSettings) -> LateExecutor:
    """Prepare the executor without starting it."""
    return LateExecutor(settings.processes, lambda: _make_executor(settings))


def _make_executor(settings: ExecutorSettings) -> "_executor.ProcessExecutor":
    return _executor.ProcessExecutor(
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=settings.traces,
        imports_once=settings.imports_once,
        env=choose_variables(os.environ, settings.process_env, traces=settings.traces is not None),
    )
