"""Export counters and gauges to Prometheus."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from sidecall.features.telemetry.log_writer import count_dropped
from sidecall.features.telemetry.shared_counts import read_counters, read_requests, read_tallies
from sidecall.features.telemetry.tally import GaugeSources, Tally
from sidecall.version import __version__

# Numbers of one process, which make no sum: each has the label `worker`, with its process id.
_OF_PROCESS = ("process_", "python_gc_")
# Gauges that are no sum: each worker has the same tools, and servers of its own; the worst of these counts.
_MOST = frozenset(
    "sidecall_tools sidecall_mcp_server_tools sidecall_mcp_server_waiting_tools sidecall_fleet_workers"
    " sidecall_fleet_oldest_seconds".split()
)
_LEAST = frozenset(("sidecall_store_usable", "sidecall_mcp_server_up", "sidecall_fleet_up"))
# What all workers share, and only the one that is asked has looked at.
_OF_THE_ASKED = frozenset(
    (
        "sidecall_approvals_waiting",
        "sidecall_approvals_pending",
        "sidecall_approvals_oldest_seconds",
        "sidecall_workers",
    )
)

Families = list[Any]


def write_families(families: Iterable[Metric]) -> Families:
    """Write metrics as JSON."""
    return [
        [it.name, it.documentation, it.type, [[sample.name, sample.labels, sample.value] for sample in it.samples]]
        for it in families
    ]


class Merged(Collector):
    """The metrics of all workers, as one collector."""

    def __init__(self, own: str, answers: Mapping[str, Families], past: Iterable[Metric]) -> None:
        """Take what each worker says, by its process id, and what those have counted that are gone.

        Args:
            own: The process id of the worker that is asked.
            answers: What each worker says.
            past: Counters of those that are gone.
        """
        self._families: dict[str, Metric] = {}
        self._values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self._samples: dict[str, dict[tuple[str, tuple[tuple[str, str], ...]], Sample]] = {}
        for pid in sorted(answers, key=lambda it: (it != own, it)):  # The worker that is asked comes first.
            for name, documentation, kind, samples in answers[pid]:
                self._take(Metric(name, documentation, kind), samples, pid)
        for family in past:
            self._take(family, [[it.name, it.labels, it.value] for it in family.samples], "")

    def _take(self, family: Metric, samples: list[Any], pid: str) -> None:
        known = self._families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
        found = self._samples.setdefault(known.name, {})
        for name, labels, value in samples:
            if family.name.startswith(_OF_PROCESS):
                labels = {**labels, "worker": pid}
            key = name, tuple(sorted(labels.items()))
            before = found.get(key)
            if before is not None:
                value = _join(family, before.value, value)
            found[key] = Sample(name, labels, value)

    def collect(self) -> Iterator[Metric]:
        """Yield the joined metrics."""
        for name, family in self._families.items():
            family.samples = list(self._samples[name].values())
            yield family

    def make_registry(self) -> CollectorRegistry:
        """Return a registry that has these metrics alone."""
        registry = CollectorRegistry()
        registry.register(self)
        return registry


def _join(family: Metric, one: float, other: float) -> float:
    if family.type == "info" or family.name in _OF_THE_ASKED:
        return one
    if family.name in _MOST:
        return max(one, other)
    return min(one, other) if family.name in _LEAST else one + other


def collect_past(past: Mapping[str, list[float]], collect_calls: Any) -> Iterator[Metric]:
    """Yield the counters of workers that are gone."""
    yield from collect_calls(read_tallies(past))
    requests = CounterMetricFamily("sidecall_requests", "", labels=["route", "status"])
    for values, number in read_requests(past).items():
        requests.add_metric(values, number)
    yield requests
    for name, labels, value in read_counters(past):
        family = Metric(name.removesuffix("_total"), "", "counter")
        family.add_sample(name, labels, value)
        yield family


_OF_EXECUTORS = (
    ("size", "Calls that an executor can run at the same time."),
    ("busy", "Calls that an executor runs."),
    ("waiting", "Calls that wait for an executor to be free."),
)
_DROPPED = "Lines of stderr and stdout that were dropped, since nobody read the ones before them."
_COST = "What calls have cost, in the operator's currency."
_ABANDONED = "Calls that run on although nobody waits for them any more."


class Scrape(Collector):
    """Writes all numbers down, as they are when it is asked."""

    def __init__(self, readings: GaugeSources) -> None:
        self._readings = readings
        self._registry = CollectorRegistry()
        self._registry.register(self)
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)

    def render(self, accept: str) -> tuple[bytes, str]:
        """Write everything down, with its media type, in the form that the header `Accept` asks for."""
        encode, media_type = choose_encoder(accept)
        return encode(self._registry), media_type

    def render_all(self, accept: str, answers: Mapping[str, Any], past: Mapping[str, list[float]]) -> tuple[bytes, str]:
        """Write the metrics of all workers down: what each has said, and what those have counted that are gone."""
        encode, media_type = choose_encoder(accept)
        workers = GaugeMetricFamily("sidecall_workers", "Workers that have answered.", len(answers))
        own = str(os.getpid())
        said = {**answers, own: [*(answers.get(own) or self.write()), *write_families([workers])]}
        return encode(Merged(own, said, collect_past(past, _collect_calls)).make_registry()), media_type

    def write(self) -> list[Any]:
        """Write everything as JSON."""
        return write_families(self._registry.collect())

    def collect(self) -> Iterator[Metric]:
        """Read the numbers."""
        yield InfoMetricFamily("sidecall_build", "The version that runs.", {"version": __version__})
        names = list(self._readings.tools())
        yield GaugeMetricFamily("sidecall_tools", "Tools that are registered.", len(names))
        for name in names:
            self._readings.tally(name).outcomes.setdefault("success", 0)
        yield from _collect_calls(self._readings.tallies)
        yield from self._collect_occupancies()
        for name, (documentation, read) in self._readings.gauges.items():
            yield GaugeMetricFamily(name, documentation, read())
        yield from self._collect_counters()
        for name, (documentation, label, family) in self._readings.families.items():
            gauge = GaugeMetricFamily(name, documentation, labels=[label])
            for value, number in family().items():
                gauge.add_metric([value], number)
            yield gauge

    def _collect_counters(self) -> Iterator[Metric]:
        yield CounterMetricFamily("sidecall_log_lines_dropped", _DROPPED, count_dropped())
        for name, (documentation, read) in self._readings.counters.items():
            yield CounterMetricFamily(name, documentation, read())
        for name, (documentation, labels, read_all) in self._readings.counters_of.items():
            counter = CounterMetricFamily(name, documentation, labels=labels)
            for values, number in read_all().items():
                counter.add_metric(values, number)
            yield counter

    def _collect_occupancies(self) -> Iterator[Metric]:
        found = {name: executor.occupancy for name, executor in self._readings.executors.items()}
        for number, documentation in _OF_EXECUTORS:
            gauge = GaugeMetricFamily(f"sidecall_executor_{number}", documentation, labels=["executor"])
            for name, occupancy in found.items():
                value = getattr(occupancy, number)
                if value is not None:
                    gauge.add_metric([name], value)
            yield gauge
        abandoned = GaugeMetricFamily("sidecall_executor_abandoned", _ABANDONED, labels=["executor"])
        for name in found:
            abandoned.add_metric([name], self._readings.abandoned.get(name, 0))
        yield abandoned
        killed = CounterMetricFamily(
            "sidecall_executor_killed", "Processes that an executor has killed.", labels=["executor"]
        )
        for name, occupancy in found.items():
            killed.add_metric([name], occupancy.killed)
        yield killed


def _collect_calls(tallies: Mapping[str, Tally]) -> Iterator[Metric]:
    calls = CounterMetricFamily("sidecall_calls", "Calls that have ended.", labels=["tool", "outcome"])
    in_flight = GaugeMetricFamily("sidecall_calls_in_flight", "Calls that are under way.", labels=["tool"])
    durations = HistogramMetricFamily(
        "sidecall_call_duration_seconds", "Seconds from a call's arrival to its answer.", labels=["tool"]
    )
    waits = HistogramMetricFamily(
        "sidecall_queue_wait_seconds", "Seconds of those in which a call waited for its turn.", labels=["tool"]
    )
    costs = CounterMetricFamily("sidecall_cost", _COST, labels=["tool"])
    # Copied to lists, since calls are counted while this runs in a thread.
    for tool, tally in list(tallies.items()):
        for outcome, count in list(tally.outcomes.items()):
            calls.add_metric([tool, outcome], count)
        if not tally.begun:
            continue  # A hundred unused tools would make every scrape slow.
        if tally.cost:
            costs.add_metric([tool], tally.cost)
        in_flight.add_metric([tool], tally.in_flight)
        durations.add_metric([tool], tally.durations, tally.seconds)
        waits.add_metric([tool], tally.waits, tally.seconds_waited)
    yield from (calls, in_flight, durations, waits, costs)
