"""Sums of calls by the hour, from which summaries are made however many calls there were."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from pydantic import BaseModel, Field

from sidecall.core.calls.entry import to_datetime

HOUR = 3600
SummaryPart = Literal["name", "status", "kind", "caller", "hour"]
# By what is summed; an hour is what is left when all statuses of it are put together.
PARTS = ("name", "status", "kind", "caller")
# Durations in seconds, four for each doubling, between which others fall: a percentile is right to a tenth.
_FINE = 4
BUCKETS = [2.0 ** (number / _FINE) * 1e-6 for number in range(37 * _FINE)]
# Callers of one hour that are told apart in one process, and groups of one summary.
_MOST_CALLERS = 1000
MOST_GROUPS = 1000
_OTHERS = "…"


class Sum(NamedTuple):
    """How many calls of one tenant and hour had this value and this duration."""

    tenant: str
    part: str
    hour: int
    value: str
    is_error: int
    bucket: int
    calls: int


class SummaryGroup(BaseModel):
    """The calls that have one value in common."""

    value: str | None = Field(description="What they have in common; null for those that are in no other group.")
    calls: int
    errors: int = Field(description="Those of them that did not succeed.")
    p50_ms: float | None = Field(description="Half of them took no longer, to a tenth.")
    p95_ms: float | None = Field(description="Of twenty nineteen took no longer, to a tenth.")


class CallSummary(BaseModel):
    """How many calls ran, how many failed and how long they took, in whole hours."""

    by: SummaryPart
    since: datetime | None = Field(description="The beginning of the first hour that is counted.")
    until: datetime | None = Field(description="The end of the last one.")
    total: SummaryGroup
    groups: list[SummaryGroup] = Field(description="Those of most calls first; hours in their order.")


class Callers:
    """Knows the callers of this hour that are told apart."""

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


def summarize(
    by: SummaryPart, hours: tuple[int | None, int | None], found: Iterable[tuple[str, int, int, int]]
) -> CallSummary:
    """Make a summary.

    Args:
        by: What the groups have in common.
        hours: The first hour that is counted, and the first that is not.
        found: Of each sum the value, whether it is of failures, the bucket and the calls.
    """
    groups: dict[str, Counter[tuple[int, int]]] = {}
    total: Counter[tuple[int, int]] = Counter()
    for value, is_error, bucket, calls in found:
        groups.setdefault(value, Counter())[is_error, bucket] += calls
        total[is_error, bucket] += calls
    others = groups.pop(_OTHERS, Counter())
    ordered = sorted(groups.items(), key=lambda group: (-group[1].total(), group[0]))
    for _, left in ordered[MOST_GROUPS:]:
        others.update(left)
    ordered = ordered[:MOST_GROUPS]
    if by == "hour":
        ordered.sort()
    shown = [_describe(_name_value(by, value), counts) for value, counts in ordered]
    since, until = (None if hour is None else to_datetime(hour * HOUR) for hour in hours)
    rest = [_describe(None, others)] if others else []
    return CallSummary(by=by, since=since, until=until, total=_describe(None, total), groups=[*shown, *rest])


def _name_value(by: SummaryPart, value: str) -> str:
    return to_datetime(int(value) * HOUR).isoformat().replace("+00:00", "Z") if by == "hour" else value


def _describe(value: str | None, counts: Counter[tuple[int, int]]) -> SummaryGroup:
    calls = counts.total()
    buckets: Counter[int] = Counter()
    for (_, bucket), number in counts.items():
        buckets[bucket] += number
    ordered = sorted(buckets.items())
    errors = sum(number for (is_error, _), number in counts.items() if is_error)
    return SummaryGroup(
        value=value,
        calls=calls,
        errors=errors,
        p50_ms=_find_percentile(ordered, calls * 0.5),
        p95_ms=_find_percentile(ordered, calls * 0.95),
    )


def _find_percentile(buckets: Sequence[tuple[int, int]], rank: float) -> float | None:
    passed = 0
    for bucket, number in buckets:
        passed += number
        if passed >= rank:
            return float(f"{2 ** ((bucket - 0.5) / _FINE) / 1000:.3g}")
    return None
