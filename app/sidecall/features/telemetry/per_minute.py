"""Counts of each of the last minutes, from the existing counters."""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

from pydantic import BaseModel, Field

from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.tally import HasOccupancy, Tally

# Two hours.
MOST_MINUTES = 120
SECONDS = 60.0
# Pairs of tool and kind that a minute lists.
MOST_FAILING = 10
# Outcomes that are no failures.
_FINE = frozenset(("success", "approval_required"))
_Outcomes = Counter[tuple[str, str]]


class FailingTool(BaseModel, defer_build=True):
    """How often a tool failed in one way."""

    tool: str
    kind: str = Field(description="Why its calls failed.")
    calls: int


class Minute(BaseModel, defer_build=True):
    """What happened in one minute, and how full the server was at its end."""

    until: datetime = Field(description="When it ended.")
    seconds: float = Field(description="How long it was; more than 60 where the event loop was held up.")
    calls: int = Field(description="Calls that ended, or were refused.")
    outcomes: dict[str, int] = Field(description="Those calls by how they ended: `success`, or the kind of a failure.")
    failed: int = Field(description="Those that neither succeeded nor wait for a person.")
    refused: int = Field(description="Those that never began: no room, no such tool, something missing.")
    failing: list[FailingTool] = Field(description="What failed most, up to ten rows.")
    running: int = Field(description="Calls that ran when it ended.")
    queued: int = Field(description="Calls that waited to be let in when it ended.")
    p50_ms: float | None = Field(description="Half of the calls took no longer, as near as a histogram says.")
    p95_ms: float | None = Field(description="Of twenty nineteen took no longer.")
    p99_ms: float | None = Field(description="Of a hundred ninety-nine took no longer.")


class Minutes:
    """Keep the last two hours, minute by minute, in this process only.

    Calls have no extra cost: their counters are read once a minute.
    """

    def __init__(self, metrics: Metrics, admission: HasOccupancy, clock: Callable[[], float] = time.monotonic) -> None:
        self._metrics = metrics
        self._admission = admission
        self._clock = clock
        self._begun = clock()
        self._total = Tally()
        self._outcomes: _Outcomes = Counter()
        self._task: asyncio.Task[None] | None = None
        self.past: deque[Minute] = deque(maxlen=MOST_MINUTES)

    def open(self) -> None:
        """Start, on the event loop."""
        self._task = asyncio.get_running_loop().create_task(self._go_round())

    async def close(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(SECONDS)
            self.end_one()

    def end_one(self) -> None:
        """End a minute, and begin the next."""
        self.past.append(self.read_this())
        self._begun = self._clock()
        self._total, self._outcomes = add_up(self._metrics.tallies), _list_outcomes(self._metrics.tallies)

    def read_this(self) -> Minute:
        """Return the counts of the present minute."""
        tallies, room = self._metrics.tallies, self._admission.occupancy
        spent = add_up(tallies)
        spent.add(self._total, -1)
        outcomes = {outcome: count for outcome, count in spent.outcomes.items() if count}
        return Minute(
            until=datetime.now(UTC),
            seconds=round(self._clock() - self._begun, 3),
            calls=sum(outcomes.values()),
            outcomes=outcomes,
            failed=sum(count for outcome, count in outcomes.items() if outcome not in _FINE),
            refused=spent.refused,
            failing=_list_failing(_list_outcomes(tallies) - self._outcomes),
            running=room.busy,
            queued=room.waiting,
            p50_ms=estimate_ms(spent, 0.5),
            p95_ms=estimate_ms(spent, 0.95),
            p99_ms=estimate_ms(spent, 0.99),
        )


def add_up(tallies: Mapping[str, Tally]) -> Tally:
    """Return what all of them have counted."""
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    return total


def estimate_ms(tally: Tally, share: float) -> float | None:
    """Estimate a quantile of the durations in milliseconds; None without calls."""
    seconds = tally.estimate(share)
    return None if seconds is None else round(seconds * 1000, 3)


def _list_outcomes(tallies: Mapping[str, Tally]) -> _Outcomes:
    return Counter(
        {(tool, outcome): count for tool, tally in tallies.items() for outcome, count in tally.outcomes.items()}
    )


def _list_failing(outcomes: _Outcomes) -> list[FailingTool]:
    failing = Counter({pair: count for pair, count in outcomes.items() if pair[1] not in _FINE})
    worst = failing.most_common(MOST_FAILING)
    return [FailingTool(tool=tool, kind=kind, calls=calls) for (tool, kind), calls in worst]
