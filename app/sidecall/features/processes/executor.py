"""Run tools in processes, which can be killed and limited, and whose crashes do not affect the server."""

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sidecall.features.processes.child import COST, Child, Listen, ProcessDied, pack
from sidecall.features.processes.environment import choose_variables
from sidecall.features.processes.failures import raise_failure
from sidecall.features.processes.finder import Home
from sidecall.features.processes.fork_server_process import Launch, launch_plainly
from sidecall.features.processes.output import read_output
from sidecall.features.processes.pool import ProcessPool
from sidecall.features.processes.request import bounds_of, write_request
from sidecall.features.processes.server_requests import reply_to
from sidecall.features.processes.tool_location import find_obstacle, home_of, is_replaced, refuse
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.core.errors import DiscoveryError, InvalidToolOption
from sidecall.kernel.core.invocation import Invocation, open_cost
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.table import ExecutorSettings

# How many new processes a call is handed to, if all that were there die before they take it.
_NEW_ONES = 3
_MEMORY_LIMIT_MB = 1024
_FINDING = "finding"
# Tools log through this logger, at the level set here.
_LOGGERS = ("root", "sidecall.tool")


class ProcessExecutor:
    """Runs calls in warm processes, up to a number.

    A process imports the tool by its name, and only JSON crosses. A process is killed when its call's deadline passes
    or its client disconnects; a process that dies fails one call. Its replacement is ready within milliseconds, since
    it is forked from a process that has loaded everything, tools included where they allow it.
    """

    def __init__(  # noqa: PLR0913  what a server says of its processes
        self,
        processes: int,
        tools_of: str,
        memory_limit_mb: int = _MEMORY_LIMIT_MB,
        *,
        max_result_bytes: int | None = None,
        traces: str | None = None,
        env: Mapping[str, str] | None = None,
        launch: Launch = launch_plainly,
        imports_once: bool = True,
    ) -> None:
        """Prepare for calls; processes start on demand.

        Args:
            processes: How many there are.
            tools_of: How a process lists the tools of a module, as `module:function`.
            memory_limit_mb: What a tool may take in one, unless it says otherwise.
            max_result_bytes: Most bytes of JSON that a result may have as structure; no bound when None.
            traces: What opens spans in a process, as `module:function`; no spans when None.
            env: The environment of tools; that of the server when None.
            launch: Starts the process that makes the others.
            imports_once: Import the tools once for all processes, where they allow it.
        """
        self._memory_limit_mb = memory_limit_mb
        self._max_result_bytes = max_result_bytes
        self._traces = traces
        self._functions: dict[str, Callable[..., Any]] = {}
        self._homes: dict[str, Home] = {}
        self._pool = ProcessPool(processes, self._greet, tools_of, env, launch, imports_once=imports_once)
        self._killed = 0

    @property
    def occupancy(self) -> Occupancy:
        """How many processes are in use, and how many calls wait for one."""
        pool = self._pool
        return Occupancy(size=pool.size, busy=pool.busy, waiting=pool.waiting, killed=self._killed)

    @property
    def fork_server_pid(self) -> int | None:
        """The process id of the fork server; None before the first use."""
        return self._pool.fork_server_pid

    async def start(self, tools: Iterable[CompiledTool]) -> None:
        """Start the processes and load these tools in them; without tools, start nothing.

        Raises:
            InvalidToolOption: One of them cannot run in a process.
        """
        wanted = list(tools)
        for tool in wanted:
            self._know(tool)
        if wanted:
            self._pool.renew()
            lost = await self._find_lost()
            for tool in wanted:
                refuse(tool, lost.get(tool.name))

    def follow(self, tools: Iterable[CompiledTool]) -> None:
        """Let new processes load the current code, before the next call if possible."""
        is_new = False
        for tool in tools:
            with suppress(InvalidToolOption):  # The call will say it.
                is_new |= self._know(tool)
        if is_new:
            self._pool.renew()

    async def run(self, invocation: Invocation) -> Any:
        """Run the call in a process, and raise here what it raises there."""
        if self._know(invocation.tool):
            self._pool.renew()
        bounds = bounds_of(invocation.tool, self._max_result_bytes)
        request = write_request(invocation, self._homes[invocation.tool.name], self._memory_limit_mb, bounds)
        answer = await self._ask(invocation, pack("call", invocation.id, request))
        raise_failure(answer)
        return read_output(invocation.tool, answer, invocation.call.id)

    async def close(self) -> None:
        """Kill all processes."""
        await self._pool.close()

    def _know(self, tool: CompiledTool) -> bool:
        """Return whether a tool is new or reloaded, so that the processes hold old code and must be replaced.

        A call that was queued before the reload runs the code that its process has.
        """
        known = self._functions.get(tool.name)
        if known is tool.function or (known is not None and is_replaced(tool)):
            return False
        refuse(tool, find_obstacle(tool))
        self._functions[tool.name] = tool.function
        self._homes[tool.name] = home_of(tool)
        return True

    def _greet(self) -> bytes:
        """Make the first message to a new process: settings, and the modules to preload."""
        levels = {name: logging.getLogger(name).getEffectiveLevel() for name in _LOGGERS}
        told = {
            "traces": self._traces,
            "levels": levels,
            "homes": list(self._homes.values()),
        }
        return pack("greet", None, told)

    async def _find_lost(self) -> dict[str, str]:
        """Wait until the processes have loaded the tools; return the reason for each tool that one cannot find."""
        lost: dict[str, str] = {}
        children: list[Child] = []
        try:
            # Only with the first answer it is known whether each imports them by itself.
            while len(children) < self._pool.kept_ready:
                children.append(await self._pool.acquire())
                lost |= await children[-1].ask(pack("find", _FINDING, None), _FINDING, _ignore)
        except ProcessDied as died:
            raise DiscoveryError(f"Tools with executor='process' cannot be loaded: {died}.") from died
        finally:
            for child in children:
                self._pool.release(child)
        return lost

    async def _ask(self, invocation: Invocation, request: bytes) -> dict[str, Any]:
        for tries_left in reversed(range(self._pool.size + _NEW_ONES)):
            child = await self._lend(invocation)
            try:
                prepare, reply = partial(_make_room, invocation), partial(reply_to, invocation)
                listen = make_listener(invocation)
                answer: dict[str, Any] = await child.ask(request, invocation.id, listen, prepare, reply)
            except ProcessDied as died:
                self._pool.replace(child)
                if died.has_begun or not tries_left:
                    raise
            except BaseException:  # The answer is no longer awaited.
                self._killed += 1
                # The tool keeps its place until its code runs no more.
                self._pool.replace(child, invocation.abandon(), partial(_add_late_cost, invocation))
                raise
            else:
                self._take_back(child, answer)
                return answer
        raise AssertionError("the last trial ends the loop")

    async def _lend(self, invocation: Invocation) -> Child:
        began = time.monotonic()
        try:
            return await self._pool.acquire(key_of(invocation.request.sender.caller))
        finally:
            invocation.waited += time.monotonic() - began

    def _take_back(self, child: Child, answer: dict[str, Any]) -> None:
        if answer.get("is_worn"):
            self._pool.replace(child)
        else:
            self._pool.release(child)


