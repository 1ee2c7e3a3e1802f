"""The guard's verdict on given figures."""

import pytest

from bench.guard import judge


@pytest.mark.parametrize(
    ("measured", "recorded", "expected"),
    [
        (0.80, 0.80, True),
        (0.73, 0.80, True),  # lost 9 %
        (0.71, 0.80, False),  # lost 11 %
        (1.20, 0.80, True),  # faster than it was
    ],
)
def test_the_hot_path_may_lose_a_tenth(measured: float, recorded: float, expected: bool) -> None:
    """Not more, against the recorded ratio."""
    assert judge(measured, recorded).passed is expected


def test_a_verdict_says_the_figures() -> None:
    """Measured, recorded, and the least that would pass."""
    assert judge(0.8, 0.8).text == "async tool ÷ Starlette floor: 0.800, recorded 0.800, at least 0.720: ok"


def test_a_failure_says_how_to_record_anew() -> None:
    """For the day the loss is meant."""
    assert judge(0.5, 0.8).text == (
        "async tool ÷ Starlette floor: 0.500, recorded 0.800, at least 0.720: too slow."
        " To accept it, record it anew on an idle machine: python -m bench.guard --record"
    )
