"""Run a worker from its start to its end: its tools here, its bus and its probes in a thread of their own."""

import asyncio
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.crash_reporter import BegunCalls
from sidecall.features.fleet.probes import Probes
from sidecall.features.fleet.running_call import RunningCall
from sidecall.features.fleet.tool_runner import Answered, LogToServer, ToolRun
from sidecall.features.fleet.worker import BusThread, Worker, WorkerPlan, make_loop
from sidecall.features.telemetry.calls import Tracing
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.table import Executors

__all__ = ["WorkerPlan", "WorkerTools", "logger", "make_loop", "serve"]

logger = logging.getLogger("sidecall.fleet")


@dataclass(frozen=True, slots=True)
class WorkerTools:
    """The tools of a worker, and with what they run."""

    tools: Mapping[str, CompiledTool]
    executors: Executors
    tracing: Tracing | None
    begun: BegunCalls

    def begin(self, running: RunningCall, answered: Answered, ended: Callable[[], None]) -> ToolRun:
        """Run the tool of a call."""
        run = ToolRun(running, answered, ended)
        run.begin(self.tools, self.executors, self.tracing)
        return run


async def serve(
    bus: BusAccess,
    plan: WorkerPlan,
    tools: WorkerTools,
    listening: socket.socket,
    stop: asyncio.Event,
    drain_timeout: float,
) -> None:
    """Take calls until `stop`, or until a person asks this worker to leave; then finish those that run.

    Raises:
        KeysUnusable: The library that encrypts is not installed.
    """
    handler = LogToServer()
    logging.getLogger().addHandler(handler)
    thread, loop = BusThread(), asyncio.get_running_loop()
    try:
        worker = await thread.run(_open(bus, plan, loop, tools))
        probes = await thread.run(_open_probes(worker, listening))
        leaving = asyncio.ensure_future(thread.run(worker.wait_for_drain()))
        waiting = asyncio.ensure_future(stop.wait())
        await asyncio.wait((leaving, waiting), return_when=asyncio.FIRST_COMPLETED)
        logger.info("leaving: %d calls run", worker.running)
        await thread.run(worker.drain(drain_timeout))
        await thread.run(probes.close())
        await thread.run(worker.close())
        for task in (leaving, waiting):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    finally:
        thread.close()
        logging.getLogger().removeHandler(handler)


async def _open(bus: BusAccess, plan: WorkerPlan, loop: asyncio.AbstractEventLoop, tools: WorkerTools) -> Worker:
    worker = Worker(bus, plan, loop, tools.begin, tools.begun)
    worker.open()
    return worker


async def _open_probes(worker: Worker, listening: socket.socket) -> Probes:
    probes = Probes(worker, listening)
    await probes.open()
    return probes
