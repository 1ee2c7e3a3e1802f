"""Run tools of one's own where they reach no files and no network: processes as others, but inside a sandbox."""

from collections.abc import Iterable
from typing import Any

from sidecall.core.errors import DefinitionError, ToolExecutionError
from sidecall.core.invocation import Invocation
from sidecall.core.occupancy import Occupancy
from sidecall.core.tool import CompiledTool
from sidecall.executors.process.executor import ProcessExecutor
from sidecall.executors.sandbox.bubblewrap import PLAIN
from sidecall.executors.sandbox.launching import Launcher
from sidecall.executors.sandbox.local import LocalSandbox


class SandboxExecutor:
    """Runs calls in a fixed number of warm processes of one sandbox, and sees to it that tools find the server's.

    The processes reach neither the machine's files, processes and network nor the server's environment. They are not
    parted from each other: what one call leaves in `/tmp`, the next can find.
    """

    def __init__(
        self,
        sandbox: LocalSandbox,
        processes: int,
        tools_of: str,
        memory_limit_mb: int,
        *,
        max_result_bytes: int | None = None,
    ) -> None:
        """Prepare for calls; nothing is tried or started before it is needed."""
        self.sandbox = sandbox
        self._launcher = Launcher(processes, memory_limit_mb)
        self._processes = ProcessExecutor(
            processes,
            tools_of,
            memory_limit_mb,
            max_result_bytes=max_result_bytes,
            env=dict(PLAIN),
            launch=self._launcher.launch,
        )

    @property
    def occupancy(self) -> Occupancy:
        """How many of its processes are taken."""
        return self._processes.occupancy

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Try the sandbox, if any of these tools wants it, and make processes ready for those that run there.

        Raises:
            DefinitionError: A tool needs a sandbox, and this machine has none that would do.
        """
        wanted = list(tools)
        for tool in wanted:
            lack = await self.sandbox.explain_lack(tool.sandbox_use)
            if lack is not None:
                raise DefinitionError(f"{tool.source}: tool {tool.name!r} needs a sandbox: {lack}.")
        own = [tool for tool in wanted if tool.executor == "sandbox"]
        if own:
            await self._prepare()
            await self._processes.start(own)

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Have new processes load the code as it is now."""
        if self._launcher.means is not None:
            self._processes.follow(tools)

    async def run(self, invocation: Invocation) -> Any:
        """Let a process in the sandbox call the function."""
        lack = await self.sandbox.explain_lack("functions")
        if lack is not None:
            error = ToolExecutionError(invocation.tool.name, invocation.call.id)
            error.__cause__ = DefinitionError(f"The tool needs a sandbox: {lack}.")
            raise error
        await self._prepare()
        return await self._processes.run(invocation)

    async def close(self) -> None:
        """Kill all processes."""
        await self._processes.close()
        self._launcher.close()
        await self.sandbox.close()

    async def _prepare(self) -> None:
        if self._launcher.means is None:
            self._launcher.means = (await self.sandbox.open()).means
