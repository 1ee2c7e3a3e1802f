"""Run tools without files and network: in tool processes inside a sandbox."""

import asyncio
import json
import logging
import os
import resource
import select
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sidecall.features.sandbox.bubblewrap import (
    PLAIN,
    Mount,
    SandboxBackend,
    SandboxFailed,
    list_limits,
    mount_python,
    write_arguments,
)
from sidecall.features.sandbox.cgroups import Group
from sidecall.features.sandbox.command_tools import CommandTools
from sidecall.features.sandbox.confined import open_files, write_command
from sidecall.features.sandbox.local import LocalSandbox
from sidecall.kernel.core.errors import DefinitionError, ToolExecutionError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.process.descendants import children_of
from sidecall.kernel.executors.process.executor import ProcessExecutor
from sidecall.kernel.ports.sandbox import SandboxLimits, SandboxUse

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
        self._launcher = Launcher(processes, memory_limit_mb)
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


_MOST_STATUS = 8192

_PATIENCE_MS = 10_000
# Memory of Python with all of Sidecall loaded, without the tools.
_BASE_MB = 512

_PROCESSES_EACH = 32

_TEMPORARY = "/tmp"  # noqa: S108  the sandbox's own


class Launcher:
    """Starts a sandboxed process once its spec is known."""

    def __init__(self, processes: int, memory_limit_mb: int) -> None:
        self.backend: SandboxBackend | None = None
        each = memory_limit_mb + _BASE_MB
        self._each = SandboxLimits(memory_mb=each, processes=processes * _PROCESSES_EACH, open_files=1024)
        self._together = replace(self._each, memory_mb=processes * memory_limit_mb + _BASE_MB)
        self._group: Group | None = None

    def launch(
        self, command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        """Start a command in a sandbox that has only Python and Sidecall.

        Raises:
            SandboxFailed: There is no sandbox.
        """
        backend = self.backend
        if backend is None:
            raise SandboxFailed("the sandbox was not tried yet")
        self.close()
        with ExitStack() as theirs:
            files = open_files({}, theirs)
            mounts = [*mount_python(), _mount_sidecall()]
            options = write_arguments(backend.system, mounts, self._each, files, _TEMPORARY, env or {})
            told, status = os.pipe()
            block, go = os.pipe()
            for fd in (told, block, go):
                theirs.callback(os.close, fd)
            words, given = write_command(backend, options, command, (status, block), theirs)
            process = subprocess.Popen(  # noqa: S603  the program is an operator's
                words,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=[*files.values(), *given, handed],
                start_new_session=True,
                env={},
                cwd="/",
            )
            try:
                os.close(status)
                self._release(backend, _wait_for_pid(told), go)
            except BaseException:
                _end_early(process)  # Before our end of the pipe is closed, which would start it without limits.
                raise
        return process

    def close(self) -> None:
        """Remove what bounded it, once it has ended."""
        if self._group is not None:
            self._group.remove()
            self._group = None

    def _release(self, backend: SandboxBackend, pid: int, go: int) -> None:
        for kind, most in list_limits(self._each, is_grouped=True):
            resource.prlimit(pid, kind, (most, most))
        if backend.groups is not None:
            self._group = backend.groups.open(self._together.memory_bytes, self._together.processes)
            self._group.add(pid)
        os.write(go, b"g")


def _mount_sidecall() -> Mount:
    place = str(Path(__file__).resolve().parents[2])
    return Mount(place, place)


def _wait_for_pid(told: int) -> int:
    """Read from bubblewrap the id of the process to bound.

    Raises:
        SandboxFailed: Bubblewrap gave none.
    """
    poll = select.poll()
    poll.register(told, select.POLLIN)
    body = b""
    while b"\n" not in body and poll.poll(_PATIENCE_MS) and (piece := os.read(told, _MOST_STATUS)):
        body += piece
    try:
        return int(json.loads(body.splitlines()[0])["child-pid"])
    except (ValueError, IndexError, KeyError):
        raise SandboxFailed("bubblewrap does not start") from None


_END_PATIENCE = 1.0


def _end_early(process: subprocess.Popen[bytes]) -> None:
    """Kill it and its child, which it may be creating."""
    if process.poll() is None:
        with suppress(ProcessLookupError, ChildProcessError):
            # Once it is stopped, it either has a child, which can be found, or will never have one.
            os.kill(process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            children = children_of(process.pid)
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            if children:  # Which it reaps, and ends.
                os.kill(process.pid, signal.SIGCONT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_END_PATIENCE)
    process.kill()
    process.wait()
