"""Export counters and gauges to Prometheus."""

import os
from collections.abc import Iterator, Mapping
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

from sidecall.features.telemetry.merging import Merged, collect_past, write_families
from sidecall.features.telemetry.tally import GaugeSources, Tally
from sidecall.features.telemetry.writer import count_dropped
from sidecall.version import __version__

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
