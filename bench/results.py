"""The results of a part of the benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bench.rounds import Spread, ratio, spread

# Many short turns rather than few long ones: a busy moment of the machine then hits neighbors alike.
FULL_ROUNDS = 15
SHORT_ROUNDS = 12
QUICK_ROUNDS = 2


@dataclass(frozen=True)
class Figure:
    """One thing that was promised: what was measured, and the bar it has to reach or stay under.

    `by_processor` is the same ratio in terms of the servers' processor time, to be compared with when the machine was
    not idle.
    """

    name: str
    measured: Spread
    bar: float
    at_least: bool = True
    unit: str = ""
    aim: float | None = None
    by_processor: float | None = None

    @property
    def met(self) -> bool:
        """Whether the median meets the bar."""
        return self.measured.median >= self.bar if self.at_least else self.measured.median <= self.bar


@dataclass(frozen=True)
class Part:
    """A table, the figures drawn from it, and what is missing from both.

    `series` has what was measured in each round, by row, in the unit that `measures` names.
    """

    title: str
    measures: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    series: Mapping[str, Sequence[float]]
    figures: tuple[Figure, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bar:
    """Promise a ratio of two rows of a part."""

    name: str
    above: str
    below: str
    bar: float
    at_least: bool = True
    aim: float | None = None


def compare(
    series: Mapping[str, Sequence[float]],
    bars: Sequence[Bar],
    by_processor: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Figure, ...]:
    """Work out the promised ratios of those rows that were measured.

    Args:
        series: What is compared, by row.
        bars: The promises.
        by_processor: The same in terms of processor time, where that is known.
    """
    return tuple(
        Figure(
            bar.name,
            ratio(series[bar.above], series[bar.below]),
            bar.bar,
            at_least=bar.at_least,
            aim=bar.aim,
            by_processor=_median_ratio(by_processor or {}, bar),
        )
        for bar in bars
        if bar.above in series and bar.below in series
    )


def _median_ratio(series: Mapping[str, Sequence[float]], bar: Bar) -> float | None:
    if bar.above not in series or bar.below not in series:
        return None
    return ratio(series[bar.above], series[bar.below]).median


def lowest(runs: Sequence[Sequence[Part]]) -> list[Part]:
    """Put several runs of the same parts into one list, each table under the number of its run.

    Of a figure that was promised, the run counts that is worst for the promise.
    """
    if len(runs) == 1:
        return list(runs[0])
    figures = [[figure for part in parts for figure in part.figures] for parts in runs]
    counting = tuple(
        _worst([figure for taken in figures for figure in taken if figure.name == name])
        for name in dict.fromkeys(figure.name for taken in figures for figure in taken)
    )
    numbered = [
        replace(part, title=f"{part.title}, run {number} of {len(runs)}", figures=())
        for number, parts in enumerate(runs, 1)
        for part in parts
    ]
    return [replace(numbered[0], figures=counting), *numbered[1:]]


def _worst(figures: Sequence[Figure]) -> Figure:
    return (min if figures[0].at_least else max)(figures, key=lambda figure: figure.measured.median)


def absolute(name: str, figures: Sequence[float], bar: float, unit: str, *, at_least: bool) -> Figure:
    """Promise something that is no ratio."""
    return Figure(name, spread(figures), bar, at_least=at_least, unit=unit)
