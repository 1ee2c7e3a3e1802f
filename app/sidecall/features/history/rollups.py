"""Hourly rollups of calls, from which summaries are computed however many calls there were."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from sidecall.kernel.core.cost import to_number
from sidecall.kernel.ports.call_entry import CallFilter, CallStatus, to_datetime

HOUR = 3600
HOURS_OF_DAY = 24
SummaryPart = Literal["name", "status", "kind", "caller", "hour"]
# By what calls are summed: one part alone, an hour being the sum of all its statuses; the tool and the kind together;
# and these of each caller.
PARTS = ("name", "status", "kind", "caller")
_CELLS = "call"
OF_CALLER = "of:"
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


# Failures, calls of each bucket of a span, what all of them cost, in billionths, and the id of the latest.
Counts = list[Any]
COST = WIDTH + 1
LAST = WIDTH + 2


class Sum(NamedTuple):
    """The counts of one group."""

    key: SumKey
    counts: Counts


class Sums(dict[SumKey, Counts]):
    """Counted calls."""

    def __missing__(self, key: SumKey) -> Counts:
        counts = self[key] = [*([0] * LAST), ""]
        return counts

    def add(self, sums: Iterable[Sum]) -> None:
        """Add the counts of another one."""
        for key, counts in sums:
            known = self[key]
            added = [ours + theirs for ours, theirs in zip(known[:LAST], counts[:LAST], strict=True)]
            self[key] = [*added, max(known[LAST], counts[LAST])]


def list_parts(name: str, status: CallStatus, kind: str | None, caller: str) -> Iterator[tuple[str, str]]:
    """Yield by what calls of this kind are summed, and under which value."""
    yield "name", name
    yield "status", status
    yield "caller", caller
    if kind is not None:
        yield "kind", kind
    cell = f"{kind or ''}:{name}"
    yield _CELLS, cell
    yield f"{OF_CALLER}{caller}", cell


@dataclass(frozen=True, slots=True)
class SumSearch:
    """Which sums to read: of a part, or where it is None of all callers; of the hours from `first` to `before`.

    The hours are told apart if `is_hourly`.
    """

    tenant: str
    part: str | None
    first: int
    before: int
    is_hourly: bool

    def has(self, key: SumKey) -> bool:
        """Return whether a sum of an hour is one of these."""
        is_of_part = key.part.startswith(OF_CALLER) if self.part is None else key.part == self.part
        return is_of_part and key.tenant == self.tenant and self.first <= key.hour < self.before


class FoundSum(NamedTuple):
    """The counts of one value and duration bucket; `hour` says something only where hours are told apart."""

    part: str
    value: str
    hour: int
    span: int
    counts: Sequence[Any]


class SummaryGroup(BaseModel, defer_build=True):
    """The calls that have something in common."""

    value: str | None = Field(
        description="What they have in common; null for those in no other group, such as those without a kind, and "
        "where that is more than one thing."
    )
    values: dict[SummaryPart, str | None] = Field(description="What they have in common, by what was asked for.")
    calls: int
    errors: int = Field(description="Those of them that did not succeed.")
    p50_ms: float | None = Field(description="Half of them took no longer, to a tenth.")
    p95_ms: float | None = Field(description="Of twenty nineteen took no longer, to a tenth.")
    cost: float = Field(description="What they cost together, in the operator's currency.")
    last_at: datetime | None = Field(description="When the latest of them came; null where that is not kept.")
    example_id: str | None = Field(description="The latest of them, which may not be kept any more.")


class CallSummary(BaseModel, defer_build=True):
    """How many calls ran and failed, and how long they took, in whole hours."""

    by: str = Field(description="What the calls of one group have in common: the parts, with commas between them.")
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


def choose_part(by: Sequence[SummaryPart], wanted: CallFilter) -> str | None:
    """Return the part whose sums tell these groups of these calls apart; None for the sums of all callers."""
    is_of_all = wanted.names is None and wanted.status is None and wanted.kind is None
    if wanted.caller is not None:
        return f"{OF_CALLER}{wanted.caller}"
    if len(by) == 1 and is_of_all:
        return "status" if by[0] == "hour" else by[0]
    return None if "caller" in by else _CELLS


def summarize(
    by: Sequence[SummaryPart], wanted: CallFilter, hours: tuple[int | None, int | None], found: Iterable[FoundSum]
) -> CallSummary:
    """Make a summary.

    Args:
        by: What the calls of one group have in common.
        wanted: Which calls; only tool, status and kind are looked at.
        hours: The first counted hour, and the first not counted.
        found: The sums of these hours.
    """
    groups: dict[tuple[str | None, ...], _Group] = {}
    total = _Group()
    for one in found:
        values = _read_values(one)
        if _fits(values, wanted):
            key = tuple(values.get(part) for part in by)
            for group in (groups.setdefault(key, _Group()), total):
                group.add(one.span, one.counts)
    others = groups.pop((None,) * len(by), _Group())
    ordered = sorted(groups.items(), key=lambda group: (-group[1].calls, _to_text(group[0])))
    for _, left in ordered[MOST_GROUPS:]:
        others.join(left)
    ordered = ordered[:MOST_GROUPS]
    if "hour" in by:
        at = by.index("hour")
        ordered.sort(key=lambda group: group[0][at] or "")
    shown = [_describe(dict(zip(by, values, strict=True)), counts) for values, counts in ordered]
    since, until = (None if hour is None else to_datetime(hour * HOUR) for hour in hours)
    none: dict[SummaryPart, str | None] = dict.fromkeys(by)
    rest = [_describe(none, others)] if others.calls else []
    whole = _describe(none, total)
    return CallSummary(by=",".join(by), since=since, until=until, total=whole, groups=[*shown, *rest])


def find_without_kind(statuses: Iterable[FoundSum]) -> list[FoundSum]:
    """Return the sums of calls that have no kind, which are those that succeeded."""
    return [found._replace(part="kind", value=_OTHERS) for found in statuses if found.value == "succeeded"]


def _read_values(found: FoundSum) -> Mapping[str, str | None]:
    """Return what the calls of a sum have in common, as far as its part tells it."""
    hour = to_datetime(found.hour * HOUR).isoformat().replace("+00:00", "Z")
    part, value = found.part, found.value
    if part in PARTS:
        return {"hour": hour, part: None if value == _OTHERS else value}
    kind, _, name = value.partition(":")
    caller = part.removeprefix(OF_CALLER)
    said = {"hour": hour, "name": name, "kind": kind or None, "status": find_status(kind or None)}
    return said if part == _CELLS else {**said, "caller": None if caller == _OTHERS else caller}


def find_status(kind: str | None) -> CallStatus:
    """Return the status of a call that has ended with this kind of failure, or without one."""
    return "succeeded" if kind is None else _STATUS.get(kind, "failed")


# Kinds of failure that have a status of their own.
_STATUS: Mapping[str, CallStatus] = {
    "cancelled": "cancelled",
    "outcome_unknown": "outcome_unknown",
    "expired": "expired",
}


def _fits(values: Mapping[str, str | None], wanted: CallFilter) -> bool:
    return (
        (wanted.names is None or values.get("name") in wanted.names)
        and wanted.status in (None, values.get("status"))
        and wanted.kind in (None, values.get("kind"))
    )


def _to_text(values: Sequence[str | None]) -> Sequence[str]:
    """Return values by which groups can be ordered."""
    return [value or "" for value in values]


class _Group:
    """Counts the calls of one group."""

    def __init__(self) -> None:
        self.calls = self.errors = self.cost = 0
        self.buckets = [0] * (_SPANS * WIDTH)
        self.last = ""

    def add(self, span: int, counts: Sequence[Any]) -> None:
        errors, *calls, cost, last = counts
        self.errors += errors
        self.cost += cost
        self.last = max(self.last, last)
        for bucket, number in enumerate(calls, span * WIDTH):
            self.buckets[bucket] += number
            self.calls += number

    def join(self, other: "_Group") -> None:
        self.calls += other.calls
        self.errors += other.errors
        self.cost += other.cost
        self.last = max(self.last, other.last)
        self.buckets = [ours + theirs for ours, theirs in zip(self.buckets, other.buckets, strict=True)]


def _describe(values: dict[SummaryPart, str | None], group: _Group) -> SummaryGroup:
    return SummaryGroup(
        value=next(iter(values.values())) if len(values) == 1 else None,
        values=values,
        calls=group.calls,
        errors=group.errors,
        p50_ms=_find_percentile(group.buckets, group.calls * 0.5),
        p95_ms=_find_percentile(group.buckets, group.calls * 0.95),
        cost=to_number(group.cost),
        last_at=to_datetime(to_milliseconds(group.last) / 1000) if group.last else None,
        example_id=group.last or None,
    )


_HEX_OF_TIME = 13  # Of an id: eight digits, a hyphen, four digits.


def to_milliseconds(call_id: str) -> int:
    """Return the time of an id, in milliseconds since 1970."""
    return int(call_id[:_HEX_OF_TIME].replace("-", ""), 16)


def _find_percentile(buckets: Sequence[int], rank: float) -> float | None:
    passed = 0
    for bucket, number in enumerate(buckets):
        passed += number
        if number and passed >= rank:
            return float(f"{2 ** ((bucket - 0.5) / _FINE) / 1000:.3g}")
    return None
