"""The probes of a worker: whether it takes calls, and its numbers."""

import asyncio
import socket
from collections.abc import Iterable

import uvicorn
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sidecall.features.fleet.worker import Worker

_MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class _Collector(Collector):
    """Reads a worker's numbers at each scrape."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def collect(self) -> Iterable[Metric]:
        worker, queue = self._worker, self._worker.plan.queue
        for name, text, value in (
            ("sidecall_worker_slots", "Calls that it runs at once at most.", worker.plan.slots),
            ("sidecall_worker_running", "Calls that it runs.", worker.running),
            ("sidecall_worker_ready", "Whether it takes calls.", int(worker.is_ready)),
        ):
            yield _add(GaugeMetricFamily(name, text, labels=["queue"]), [queue], value)
        claims = CounterMetricFamily("sidecall_worker_claims", "Calls that it wanted to run.", labels=["queue"])
        yield _add(claims, [queue], worker.counts.claims)
        refused = CounterMetricFamily("sidecall_worker_refused", "Claims that were refused.", labels=["queue"])
        yield _add(refused, [queue], worker.counts.refused)
        ended = CounterMetricFamily("sidecall_worker_calls", "Calls that it has ended.", labels=["queue", "outcome"])
        for outcome in ("answered", "cancelled"):
            _add(ended, [queue, outcome], worker.counts.ended[outcome])
        yield ended


def _add(family: Metric, labels: list[str], value: float) -> Metric:
    family.add_metric(labels, value)  # type: ignore[attr-defined]
    return family


def make_probes(worker: Worker) -> Starlette:
    """Make the application with `/healthz`, `/readyz` and `/metrics`."""
    registry = CollectorRegistry()
    registry.register(_Collector(worker))

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def readyz(_: Request) -> Response:
        state = "ready" if worker.is_ready else "draining" if worker.is_draining else "the bus is away"
        return JSONResponse({"status": state}, 200 if worker.is_ready else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(registry), media_type=_MEDIA_TYPE)

    return Starlette(routes=[Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)])


class Probes:
    """Serves them, on the event loop of the bus, which no tool holds up."""

    def __init__(self, worker: Worker, listening: socket.socket) -> None:
        """Prepare to serve them on a socket that listens."""
        config = uvicorn.Config(make_probes(worker), log_config=None, access_log=False, ws="none", lifespan="off")
        self._server = uvicorn.Server(config)
        self._socket = listening
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to serve them."""
        self._task = asyncio.create_task(self._server.serve([self._socket]))

    async def close(self) -> None:
        """Serve them no more."""
        self._server.should_exit = True
        if self._task is not None:
            await asyncio.wait((self._task,))
