"""Promised figures are worked out from the rows there are, and judged."""

import pytest

from bench.results import Bar, Figure, Part, compare, find_worst
from bench.rounds import Spread


@pytest.mark.parametrize(
    ("median", "at_least", "expected"),
    [
        (0.70, True, True),
        (0.69, True, False),
        (0.70, False, True),
        (0.71, False, False),
    ],
)
def test_a_figure_is_met_on_the_right_side_of_its_bar(median: float, at_least: bool, expected: bool) -> None:
    """The bar itself is met both ways."""
    figure = Figure("a ÷ b", Spread(median, 0.1, 2.0), 0.70, at_least=at_least)

    assert figure.met is expected


def test_a_ratio_is_left_out_when_one_of_its_rows_is_missing() -> None:
    """A peer that does not start takes only its own figures with it."""
    bars = [Bar("a ÷ b", "a", "b", 2, aim=3), Bar("a ÷ gone", "a", "gone", 2)]

    figures = compare({"a": [4.0, 6.0, 5.0], "b": [2.0, 2.0, 2.0]}, bars)

    assert figures == (Figure("a ÷ b", Spread(2.5, 2.0, 3.0), 2, aim=3),)


def test_a_ratio_is_also_told_by_processor_time() -> None:
    """Of the rows for which the system counts it."""
    bars = [Bar("a ÷ b", "a", "b", 2), Bar("a ÷ c", "a", "c", 2)]
    series = {"a": [4.0], "b": [2.0], "c": [1.0]}

    figures = compare(series, bars, {"a": [9.0], "b": [3.0]})

    assert [figure.by_processor for figure in figures] == [3.0, None]


def test_a_figure_need_not_be_a_ratio() -> None:
    """Memory and times stand for themselves."""
    figures = compare({"start": [0.5, 0.7, 0.6]}, [Bar("to start", "start", None, 0.9, at_least=False, unit="s")])

    assert figures == (Figure("to start", Spread(0.6, 0.5, 0.7), 0.9, at_least=False, unit="s"),)
    assert figures[0].met


def _run(ratio: float, memory: float | None) -> Part:
    figures = [Figure("a ÷ b", Spread(ratio, ratio, ratio), 0.7)]
    if memory is not None:
        figures.append(Figure("memory", Spread(memory, memory, memory), 66, at_least=False))
    return Part("Table", "calls", ("", "calls"), (("a", str(ratio)),), {}, tuple(figures))


def test_of_several_runs_the_worst_counts_for_each_promise() -> None:
    """The lowest of what has to reach its bar, the highest of what has to stay under it."""
    worst = find_worst([_run(0.8, 60), _run(0.6, 64), _run(0.9, 70)])

    assert [(figure.name, figure.measured.median) for figure in worst] == [("a ÷ b", 0.6), ("memory", 70)]


def test_what_one_run_could_not_measure_others_may() -> None:
    """The figure is that of those that did."""
    worst = find_worst([_run(0.8, None), _run(0.9, 64)])

    assert [(figure.name, figure.measured.median) for figure in worst] == [("a ÷ b", 0.8), ("memory", 64)]
