"""The metrics of several workers are one page: sums, the worst, or each beside the others, by what they mean."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily

from sidecall.features.telemetry.prometheus import Merged, collect_past, write_families


def say(name: str, value: float, kind: str = "gauge", **labels: str) -> Any:
    """Write a family with one sample, as a worker sends it."""
    return [name, "What it is.", kind, [[name, labels, value]]]


def read(merged: Merged) -> dict[tuple[str, str], float]:
    """Return the joined samples, by name and worker."""
    samples = [it for family in merged.collect() for it in family.samples]
    return {(it.name, it.labels.get("worker", "")): it.value for it in samples}


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("sidecall_calls_running", "gauge", 8),
        ("sidecall_calls_total", "counter", 8),
        ("sidecall_tools", "gauge", 5),
        ("sidecall_mcp_server_tools", "gauge", 5),
        ("sidecall_store_usable", "gauge", 3),
        ("sidecall_mcp_server_up", "gauge", 3),
        ("sidecall_approvals_waiting", "gauge", 5),
        ("sidecall_workers", "gauge", 5),
        ("sidecall_build", "info", 5),
    ],
)
def test_numbers_are_joined_by_what_they_mean(name: str, kind: str, expected: float) -> None:
    """The worker that is asked says 5, another one 3."""
    merged = Merged("7", {"1": [say(name, 3, kind)], "7": [say(name, 5, kind)]}, [])

    assert read(merged) == {(name, ""): expected}


def test_numbers_of_a_process_stand_beside_each_other() -> None:
    """With its id as a label: memory and open files make no sum."""
    answers = {"7": [say("process_open_fds", 5)], "1": [say("process_open_fds", 3)]}

    assert read(Merged("7", answers, [])) == {("process_open_fds", "7"): 5, ("process_open_fds", "1"): 3}


def test_labels_keep_samples_apart_in_any_order() -> None:
    """The same labels are the same sample."""
    one = [say("sidecall_calls", 1, a="x", b="y"), say("sidecall_calls", 2, a="z", b="y")]
    other = [say("sidecall_calls", 4, b="y", a="x")]

    (family,) = Merged("1", {"1": one, "2": other}, []).collect()

    assert {it.labels["a"]: it.value for it in family.samples} == {"x": 5, "z": 2}


def test_workers_that_are_gone_count_too() -> None:
    """As if they were there, and without a line of their own."""
    past = CounterMetricFamily("sidecall_calls", "Calls.", labels=["tool"])
    past.add_metric(["add"], 10)
    now = [["sidecall_calls", "Calls.", "counter", [["sidecall_calls_total", {"tool": "add"}, 1.0]]]]

    assert read(Merged("1", {"1": now}, [past])) == {("sidecall_calls_total", ""): 11}
    assert read(Merged("1", {}, [past])) == {("sidecall_calls_total", ""): 10}


def test_a_page_of_all_is_as_of_one() -> None:
    """Its lines are what Prometheus reads, with histograms as well."""

    def make() -> CollectorRegistry:
        registry = CollectorRegistry()
        Counter("calls", "Calls.", ["tool"], registry=registry).labels("add").inc()
        Gauge("running", "Running.", registry=registry).set(2)
        Histogram("seconds", "Seconds.", buckets=(1, 2), registry=registry).observe(1.5)
        return registry

    answers = {pid: write_families(make().collect()) for pid in ("1", "2")}
    page = generate_latest(Merged("1", answers, []).make_registry()).decode()

    lines = [line for line in page.splitlines() if not line.startswith("#") and "created" not in line]
    assert lines == [
        'calls_total{tool="add"} 2.0',
        "running 4.0",
        'seconds_bucket{le="1.0"} 0.0',
        'seconds_bucket{le="2.0"} 2.0',
        'seconds_bucket{le="+Inf"} 2.0',
        "seconds_count 2.0",
        "seconds_sum 3.0",
    ]


def test_nothing_is_left_of_workers_that_counted_nothing() -> None:
    """The family of requests is there all the same."""
    (requests,) = collect_past({}, lambda _: iter(()))

    assert (requests.name, requests.samples) == ("sidecall_requests", [])
