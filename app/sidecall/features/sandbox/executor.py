"""Run tools without files and network: in tool processes inside a sandbox."""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import Any

from sidecall.features.processes.executor import ProcessExecutor
from sidecall.features.sandbox.command_line_tools import CommandTools
from sidecall.features.sandbox.fork_server_launcher import ForkServerLauncher
from sidecall.features.sandbox.local_sandbox import LocalSandbox
from sidecall.kernel.core.errors import DefinitionError, ToolExecutionError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import ExecutorSettings
from sidecall.kernel.ports.sandbox import PLAIN, SandboxUse

logger = logging.getLogger("sidecall")


class SandboxExecutor:
    """Runs calls in a fixed number of warm processes of one sandbox, and gives tools the server's own sandbox.

    The processes reach neither the machine's files, processes and network nor the server's environment. They are not
    isolated from each other: the next call finds what one leaves in `/tmp`.
    """

    def __init__(
        self,
        sandbox: LocalSandbox,
        processes: int,
        tools_of: str,
        memory_limit_mb: int,
        *,
        max_result_bytes: int | None = None,
        imports_once: bool = True,
    ) -> None:
        """Prepare for calls; nothing is tested or started before it is needed."""
        self.sandbox = sandbox
        self._telling: asyncio.Task[None] | None = None
        self._commands = CommandTools(sandbox.limits, processes)
        self._launcher = ForkServerLauncher(processes, memory_limit_mb)
        self._processes = ProcessExecutor(
            processes,
            tools_of,
            memory_limit_mb,
            max_result_bytes=max_result_bytes,
            env=dict(PLAIN),
            launch=self._launcher.launch,
            imports_once=imports_once,
        )

    @property
    def occupancy(self) -> Occupancy:
        """How many of its processes are in use."""
        return self._processes.occupancy

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Start processes for tools that run there; for tools that only use a sandbox, start its self-test.

        Raises:
            DefinitionError: A tool runs there, and this machine has no sufficient sandbox; or a package is missing.
        """
        wanted = list(tools)
        waiting = [tool for tool in wanted if self._may_wait(tool.sandbox_use)]
        if waiting:
            self.sandbox.begin()
            self._telling = asyncio.get_running_loop().create_task(self._log_refused(waiting))
        for tool in wanted:
            lack = None if tool in waiting else await self.sandbox.explain_lack(tool.sandbox_use)
            if lack is not None:
                raise DefinitionError(f"{tool.source}: tool {tool.name!r} needs a sandbox: {lack}.")
        own = _list_functions(wanted)
        if own:
            await self._prepare()
            await self._processes.start(own)

    def _may_wait(self, use: SandboxUse | None) -> bool:
        return use is not None and use != "functions" and self.sandbox.is_tried_for(use)

    async def _log_refused(self, tools: Iterable[CompiledTool]) -> None:
        for tool in tools:
            lack = await self.sandbox.explain_lack(tool.sandbox_use)
            if lack is not None:
                logger.error("the tool %s is refused: it needs a sandbox: %s", tool.name, lack)

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Reload: start new processes with the present code."""
        if self._launcher.backend is not None:
            self._processes.follow(_list_functions(tools))

    async def run(self, invocation: Invocation) -> Any:
        """Call the function in a sandboxed process, or run a command-line tool."""
        lack = await self.sandbox.explain_lack(invocation.tool.sandbox_use)
        if lack is not None:
            error = ToolExecutionError(invocation.tool.name, invocation.call.id)
            error.__cause__ = DefinitionError(f"The tool needs a sandbox: {lack}.")
            raise error
        backend = (await self.sandbox.open()).backend
        if invocation.tool.options.command is not None and backend is not None:
            return await self._commands.run(invocation, backend)
        await self._prepare()
        return await self._processes.run(invocation)

    async def close(self) -> None:
        """Kill all processes."""
        if self._telling is not None:
            self._telling.cancel()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.sandbox.close)
            stack.callback(self._launcher.close)
            await self._processes.close()

    async def _prepare(self) -> None:
        if self._launcher.backend is None:
            self._launcher.backend = (await self.sandbox.open()).backend


def _list_functions(tools: Iterable[CompiledTool]) -> list[CompiledTool]:
    return [tool for tool in tools if tool.executor == "sandbox" and tool.options.command is None]


def make_executor(sandbox: LocalSandbox, settings: ExecutorSettings) -> SandboxExecutor:
    """Make the executor of a server with its sandbox."""
    return SandboxExecutor(
        sandbox,
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        imports_once=settings.imports_once,
    )
