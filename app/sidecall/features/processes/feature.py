"""What the feature processes adds to a server: an executor that is made with the first tool that runs in a process."""

import os
from collections.abc import Callable

from sidecall.feature import Built, Feature, Host
from sidecall.features.processes.environment import choose_variables
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import ExecutorSettings, LateExecutor
from sidecall.lazy_imports import later

_open_executor: Callable[..., Executor] = later("sidecall.features.processes.executor:ProcessExecutor")


def make_process_executor(settings: ExecutorSettings) -> LateExecutor:
    """Prepare the executor without starting it."""
    return LateExecutor(settings.processes, lambda: _make_executor(settings))


def _make_executor(settings: ExecutorSettings) -> Executor:
    return _open_executor(
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=settings.traces,
        imports_once=settings.imports_once,
        env=choose_variables(os.environ, settings.process_env, traces=settings.traces is not None),
    )


def _build(host: Host) -> Built:
    """Have what runs tools in processes of their own; they start with the first tool."""
    return Built(executors={"process": make_process_executor(host.executing)})


FEATURE = Feature(name="processes", executors=frozenset({"process"}), build=_build)
