"""What the feature sandbox adds to a server: a sandbox, and an executor that is made with its first tool."""

from collections.abc import Callable
from typing import Any

from sidecall.feature import Built, Feature, Host
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.executors.table import Executors, ExecutorSettings, LateExecutor
from sidecall.kernel.ports.sandbox import SandboxLimits
from sidecall.lazy_imports import later

_open_executor: Callable[..., Executor] = later("sidecall.features.sandbox.executor:SandboxExecutor")


def make_sandbox(settings: Any) -> LocalSandbox:
    """Make the sandbox of this machine by the settings of the server; it is tested at first use."""
    limits = SandboxLimits(
        memory_mb=settings.sandbox_memory_mb,
        processes=settings.sandbox_processes,
        file_mb=settings.sandbox_file_mb,
    )
    return LocalSandbox(
        limits, settings.python, settings.shell_allow, settings.shell_output_bytes, settings.sandbox_waiting
    )


class LateSandboxExecutor(LateExecutor):
    """The sandbox executor, whose sandbox is also used by tools elsewhere."""

    has_sandbox = True

    def __init__(self, settings: ExecutorSettings, sandbox: LocalSandbox | None = None) -> None:
        """Prepare the executor without starting it, with a sandbox of this machine unless one is given."""
        self.sandbox = LocalSandbox() if sandbox is None else sandbox
        super().__init__(settings.processes, lambda: _make_executor(self.sandbox, settings))

    async def close(self) -> None:
        """Release the executor and the sandbox."""
        try:
            await super().close()
        finally:
            await self.sandbox.close()


def _make_executor(sandbox: LocalSandbox, settings: ExecutorSettings) -> Executor:
    return _open_executor(
        sandbox,
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        imports_once=settings.imports_once,
    )


def find_sandbox(executors: Executors) -> LocalSandbox | None:
    """Return the sandbox among these executors; None if there is none."""
    found = executors.get("sandbox")
    return found.sandbox if isinstance(found, LateSandboxExecutor) else None


def build(host: Host) -> Built:
    """Make the sandbox, and what runs tools in it."""
    sandbox = make_sandbox(host.server)
    return Built(
        executors={"sandbox": LateSandboxExecutor(host.executing, sandbox)},
        services={"sandbox": sandbox},
    )


FEATURE = Feature(
    name="sandbox",
    needs=("processes",),
    options=frozenset({"command"}),
    executors=frozenset({"sandbox"}),
    build=build,
)
