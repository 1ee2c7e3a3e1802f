"""Measure rows in turns, and compare them within each turn."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.environments import Unavailable

T = TypeVar("T")


@dataclass(frozen=True)
class Spread:
    """The median of some figures, and the smallest and largest of them."""

    median: float
    low: float
    high: float


def spread(figures: Sequence[float]) -> Spread:
    """Summarize figures."""
    return Spread(statistics.median(figures), min(figures), max(figures))


def percentile(figures: Sequence[float], share: float) -> float:
    """Return the smallest figure that this share of all figures does not exceed."""
    return sorted(figures)[max(0, math.ceil(share * len(figures)) - 1)]


def milliseconds(seconds: float) -> str:
    """Write a time as a reader compares it."""
    return f"{seconds * 1000:.1f} ms" if seconds < 0.01 else f"{seconds * 1000:,.0f} ms"


def ratio(above: Sequence[float], below: Sequence[float]) -> Spread:
    """Compare two rows: the ratios of what was measured in the same round, since neighbors share a busy moment."""
    return spread([one / other for one, other in zip(above, below, strict=True)])


def take_turns(rows: Mapping[str, Callable[[], T]], rounds: int) -> tuple[dict[str, list[T]], dict[str, str]]:
    """Measure every row once a round; returns the figures by row, and the rows that failed with the reason.

    Every other round goes backwards, so that a machine that slows down or speeds up favors no row.
    """
    figures: dict[str, list[T]] = {name: [] for name in rows}
    failed: dict[str, str] = {}
    for number in range(rounds):
        order = list(rows) if number % 2 == 0 else list(rows)[::-1]
        for name in order:
            if name in failed:
                continue
            try:
                figures[name].append(rows[name]())
            except Unavailable as error:
                failed[name] = str(error)
    return {name: taken for name, taken in figures.items() if name not in failed}, failed
