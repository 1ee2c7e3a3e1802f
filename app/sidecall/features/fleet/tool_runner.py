"""Run the tool of a claimed call in the worker's own executors."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from sidecall.features.fleet.running_call import RunningCall
from sidecall.features.processes.failures import write_failure
from sidecall.features.processes.inside.tool_process import open_call, write_record
from sidecall.features.processes.output import ResultBounds, write_output
from sidecall.features.sandbox.feature import find_sandbox
from sidecall.features.telemetry.calls import Tracing
from sidecall.kernel.core.errors import DiscoveryError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.origin import CALL
from sidecall.kernel.core.services import Release
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.table import Executors
from sidecall.kernel.pipeline.arguments import validate
from sidecall.kernel.schema.arguments import fill_hidden

_RUNNING: ContextVar[RunningCall | None] = ContextVar("sidecall_fleet_call", default=None)


# Called with a packed answer, and whether no code of the tool runs any more: one wake-up of the other thread is enough.
Answered = Callable[[bytes, bool], None]


class LogToServer(logging.Handler):
    """Sends the log lines of tools to the servers that hold their calls."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send a line, with its traceback and the author's extra fields, if a call has logged it."""
        running = _RUNNING.get()
        if running is None or record.name.startswith("sidecall.fleet"):
            return
        try:
            running.log(record.name, write_record(record, self.format(record)))
        except Exception:
            self.handleError(record)


class ToolRun:
    """One tool that runs, on the event loop of the tools."""

    def __init__(self, running: RunningCall, answered: Answered, ended: Callable[[], None]) -> None:
        """Begin nothing yet.

        Args:
            running: The call.
            answered: Called on that loop with the answer, unless it is not awaited any more.
            ended: Called there once no code of the tool runs any more, unless `answered` was told so.
        """
        self._running = running
        self._answered, self._ended = answered, ended
        self._invocation: Invocation | None = None
        self._task: asyncio.Task[None] | None = None
        # The task, and what it leaves behind in threads.
        self._parts = 1
        self.is_cancelled = False

    def begin(self, tools: Mapping[str, CompiledTool], executors: Executors, tracing: Tracing | None) -> None:
        """Run the tool, and send its answer."""
        self._task = asyncio.get_running_loop().create_task(self._run(tools, executors, tracing))
        self._task.add_done_callback(self._release)

    def cancel(self) -> None:
        """End the tool: nobody awaits its answer any more."""
        self.is_cancelled = True
        if self._invocation is not None:
            self._invocation.give_up()
        if self._task is not None:
            self._task.cancel()

    async def _run(self, tools: Mapping[str, CompiledTool], executors: Executors, tracing: Tracing | None) -> None:
        _RUNNING.set(self._running)
        with nullcontext() if tracing is None else tracing.within(self._running.request.get("trace", {})):
            answer = await self._find_answer(tools, executors)
        self._running.end()
        if self.is_cancelled:
            return
        self._running.tell_missed()
        try:
            written = self._running.write("answer", {"answer": answer})
        except ValueError as error:
            written = self._running.write("answer", {"answer": write_failure(error)})
        is_over = self._parts == 1
        if is_over:
            self._forget()
        self._parts -= is_over
        self._answered(written, is_over)

    async def _find_answer(self, tools: Mapping[str, CompiledTool], executors: Executors) -> dict[str, Any]:
        request = self._running.request
        try:
            tool = tools.get(request["home"]["name"])
            if tool is None:
                raise DiscoveryError(f"this worker has no tool {request['home']['name']!r}")
            invocation = self._invocation = self._open(tool, executors)
            CALL.set(invocation)
            fill_hidden(invocation)
            waits = validate(invocation)
            if waits is not None:
                await waits
            self._running.begin()
            output = await executors[tool.executor].run(invocation)
            return write_output(tool, output, invocation.call.id, ResultBounds(*request["bounds"]))
        except BaseException as error:  # No error of a tool may end this process.
            return write_failure(error)

    def _open(self, tool: CompiledTool, executors: Executors) -> Invocation:
        """Make the call for the tool, with a clock of this machine and services by way of its server."""
        request, running = self._running.request, self._running
        left = request["deadline"]
        own = {**request, "deadline": None if left is None else time.monotonic() + left}
        made = open_call(own, tool, running, running.listen, running.add_cost)
        resources = replace(made.services.resources, sandbox=find_sandbox(executors))
        made.services = replace(made.services, resources=resources, abandon=self._abandon)
        return made

    def _abandon(self, _tool: CompiledTool) -> Release:
        loop = asyncio.get_running_loop()
        self._parts += 1

        def release() -> None:
            loop.call_soon_threadsafe(self._release)

        return release

    def _release(self, _task: object = None) -> None:
        self._parts -= 1
        if not self._parts:
            self._forget()
            self._ended()

    def _forget(self) -> None:
        """Leave what knows this one in turn, so that it is freed without the garbage collector."""
        self._invocation = self._task = None
