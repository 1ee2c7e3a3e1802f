"""One page of metrics for all workers of a server."""

import asyncio
from typing import Any

from sidecall.features.telemetry.metrics import Metrics
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.lifecycle import METRICS, Lifecycle

# Seconds between two times at which counters are written down that are only read.
_PAUSE = 1.0


def open_metrics(metrics: Metrics, lifecycle: Lifecycle) -> None:
    """Say the metrics of this worker to the others from now on, and keep its counts; on the running loop."""
    if lifecycle.peers is None:
        return

    async def answer(_: Any) -> Any:
        # In a thread, since thousands of tools may have been called.
        return await SERVER.run(metrics.write)

    lifecycle.peers.handle({METRICS: answer})
    _keep(metrics, asyncio.get_running_loop())


def _keep(metrics: Metrics, loop: asyncio.AbstractEventLoop) -> None:
    metrics.keep_readings()
    loop.call_later(_PAUSE, _keep, metrics, loop)


async def render_page(metrics: Metrics, lifecycle: Lifecycle, accept: str) -> tuple[bytes, str]:
    """Return the metrics of all workers and their media type; of one process where it is alone."""
    found = await lifecycle.ask_workers(METRICS)
    if found is None:
        return await SERVER.run(metrics.render, accept)
    answers = {pid: families for pid, families in found["answers"].items() if families is not None}
    return await SERVER.run(metrics.render_all, accept, answers, found["past"])
