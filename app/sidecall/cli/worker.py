"""sidecall worker: run the tools of servers elsewhere."""

import asyncio
import os
import signal
import socket
from contextlib import closing
from typing import Annotated

import typer

from sidecall.composition.executors import build_executors
from sidecall.features.fleet.access import BusAccess, name_process
from sidecall.features.fleet.crash_reporter import BegunCalls, CrashReporter
from sidecall.features.fleet.placement import FleetUnusable
from sidecall.features.fleet.run_worker import WorkerPlan, WorkerTools, logger, make_loop, serve
from sidecall.features.telemetry.calls import begin_to_log
from sidecall.features.telemetry.redact import Redaction
from sidecall.features.telemetry.tracing import open_tracing
from sidecall.kernel.concurrency.event_loop import run_main
from sidecall.kernel.core.options import check_queue
from sidecall.kernel.executors.table import close_all, start_all
from sidecall.server.interpreter import settle_in
from sidecall.settings import Settings
from sidecall.terminal.options import Toolkits, Tools, load_registry, read_settings, write_count


def _check(name: str) -> str:
    try:
        return check_queue(name)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def worker(
    queue: Annotated[str, typer.Option(metavar="NAME", callback=_check, help="The queue whose calls it takes.")],
    tools: Tools = None,
    toolkits: Toolkits = None,
    slots: Annotated[
        int | None, typer.Option(min=1, help="Most calls that it runs at once. [default: as many as it has processors]")
    ] = None,
    name: Annotated[str | None, typer.Option(help="By what people know it. [default: its host and process id]")] = None,
    host: Annotated[str, typer.Option(help="Address of its probes and metrics.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Their port; 0 takes a free one.")] = 8001,
) -> None:
    """Run tools for servers that name the same bus in SIDECALL_FLEET, until a signal."""
    settings: Settings = read_settings(tools=tools, toolkits=toolkits)
    access = BusAccess.require(settings)
    reporter = CrashReporter(access)  # Before there are threads, and without what tools import.
    with closing(reporter):
        begin_to_log(settings.log_level, settings.log_format, settings.log_redact, settings.log_buffer_bytes)
        offered = {tool.name: tool for tool in load_registry(settings) if tool.declaration is None}
        if not offered:
            raise FleetUnusable(f"There is no tool in {', '.join(settings.places)}, so this worker would take no call.")
        plan = WorkerPlan(name=name or name_process(), queue=queue, slots=slots or os.cpu_count() or 1, tools=offered)
        with socket.create_server((host, port)) as listening:
            where = "{}:{}".format(*listening.getsockname()[:2])
            room = write_count(plan.slots, "slot")
            said = f"worker {plan.name} of the queue {queue} with {room}, probes at http://{where}"
            logger.info("%s: %s", said, ", ".join(offered))
            settle_in()
            run_main(_work(settings, access, plan, listening, reporter.begun), make_loop)


async def _work(
    settings: Settings,
    access: BusAccess,
    plan: WorkerPlan,
    listening: socket.socket,
    begun: BegunCalls,
) -> None:
    """Run the tools until a signal, or until a person asks the worker to leave."""
    executors, tracing = build_executors(settings), open_tracing(settings.otel, Redaction(settings.log_redact))
    tools = WorkerTools(plan.tools, executors, tracing, begun)
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    try:
        await start_all(executors, plan.tools.values())
        await serve(access, plan, tools, listening, stop, settings.drain_timeout)
    finally:
        await close_all(executors)
        if tracing is not None:
            await tracing.close()
