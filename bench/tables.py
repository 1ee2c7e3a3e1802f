"""Make the table of a part from what was measured in turns."""

from collections.abc import Mapping, Sequence

from bench.results import Bar, Part, compare
from bench.rounds import spread


def tabulate(
    title: str,
    measures: str,
    series: Mapping[str, Sequence[float]],
    bars: Sequence[Bar],
    skipped: Mapping[str, str],
    by_processor: Mapping[str, Sequence[float]] | None = None,
) -> Part:
    """Make a part of one figure a row, and of promised figures."""
    return Part(
        title=title,
        measures=measures,
        columns=("", measures, "lowest to highest"),
        rows=tuple(_line(name, taken) for name, taken in series.items()),
        series=series,
        figures=compare(series, bars, by_processor),
        skipped=skipped,
    )


def _line(name: str, taken: Sequence[float]) -> tuple[str, ...]:
    found = spread(taken)
    return name, _write(found.median), f"{_write(found.low)} to {_write(found.high)}"


def _write(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 1000 else f"{figure:.3g}"
