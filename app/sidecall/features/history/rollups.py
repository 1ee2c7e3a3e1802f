"""Hourly rollups of calls, from which summaries are computed however many calls there were."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from sidecall.kernel.core.cost import to_number
from sidecall.kernel.ports.call_entry import to_datetime

HOUR = 3600
HOURS_OF_DAY = 24
SummaryPart = Literal["name", "status", "kind", "caller", "hour"]
# Keys of the sums; an hour is the sum of all its statuses.
PARTS = ("name", "status", "kind", "caller")
# Bounds of the duration buckets in seconds, four per doubling, so that percentiles are within a tenth.
_FINE = 4
BUCKETS = [2.0 ** (number / _FINE) * 1e-6 for number in range(37 * _FINE)]
# Buckets of one row: most calls of one tool fall into one or two rows.
WIDTH = 16
_SPANS = len(BUCKETS) // WIDTH + 1
# Callers of one hour that a process distinguishes, and groups of one summary.
_MOST_CALLERS = 1000
MOST_GROUPS = 1000
_OTHERS = "…"


class SumKey(NamedTuple):
    """The group of calls that are counted in one row; `span` is the bucket of their durations."""

    tenant: str
    part: str
    hour: int
    value: str
    span: int


# Failures, calls of each bucket of a span, and what all of them cost, in billionths.
Counts = list[int]
COST = WIDTH + 1


class Sum(NamedTuple):
    """The counts of one group."""

    key: SumKey
    counts: Counts


class Sums(dict[SumKey, Counts]):
    """Counted calls."""

    def __missing__(self, key: SumKey) -> Counts:
        counts = self[key] = [0] * (COST + 1)
        return counts

    def add(self, sums: Iterable[Sum]) -> None:
        """Add the counts of another one."""
        for key, counts in sums:
            self[key] = [ours + theirs for ours, theirs in zip(self[key], counts, strict=True)]


class FoundSum(NamedTuple):
    """The counts of one value and duration bucket."""

    value: str
    span: int
    counts: Sequence[int]


class SummaryGroup(BaseModel, defer_build=True):
    """The calls that have one value in common."""

    value: str | None = Field(
        description="What they have in common; null for those in no other group, such as those without a kind."
    )
    calls: int
    errors: int = Field(description="Those of them that did not succeed.")
    p50_ms: float | None = Field(description="Half of them took no longer, to a tenth.")
    p95_ms: float | None = Field(description="Of twenty nineteen took no longer, to a tenth.")
    cost: float = Field(description="What they cost together, in the operator's currency.")


class CallSummary(BaseModel, defer_build=True):
    """How many calls ran and failed, and how long they took, in whole hours."""

    by: SummaryPart
    since: datetime | None = Field(description="The beginning of the first hour that is counted.")
    until: datetime | None = Field(description="The end of the last one.")
    total: SummaryGroup
    groups: list[SummaryGroup] = Field(description="Those of most calls first; hours in their order.")


class Callers:
    """Tracks the callers of this hour, up to a number."""

    def __init__(self) -> None:
        self._hour = 0
        self._known: set[str] = set()

    def name(self, caller: str, hour: int) -> str:
        """Return a caller's name, or that of all for whom there is no room."""
        if caller in self._known:
            return caller
        if hour > self._hour:
            self._hour = hour
            self._known.clear()
        if len(self._known) >= _MOST_CALLERS:
            return _OTHERS
        self._known.add(caller)
        return caller


def summarize(by: SummaryPart, hours: tuple[int | None, int | None], found: Iterable[FoundSum]) -> CallSummary:
    """Make a summary.

    Args:
        by: The key of the groups.
        hours: The first counted hour, and the first not counted.
        found: The sums of these hours.
    """
    groups: dict[str, _Group] = {}
    total = _Group()
    for value, span, counts in found:
        for group in (groups.setdefault(value, _Group()), total):
            group.add(span, counts)
    others = groups.pop(_OTHERS, _Group())
    ordered = sorted(groups.items(), key=lambda group: (-group[1].calls, group[0]))
    for _, left in ordered[MOST_GROUPS:]:
        others.join(left)
    ordered = ordered[:MOST_GROUPS]
    if by == "hour":
        ordered.sort()
    shown = [_describe(_name_value(by, value), counts) for value, counts in ordered]
    since, until = (None if hour is None else to_datetime(hour * HOUR) for hour in hours)
    rest = [_describe(None, others)] if others.calls else []
    return CallSummary(by=by, since=since, until=until, total=_describe(None, total), groups=[*shown, *rest])


def find_without_kind(statuses: Iterable[FoundSum]) -> list[FoundSum]:
    """Return the sums of calls that have no kind, which are those that succeeded."""
    return [found._replace(value=_OTHERS) for found in statuses if found.value == "succeeded"]


def _name_value(by: SummaryPart, value: str) -> str:
    return to_datetime(int(value) * HOUR).isoformat().replace("+00:00", "Z") if by == "hour" else value


class _Group:
    """Counts the calls of one group."""

    def __init__(self) -> None:
        self.calls = self.errors = self.cost = 0
        self.buckets = [0] * (_SPANS * WIDTH)

    def add(self, span: int, counts: Sequence[int]) -> None:
        errors, *calls, cost = counts
        self.errors += errors
        self.cost += cost
        for bucket, number in enumerate(calls, span * WIDTH):
            self.buckets[bucket] += number
            self.calls += number

    def join(self, other: "_Group") -> None:
        self.calls += other.calls
        self.errors += other.errors
        self.cost += other.cost
        self.buckets = [ours + theirs for ours, theirs in zip(self.buckets, other.buckets, strict=True)]


def _describe(value: str | None, group: _Group) -> SummaryGroup:
    return SummaryGroup(
        value=value,
        calls=group.calls,
        errors=group.errors,
        p50_ms=_find_percentile(group.buckets, group.calls * 0.5),
        p95_ms=_find_percentile(group.buckets, group.calls * 0.95),
        cost=to_number(group.cost),
    )


def _find_percentile(buckets: Sequence[int], rank: float) -> float | None:
    passed = 0
    for bucket, number in enumerate(buckets):
        passed += number
        if number and passed >= rank:
            return float(f"{2 ** ((bucket - 0.5) / _FINE) / 1000:.3g}")
    return None
