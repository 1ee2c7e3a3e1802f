"""Join the metrics of all workers of a server into one page."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from sidecall.features.telemetry.shared_counts import read_counters, read_requests, read_tallies

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
