"""The results of a part of the benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.rounds import Spread, ratio, spread

# Many short turns rather than few long ones: a busy moment of the machine then hits neighbors alike.
FULL_ROUNDS = 15
SHORT_ROUNDS = 12
# In each of the runs that are recorded.
RECORDED_ROUNDS = 5
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
    """Promise a ratio of two rows of a part, or what one row is, in its unit, where `below` is None."""

    name: str
    above: str
    below: str | None
    bar: float
    at_least: bool = True
    aim: float | None = None
    unit: str = ""

    def is_known(self, series: Mapping[str, Sequence[float]]) -> bool:
        """Whether its rows were measured."""
        return self.above in series and (self.below is None or self.below in series)

    def measure(self, series: Mapping[str, Sequence[float]]) -> Spread:
        """Work it out from its rows."""
        return spread(series[self.above]) if self.below is None else ratio(series[self.above], series[self.below])


def compare(
    series: Mapping[str, Sequence[float]],
    bars: Sequence[Bar],
    by_processor: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Figure, ...]:
    """Work out the promised figures of those rows that were measured.

    Args:
        series: What is compared, by row.
        bars: The promises.
        by_processor: The same in terms of processor time, where that is known.
    """
    return tuple(
        Figure(
            bar.name,
            bar.measure(series),
            bar.bar,
            at_least=bar.at_least,
            unit=bar.unit,
            aim=bar.aim,
            by_processor=_median_ratio(by_processor or {}, bar),
        )
        for bar in bars
        if bar.is_known(series)
    )


def _median_ratio(series: Mapping[str, Sequence[float]], bar: Bar) -> float | None:
    return bar.measure(series).median if bar.is_known(series) else None


def find_worst(runs: Sequence[Part]) -> tuple[Figure, ...]:
    """Return of each promised figure that of the run that is worst for it."""
    figures = [figure for part in runs for figure in part.figures]
    names = dict.fromkeys(figure.name for figure in figures)
    return tuple(_worst([figure for figure in figures if figure.name == name]) for name in names)


def _worst(figures: Sequence[Figure]) -> Figure:
    return (min if figures[0].at_least else max)(figures, key=lambda figure: figure.measured.median)
