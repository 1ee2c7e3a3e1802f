"""Counters and gauges of the server."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

from sidecall.features.telemetry.shared_counts import REQUESTS, SharedCounter, SharedReadings, SharedTally
from sidecall.features.telemetry.tally import GaugeSources, HasOccupancy, Tally
from sidecall.http.request_counts import RequestTally
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.lifecycle import METRICS, Counts, Lifecycle
from sidecall.lazy_imports import Later

# Loaded with the first scrape, since the Prometheus client is large.
scraping = Later("sidecall.features.telemetry.prometheus")

# The label of calls of unknown tools; names from models would be unbounded.
UNKNOWN = "unknown"
_REQUESTS = "Requests that were answered, refused ones included."


class Metrics:
    """Count the calls of one application, and read everything else when Prometheus scrapes."""

    def __init__(
        self,
        tools: Callable[[], Iterable[str]] = tuple,
        unread: Mapping[int, int] = MappingProxyType({}),
        counts: Counts | None = None,
    ) -> None:
        """Take the tools.

        Args:
            tools: Lists their names.
            unread: Requests that no application has seen, by status.
            counts: Where the counts of a worker outlive it.
        """
        self._readings = GaugeSources(tools, self.tally, unread)
        self._tallies = self._readings.tallies
        self._counts = counts
        # Read before each scrape, since the store is asked; NaN while it is unavailable.
        self.waiting_approvals = 0.0
        self.oldest_approval = 0.0
        self.requests = RequestTally(unread)
        if counts is not None:
            self.requests.counts = SharedCounter(counts, REQUESTS)
        self.add_counter_of("sidecall_requests", _REQUESTS, ("route", "status"), self.requests.read)

    def tally(self, tool: str) -> Tally:
        """Return the tally of a tool; `tool` is the name of a registered one, or `UNKNOWN`."""
        tally = self._tallies.get(tool)
        if tally is None:
            made = Tally() if self._counts is None else SharedTally(self._counts, tool)
            tally = self._tallies[tool] = made
        return tally

    def add_gauge(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read at each scrape; the name includes its unit."""
        self._readings.gauges[name] = (documentation, read)

    def add_gauge_of(self, name: str, documentation: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Show numbers that are read at each scrape, one for each value of a label."""
        self._readings.families[name] = (documentation, label, read)

    def add_counter(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Show a number that only rises, read at each scrape."""
        self._readings.counters[name] = (documentation, read)

    def add_counter_of(
        self, name: str, documentation: str, labels: Sequence[str], read: Callable[[], Mapping[tuple[str, ...], float]]
    ) -> None:
        """Add counters that are read at each scrape, by label values."""
        self._readings.counters_of[name] = (documentation, labels, read)

    def add_executors(
        self, executors: Mapping[ExecutorName, HasOccupancy], abandoned: Mapping[ExecutorName, int]
    ) -> None:
        """Add the occupancy of each executor, and its calls that run on after their answer."""
        self._readings.executors = executors
        self._readings.abandoned = abandoned

    @property
    def tallies(self) -> Mapping[str, Tally]:
        """The tallies, by tool."""
        return self._tallies

    def read_executors(self) -> dict[ExecutorName, tuple[Occupancy, int]]:
        """Return the occupancy of each executor, and its calls that run on after their answer."""
        return {
            name: (one.occupancy, self._readings.abandoned.get(name, 0))
            for name, one in self._readings.executors.items()
        }

    def render(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics and their media type, in the format that the header `Accept` asks for."""
        rendered: tuple[bytes, str] = self._scrape.render(accept)
        return rendered

    def render_all(self, accept: str, answers: Mapping[str, Any], past: Mapping[str, list[float]]) -> tuple[bytes, str]:
        """Return the metrics of all workers as one page.

        Args:
            accept: The header `Accept`.
            answers: What each worker has said of itself with `write`, by its process id.
            past: What those have counted that are gone.
        """
        rendered: tuple[bytes, str] = self._scrape.render_all(accept, answers, past)
        return rendered

    def write(self) -> list[Any]:
        """Write all metrics of this process as JSON."""
        written: list[Any] = self._scrape.write()
        return written

    def keep_readings(self) -> None:
        """Write the counters down that are only read, so that they outlive this process."""
        if self._kept_readings is not None:
            self._kept_readings.note(self._readings)

    @cached_property
    def _kept_readings(self) -> SharedReadings | None:
        return None if self._counts is None else SharedReadings(self._counts)

    @cached_property
    def _scrape(self) -> Any:
        return scraping.Scrape(self._readings)


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
