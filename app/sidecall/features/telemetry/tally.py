"""Count the calls of one tool."""

import logging
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Protocol

from msgspec import Struct, field

from sidecall.kernel.core.cost import CallCost, to_number
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.executors.base import Occupancy

logger = logging.getLogger("sidecall")

# Upper bounds of the buckets in seconds: from adding two numbers to browsing the web.
DURATIONS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

WAITS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0)


class Tally:
    """Count in plain numbers, on the event loop only, which costs a tenth of counting under a lock."""

    __slots__ = (
        *("_durations", "_late_cost", "_late_lock", "_waits"),
        *("begun", "own_cost", "outcomes", "seconds", "seconds_waited"),
    )

    def __init__(self) -> None:
        self.begun = 0
        self.seconds = 0.0
        self.seconds_waited = 0.0
        self.outcomes: dict[str, int] = {}
        # In billionths; and what calls have added after their end, which may be in any thread.
        self.own_cost = self._late_cost = 0
        self._late_lock = Lock()
        self._durations = [0] * (len(DURATIONS) + 1)
        # Calls that were queued: counting the many others too would cost more than deriving their number.
        self._waits = [0] * (len(WAITS) + 1)

    def end(self, outcome: str, seconds: float, waited: float) -> None:
        """Count a call that has ended."""
        self.seconds += seconds
        self._durations[bisect_left(DURATIONS, seconds)] += 1
        if waited:
            self.seconds_waited += waited
            self._waits[bisect_left(WAITS, waited)] += 1
        outcomes = self.outcomes
        outcomes[outcome] = outcomes.get(outcome, 0) + 1

    def end_cost(self, cost: CallCost) -> None:
        """Count what a call has cost, and what it adds from now on."""
        self.own_cost += cost.hear_more(self._add_late_cost)

    def _add_late_cost(self, billionths: int) -> None:
        with self._late_lock:
            self._late_cost += billionths

    @property
    def cost(self) -> float:
        """What its calls have cost."""
        return to_number(self.own_cost + self._late_cost)

    def refuse(self, outcome: str) -> None:
        """Count a call that never began."""
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def restore(self, durations: list[int], waits: list[int]) -> None:
        """Take what was counted elsewhere, by bucket."""
        self._durations, self._waits = durations, waits

    def add(self, other: "Tally", times: int = 1) -> None:
        """Add the counts of another tally; with -1 subtract them."""
        self.begun += times * other.begun
        self.seconds += times * other.seconds
        self.seconds_waited += times * other.seconds_waited
        for outcome, count in other.outcomes.items():
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + times * count
        self._durations = [one + times * more for one, more in zip(self._durations, other._durations, strict=True)]
        self._waits = [one + times * more for one, more in zip(self._waits, other._waits, strict=True)]

    def estimate(self, share: float) -> float | None:
        """Estimate a quantile of the durations in seconds; None without calls.

        As Prometheus does: calls are assumed to be spread evenly within a bucket, and those beyond the last bound lie
        on it.
        """
        ended = self.ended
        wanted, passed, lower = share * ended, 0, 0.0
        if ended <= 0:
            return None
        for bound, count in zip(DURATIONS, self._durations, strict=False):
            if count and passed + count >= wanted:
                return lower + (bound - lower) * (wanted - passed) / count
            passed += count
            lower = bound
        return lower

    @property
    def ended(self) -> int:
        """Calls that have ended."""
        return sum(self._durations)

    @property
    def refused(self) -> int:
        """Calls that never began."""
        return sum(self.outcomes.values()) - self.ended

    @property
    def in_flight(self) -> int:
        """Calls that have begun and not ended."""
        return self.begun - self.ended

    @property
    def durations(self) -> list[tuple[str, float]]:
        """How many calls took at most so many seconds (cumulative)."""
        return list(_cumulate(DURATIONS, self._durations))

    @property
    def waits(self) -> list[tuple[str, float]]:
        """How many calls were queued at most so many seconds (cumulative)."""
        first, *others = self._waits
        at_once = self.ended - sum(self._waits)
        return list(_cumulate(WAITS, [first + at_once, *others]))


def _cumulate(bounds: Sequence[float], counts: Sequence[int]) -> Iterator[tuple[str, float]]:
    total = 0
    for bound, count in zip((*bounds, "+Inf"), counts, strict=True):
        total += count
        yield str(bound), total


class HasOccupancy(Protocol):
    """Has an occupancy."""

    @property
    def occupancy(self) -> Occupancy:
        """The present numbers."""


class GaugeSources(Struct):
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
