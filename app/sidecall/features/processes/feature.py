"""What the feature processes adds to a server: an executor that is made with the first tool that runs in a process."""

from sidecall.feature import Built, Feature, Host
from sidecall.kernel.executors.table import ExecutorSettings, LateExecutor

_EXECUTOR = "sidecall.features.processes.executor:make_executor"


def make_process_executor(settings: ExecutorSettings) -> LateExecutor:
    """Prepare the executor without starting it."""
    return LateExecutor(settings.processes, _EXECUTOR, settings)


def _build(host: Host) -> Built:
    """Have what runs tools in processes of their own; they start with the first tool."""
    return Built(executors={"process": make_process_executor(host.executing)})


FEATURE = Feature(name="processes", executors=frozenset({"process"}), build=_build)
