"""Draw charts as SVG, which needs no script and follows the page's colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 540, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 6, 8, 20


@dataclass(frozen=True, slots=True)
class Point:
    """One value of a chart, with the words that stand below it and in its table; None where nothing is known.

    `bad` is the part of a bar that is drawn as bad.
    """

    label: str
    value: float | None
    bad: float = 0.0


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as a template draws it: paths in a box of `WIDTH` by `HEIGHT`."""

    title: str
    text: str
    unit: str
    points: Sequence[Point]
    lines: Sequence[str]
    areas: Sequence[str]
    bars: Sequence[tuple[float, float, float, float, bool]]
    grid: Sequence[tuple[float, str]]
    labels: Sequence[tuple[float, str, str]]


def round_up(value: float) -> float:
    """Return the next 1, 2 or 5 times a power of ten, at which an axis ends."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(float(step * power) for step in (1, 2, 5, 10) if step * power >= value * (1 - 1e-9))


def draw_line(title: str, points: Sequence[Point], unit: str = "") -> Chart:
    """Draw values as a line, which is broken where one is unknown."""
    top = round_up(max((it.value for it in points if it.value is not None), default=0))
    runs: list[list[tuple[float, float]]] = [[]]
    for index, point in enumerate(points):
        if point.value is None:
            runs.append([])
        else:
            runs[-1].append((_x(index, len(points)), _y(point.value, top)))
    runs = [run if len(run) > 1 else [*run, (run[0][0] + 1, run[0][1])] for run in runs if run]
    lines = ["M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in run) for run in runs]
    floor = HEIGHT - _BOTTOM
    areas = [
        f"{line} L{run[-1][0]:.1f} {floor} L{run[0][0]:.1f} {floor} Z" for line, run in zip(lines, runs, strict=True)
    ]
    return _make(title, points, top, _Shapes(lines=lines, areas=areas), unit)


def draw_bars(title: str, points: Sequence[Point]) -> Chart:
    """Draw values as bars, with the bad part of each at its foot."""
    top = round_up(max((it.value for it in points if it.value is not None), default=0))
    step = (WIDTH - _LEFT - _RIGHT) / max(len(points), 1)
    bars = []
    for index, point in enumerate(points):
        for value, is_bad in ((point.value or 0.0, False), (point.bad, True)):
            if value > 0:
                y = _y(value, top)
                bars.append((_LEFT + index * step, y, max(step - 1, 0.8), HEIGHT - _BOTTOM - y, is_bad))
    return _make(title, points, top, _Shapes(bars=bars))


@dataclass(frozen=True, slots=True)
class _Shapes:
    lines: Sequence[str] = ()
    areas: Sequence[str] = ()
    bars: Sequence[tuple[float, float, float, float, bool]] = ()


def _make(title: str, points: Sequence[Point], top: float, shapes: _Shapes, unit: str = "") -> Chart:
    known = [it.value for it in points if it.value is not None]
    text = f"{title}: nothing is known yet."
    if known:
        text = f"{title}: {write(known[-1])}{unit} at the end, {write(max(known))}{unit} at most."
    grid = [(_y(share * top, top), write(share * top)) for share in (0, 0.5, 1)]
    ends = [(0, "start"), (len(points) // 2, "middle"), (len(points) - 1, "end")] if len(points) > 2 else []
    labels = [(_x(index, len(points)), points[index].label, anchor) for index, anchor in ends]
    return Chart(title, text, unit, points, shapes.lines, shapes.areas, shapes.bars, grid, labels)


def _x(index: int, count: int) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * (index / max(count - 1, 1))


def _y(value: float, top: float) -> float:
    return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - value / top)


def write(value: float) -> str:
    """Write a number as people read it: `12,300`, `4.5`."""
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:.3g}"
