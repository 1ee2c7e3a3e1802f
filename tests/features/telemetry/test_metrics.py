"""Prometheus is told how the calls go and how full everything is."""

from prometheus_client.parser import text_string_to_metric_families

from sidecall.features.telemetry.metrics import UNKNOWN, Metrics
from sidecall.kernel.executors.base import Occupancy

Sample = tuple[str, tuple[tuple[str, str], ...]]


def _read(metrics: Metrics) -> dict[Sample, float]:
    """Read everything as Prometheus does, by name and labels."""
    families = text_string_to_metric_families(metrics.render("")[0].decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def _ours(read: dict[Sample, float]) -> dict[Sample, float]:
    return {sample: value for sample, value in read.items() if sample[0].startswith("sidecall_")}


class Full:
    """Stand for an executor with every number."""

    occupancy = Occupancy(size=8, busy=7, waiting=3, killed=5)


class Unbounded:
    """Stand for an executor that nothing bounds."""

    occupancy = Occupancy(busy=1)


def test_calls_are_told_by_tool_and_outcome() -> None:
    """With how long they took and waited."""
    metrics = Metrics()
    tally = metrics.tally("add")
    tally.begun = 3
    tally.end("success", 0.2, 0.0)
    tally.end("timeout", 10.0, 0.3)

    read = _read(metrics)

    assert read["sidecall_calls_total", (("outcome", "success"), ("tool", "add"))] == 1
    assert read["sidecall_calls_total", (("outcome", "timeout"), ("tool", "add"))] == 1
    assert read["sidecall_calls_in_flight", (("tool", "add"),)] == 1
    assert read["sidecall_call_duration_seconds_sum", (("tool", "add"),)] == 10.2
    assert read["sidecall_call_duration_seconds_bucket", (("le", "0.25"), ("tool", "add"))] == 1
    assert read["sidecall_queue_wait_seconds_sum", (("tool", "add"),)] == 0.3
    assert read["sidecall_queue_wait_seconds_count", (("tool", "add"),)] == 2


def test_a_tool_that_nobody_called_has_one_series() -> None:
    """So that its first call is seen as a rise, and a hundred such tools cost little."""
    read = _ours(_read(Metrics(lambda: ["add"])))

    assert read.pop(("sidecall_build_info", (("version", "0.1.0"),))) == 1
    assert read.pop(("sidecall_log_lines_dropped_total", ())) == 0
    assert read == {
        ("sidecall_tools", ()): 1,
        ("sidecall_calls_total", (("outcome", "success"), ("tool", "add"))): 0,
    }


def test_calls_of_tools_that_do_not_exist_are_counted_only() -> None:
    """Nothing ran that could have taken time."""
    metrics = Metrics()
    metrics.tally(UNKNOWN).refuse("unknown_tool")

    assert [sample for sample in _read(metrics) if ("tool", "unknown") in sample[1]] == [
        ("sidecall_calls_total", (("outcome", "unknown_tool"), ("tool", "unknown")))
    ]


def test_executors_are_read_when_prometheus_asks() -> None:
    """An executor without a bound has no size."""
    metrics = Metrics()
    metrics.add_executors({"thread": Full(), "inline": Unbounded()}, {"thread": 2})

    read = _read(metrics)

    assert {sample: value for sample, value in read.items() if sample[0].startswith("sidecall_executor_")} == {
        ("sidecall_executor_size", (("executor", "thread"),)): 8,
        ("sidecall_executor_busy", (("executor", "thread"),)): 7,
        ("sidecall_executor_busy", (("executor", "inline"),)): 1,
        ("sidecall_executor_waiting", (("executor", "thread"),)): 3,
        ("sidecall_executor_waiting", (("executor", "inline"),)): 0,
        ("sidecall_executor_abandoned", (("executor", "thread"),)): 2,
        ("sidecall_executor_abandoned", (("executor", "inline"),)): 0,
        ("sidecall_executor_killed_total", (("executor", "thread"),)): 5,
        ("sidecall_executor_killed_total", (("executor", "inline"),)): 0,
    }


def test_a_gauge_is_read_at_each_scrape() -> None:
    """A class that has a number says where it is."""
    metrics = Metrics()
    waiting = [1, 2, 3]
    metrics.add_gauge("sidecall_queue_length", "Calls that wait.", lambda: len(waiting))
    before = _read(metrics)["sidecall_queue_length", ()]
    waiting.pop()

    assert (before, _read(metrics)["sidecall_queue_length", ()]) == (3, 2)


def test_the_process_is_told_of_too() -> None:
    """Its memory, its open files and its collections of garbage."""
    names = {name for name, _ in _read(Metrics())}

    assert {"process_resident_memory_bytes", "process_open_fds", "python_gc_collections_total"} <= names


def test_applications_of_one_process_count_apart() -> None:
    """Nothing is kept in the library's own registry."""
    one, other = Metrics(), Metrics()
    one.tally("add").end("success", 0.1, 0.0)

    calls = ("sidecall_calls_total", (("outcome", "success"), ("tool", "add")))

    assert (_read(one).get(calls), _read(other).get(calls)) == (1, None)
