"""What is read of a server when somebody asks for its numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sidecall.features.telemetry.tally import Tally
from sidecall.kernel.core.occupancy import Occupancy
from sidecall.kernel.core.options import ExecutorName


class HasOccupancy(Protocol):
    """Whatever can be asked how full it is."""

    @property
    def occupancy(self) -> Occupancy:
        """The numbers at this moment."""


@dataclass(slots=True)
class Readings:
    """The names of tools, what is counted of each, and what the other numbers are called, mean, and come from.

    `abandoned` are the calls that run on although nobody waits for them, by executor; `families` have a label, and
    `counters_of` have several.
    """

    tools: Callable[[], Iterable[str]]
    tallies: dict[str, Tally] = field(default_factory=dict)
    executors: Mapping[ExecutorName, HasOccupancy] = field(default_factory=dict)
    abandoned: Mapping[ExecutorName, int] = field(default_factory=dict)
    gauges: dict[str, tuple[str, Callable[[], float]]] = field(default_factory=dict)
    counters: dict[str, tuple[str, Callable[[], float]]] = field(default_factory=dict)
    families: dict[str, tuple[str, str, Callable[[], Mapping[str, float]]]] = field(default_factory=dict)
    counters_of: dict[str, tuple[str, Sequence[str], Callable[[], Mapping[tuple[str, ...], float]]]] = field(
        default_factory=dict
    )