def make_listener(invocation: Invocation) -> Listen:
    """Return what passes on the events of a call, at the pace of who reads them."""
    listener = invocation.request.listener

    async def listen(kind: str, said: Any) -> None:
        """Pass an event on; without room, the process blocks too, once the socket is full."""
        if kind == COST:
            _add_cost(invocation, said)
            return
        if kind == "progress":
            invocation.tool_context.signals.progress = said
        if listener is None:
            return
        pause = listener(kind, invocation.call.id, said)
        if pause is not None:
            await pause.wait()

    return listen


def _add_cost(invocation: Invocation, fine: int) -> None:
    with suppress(ValueError):  # Which has been raised in the process as well.
        open_cost(invocation).add_fine(fine)


def _add_late_cost(invocation: Invocation, invocation_id: str, fine: int) -> None:
    """Add what the tool has said between the end of its deadline and that of its process."""
    if invocation_id == invocation.id:
        _add_cost(invocation, fine)


async def _make_room(invocation: Invocation, size: int) -> None:
    """Wait for room for an answer; its process blocks too, once the socket is full."""
    share = invocation.open_share()
    if share is not None and share.size < size:
        await share.wait(size - share.size)
        share.grow_to(size)


async def _ignore(_kind: str, _said: Any) -> None:
    """Ignore the message."""


def make_executor(settings: ExecutorSettings) -> ProcessExecutor:
    """Make the executor of a server, whose tools see the variables that its settings name."""
    return ProcessExecutor(
        settings.processes,
        settings.tools_of,
        settings.memory_limit_mb,
        max_result_bytes=settings.max_result_bytes,
        traces=settings.traces,
        imports_once=settings.imports_once,
        env=choose_variables(os.environ, settings.process_env, traces=settings.traces is not None),
    )
