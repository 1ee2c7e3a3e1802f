"""The sandbox of a server, and the executor that is made with the first tool that runs in it."""

from typing import TYPE_CHECKING, Any

from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.kernel.executors.table import Executors, ExecutorSettings, LateExecutor
from sidecall.kernel.ports.sandbox import SandboxLimits
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.sandbox import executor as _executor
else:
    _executor = Later("sidecall.features.sandbox.executor")


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


def _make_executor(sandbox: LocalSandbox, settings: ExecutorSettings) -> "_executor.SandboxExecutor":
    return _executor.SandboxExecutor(
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
