"""What the feature sandbox adds to a server: a sandbox, and an executor that is made with its first tool."""

from typing import Any

from sidecall.feature import Built, Feature, Host
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.kernel.executors.table import Executors, ExecutorSettings, LateExecutor
from sidecall.kernel.ports.sandbox import SandboxLimits

_EXECUTOR = "sidecall.features.sandbox.executor:make_executor"


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
        super().__init__(settings.processes, _EXECUTOR, self.sandbox, settings)

    async def close(self) -> None:
        """Release the executor and the sandbox."""
        try:
            await super().close()
        finally:
            await self.sandbox.close()


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
