"""Gauges, which are read on request."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sidecall.features.telemetry.tally import Tally
from sidecall.kernel.core.occupancy import Occupancy
from sidecall.kernel.core.options import ExecutorName


class HasOccupancy(Protocol):
    """Has an occupancy."""

    @property
    def occupancy(self) -> Occupancy:
        """The present numbers."""


@dataclass(slots=True)
class GaugeSources:
    """Tool names, the counters of each and what makes them, and the other metrics with name, help and source.

    `abandoned` are the calls that run on after their answer, by executor; `families` have one label, and `counters_of`
    several.
    """

    tools: Callable[[], Iterable[str]]
    tally: Callable[[str], Tally]
    unread: Mapping[int, int] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    executors: Mapping[ExecutorName, HasOccupancy] = field(default_factory=dict)
    abandoned: Mapping[ExecutorName, int] = field(default_factory=dict)
    gauges: dict[str, tuple[str, Callable[[], float]]] = field(default_factory=dict)
    counters: dict[str, tuple[str, Callable[[], float]]] = field(default_factory=dict)
    families: dict[str, tuple[str, str, Callable[[], Mapping[str, float]]]] = field(default_factory=dict)
    counters_of: dict[str, tuple[str, Sequence[str], Callable[[], Mapping[tuple[str, ...], float]]]] = field(
        default_factory=dict
    )
