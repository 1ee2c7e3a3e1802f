"""Rows take turns, and ratios compare neighbors."""

import pytest

from bench.environments import Unavailable
from bench.rounds import Spread, ratio, spread, take_turns


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ([3.0, 1.0, 2.0], Spread(2.0, 1.0, 3.0)),
        ([4.0, 1.0, 2.0, 3.0], Spread(2.5, 1.0, 4.0)),  # between the two in the middle
        ([7.0], Spread(7.0, 7.0, 7.0)),
    ],
)
def test_a_spread_is_median_lowest_highest(figures: list[float], expected: Spread) -> None:
    """The order of the figures does not matter."""
    assert spread(figures) == expected


def test_a_ratio_is_the_median_of_the_ratios_of_each_round() -> None:
    """A round in which the whole machine was slow changes nothing, as it would with a ratio of medians."""
    assert ratio([10.0, 1.0, 30.0], [20.0, 2.0, 20.0]) == Spread(0.5, 0.5, 1.5)


def test_rows_of_unequal_length_cannot_be_compared() -> None:
    """A missing round would pair strangers."""
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], [1.0])


def test_every_other_round_goes_backwards() -> None:
    """So a machine that slows down favors neither row."""
    order: list[str] = []

    take_turns({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)

    assert order == ["a", "b", "b", "a", "a", "b"]


def test_a_row_that_fails_is_left_out_with_its_reason() -> None:
    """The others go on, and what it measured before counts for nothing."""
    answers = iter([1.0])

    def fails_later() -> float:
        for answer in answers:
            return answer
        raise Unavailable("no answer")

    figures, failed = take_turns({"fine": lambda: 2.0, "fails": fails_later}, 3)

    assert figures == {"fine": [2.0, 2.0, 2.0]}
    assert failed == {"fails": "no answer"}
