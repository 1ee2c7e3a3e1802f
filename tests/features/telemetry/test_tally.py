"""The calls of one tool are counted."""

import pytest

from sidecall.features.telemetry.tally import Tally


def _tally(*calls: tuple[str, float, float]) -> Tally:
    tally = Tally()
    tally.begun = len(calls) + 1
    for call in calls:
        tally.end(*call)
    return tally


def test_calls_are_counted_by_how_they_ended() -> None:
    """Those that never began too, which are not in flight."""
    tally = _tally(("success", 0.1, 0.0), ("timeout", 0.1, 0.0), ("success", 0.1, 0.0))
    tally.refuse("overloaded")

    assert tally.outcomes == {"success": 2, "timeout": 1, "overloaded": 1}
    assert (tally.ended, tally.in_flight) == (3, 1)


@pytest.mark.parametrize(
    ("seconds", "bound"),
    [
        (0.0, "0.001"),
        (0.001, "0.001"),  # a bound belongs to its bucket
        (0.0011, "0.0025"),
        (299.0, "300.0"),
        (301.0, "+Inf"),
    ],
)
def test_a_duration_is_in_its_bucket_and_in_all_larger_ones(seconds: float, bound: str) -> None:
    """As Prometheus wants it."""
    counted = _tally(("success", seconds, 0.0)).durations
    first = next(name for name, count in counted if count)

    assert first == bound
    assert counted[-1] == ("+Inf", 1)


def test_durations_and_waits_are_added_up() -> None:
    """A call that did not wait is in the smallest bucket."""
    tally = _tally(("success", 1.5, 0.0), ("success", 2.0, 0.75))

    assert (tally.seconds, tally.seconds_waited) == (3.5, 0.75)
    assert tally.waits == [
        ("0.001", 1),
        ("0.005", 1),
        ("0.01", 1),
        ("0.05", 1),
        ("0.1", 1),
        ("0.5", 1),
        ("1.0", 2),
        ("5.0", 2),
        ("10.0", 2),
        ("30.0", 2),
        ("+Inf", 2),
    ]


@pytest.mark.parametrize(
    ("seconds", "share", "estimate"),
    [
        ([], 0.5, None),
        ([0.2], 0.5, 0.175),  # in the middle of its bucket, from 0.1 to 0.25
        ([0.2] * 4, 1.0, 0.25),
        ([0.0005, 0.7, 0.7, 0.7], 0.25, 0.001),
        ([0.0005] * 99 + [20.0], 0.99, 0.001),
        ([0.0005] * 98 + [20.0] * 2, 0.99, 20.0),
        ([1000.0], 0.5, 300.0),  # nothing is known beyond the last bound
    ],
)
def test_quantiles_are_estimated_as_prometheus_does(seconds: list[float], share: float, estimate: float | None) -> None:
    """Evenly within a bucket."""
    estimated = _tally(*(("success", one, 0.0) for one in seconds)).estimate(share)

    assert estimated == (None if estimate is None else pytest.approx(estimate))


def test_what_was_counted_before_can_be_taken_out() -> None:
    """So that what is left happened since."""
    before = _tally(("success", 0.2, 0.1))
    since = _tally(("success", 0.2, 0.1), ("timeout", 5.0, 0.0))
    since.refuse("overloaded")

    since.add(before, -1)

    assert since.outcomes == {"success": 0, "timeout": 1, "overloaded": 1}
    assert (since.ended, since.refused, since.seconds, since.seconds_waited) == (1, 1, 5.0, 0.0)
    assert since.durations == _tally(("timeout", 5.0, 0.0)).durations
    assert since.waits == _tally(("timeout", 5.0, 0.0)).waits
