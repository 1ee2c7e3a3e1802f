"""The page that lists calls: its address is the search, and what was counted beside it leads to narrower ones."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.visits import View, Visit
from sidecall.kernel.core.scopes import READ
from sidecall.kernel.ports.call_entry import CallStatus

# The states of calls, and what each is called.
STATES: Mapping[CallStatus, str] = {
    "running": "Running",
    "queued": "Queued",
    "awaiting_approval": "Waiting for a person",
    "succeeded": "Succeeded",
    "failed": "Failed",
    "cancelled": "Cancelled",
    "expired": "Expired",
    "outcome_unknown": "Unknown how it ended",
}
# How each state is coloured; others are not.
SIGNS: Mapping[str, str] = {
    "succeeded": "good",
    "failed": "bad",
    "outcome_unknown": "bad",
    "awaiting_approval": "warn",
    "expired": "warn",
    "cancelled": "warn",
}
# Since when calls are shown, as the page's address says it.
SPANS: Mapping[str, tuple[str, timedelta | None]] = {
    "": ("at any time", None),
    "1h": ("in the last hour", timedelta(hours=1)),
    "24h": ("in the last 24 hours", timedelta(days=1)),
    "7d": ("in the last seven days", timedelta(days=7)),
}
# What a summary cannot be narrowed by.
_ORIGINS = ("conversation", "trace_id", "request_id")
_FILTERS = ("name", "status", "kind", "caller", "tag", *_ORIGINS, "until")
_MOST = 40
# Groups that are shown, of each kind.
_MOST_GROUPS = 12
# Pages from which a reader finds back to newer ones.
_TRAIL = 20
_WRONG = 422


async def list_calls(visit: Visit) -> View:
    """List calls, newest first, with what they have in common beside them."""
    asked = _read_filters(visit)
    query = visit.query
    cursor, trail = query.get("cursor") or None, [it for it in query.get("trail", "").split(",") if it]
    answer = await visit.find("/tool_calls", **asked, limit=_MOST, cursor=cursor)
    if isinstance(answer, ApiFailure) and answer.status != _WRONG:
        raise answer
    is_wrong = isinstance(answer, ApiFailure)
    kept = {name: query[name] for name in (*_FILTERS, "since") if query.get(name)}
    # Counted first, so that calls which end meanwhile are in the others.
    by_name = 0 if is_wrong else await _count_by_name(visit, asked)
    counted = None if is_wrong else await _count(visit, asked)
    values = {
        "kept": kept,
        "wrong": answer.problem.get("detail") if isinstance(answer, ApiFailure) else None,
        "rows": [] if isinstance(answer, ApiFailure) else answer.data,
        "older": _lead_older(visit, kept, answer, cursor, trail),
        "newer": _lead_newer(visit, kept, cursor, trail),
        "facets": [] if not isinstance(counted, list) else list(_list_facets(visit, kept, counted)),
        "errors": [] if not isinstance(counted, list) else _list_errors(counted, kept),
        "uncounted": counted if isinstance(counted, str) else None,
        # Calls that ran before counts were kept by several parts at once.
        "left_out": by_name - sum(it["calls"] for it in counted) if isinstance(counted, list) else 0,
        "export": visit.link("tool_calls/export", **asked),
        "states": STATES,
        "signs": SIGNS,
        "spans": {name: label for name, (label, _) in SPANS.items()},
        "reads_all": visit.reader.may(READ),
        "is_first": cursor is None and not is_wrong,
    }
    return View("calls.html", "Calls", values, _WRONG if is_wrong else 200)


def _read_filters(visit: Visit) -> dict[str, Any]:
    """Return the parameters of the API for those of the page."""
    asked = {name: visit.query[name] for name in _FILTERS if visit.query.get(name)}
    since = visit.query.get("since", "")
    span = SPANS.get(since, ("", None))[1]
    if span is not None:
        asked["since"] = (datetime.now(UTC) - span).isoformat(timespec="seconds").replace("+00:00", "Z")
    elif since:
        asked["since"] = since
    return asked


def _lead_older(visit: Visit, kept: Mapping[str, str], answer: Any, cursor: str | None, trail: Sequence[str]) -> Any:
    if isinstance(answer, ApiFailure) or answer.next_cursor is None:
        return None
    passed = [*trail, cursor][-_TRAIL:] if cursor is not None else trail
    return visit.link("console/calls", **kept, cursor=answer.next_cursor, trail=",".join(passed))


def _lead_newer(visit: Visit, kept: Mapping[str, str], cursor: str | None, trail: Sequence[str]) -> str | None:
    if cursor is None:
        return None
    before = trail[-1] if trail else None
    return visit.link("console/calls", **kept, cursor=before, trail=",".join(trail[:-1]))


async def _count(visit: Visit, asked: Mapping[str, Any]) -> list[Mapping[str, Any]] | str | None:
    """Return the groups of these calls by tool, status and kind; why there are none, or None where they do not fit."""
    if any(name in asked for name in _ORIGINS) or asked.get("status") in ("running", "queued", "awaiting_approval"):
        return None
    wanted = {name: asked[name] for name in ("caller", "tag", "since", "until") if name in asked}
    found = await visit.find("/tool_calls/summary", by="name,status,kind", **wanted)
    if isinstance(found, ApiFailure):
        return str(found.problem.get("detail") or found.problem.get("title") or "They are not counted.")
    return list(found.data["groups"])


async def _count_by_name(visit: Visit, asked: Mapping[str, Any]) -> int:
    """Return how many calls are counted by their names alone; 0 where such counts cannot be narrowed as far."""
    if "caller" in asked or "tag" in asked:
        return 0
    wanted = {name: asked[name] for name in ("since", "until") if name in asked}
    found = await visit.find("/tool_calls/summary", by="name", **wanted)
    return 0 if isinstance(found, ApiFailure) else int(found.data["total"]["calls"])


def _list_facets(
    visit: Visit, kept: Mapping[str, str], groups: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, list[tuple[str, int, str, bool]]]]:
    """Yield what calls may be narrowed by: of each value how many, where it leads, and whether it is chosen."""
    for part, label in (("name", "Tools"), ("status", "How they ended"), ("kind", "Errors")):
        others = {name: kept[name] for name in ("name", "status", "kind") if name in kept and name != part}
        counts = Counter[str]()
        for group in groups:
            values = group["values"]
            if values[part] is not None and all(values[name] == value for name, value in others.items()):
                counts[values[part]] += group["calls"]
        rest = {name: value for name, value in kept.items() if name != part}
        rows = []
        for value, count in counts.most_common(_MOST_GROUPS):
            is_chosen = kept.get(part) == value
            address = visit.link("console/calls", **rest, **({} if is_chosen else {part: value}))
            rows.append((value, count, address, is_chosen))
        if rows:
            yield label, rows


def _list_errors(groups: Sequence[Mapping[str, Any]], kept: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """List the failures by tool and kind, those seen last first."""
    wanted = {name: kept[name] for name in ("name", "status", "kind") if name in kept}
    found = [
        group
        for group in groups
        if group["values"]["kind"] is not None and all(group["values"][name] == value for name, value in wanted.items())
    ]
    return sorted(found, key=lambda group: group["last_at"] or "", reverse=True)[:_MOST_GROUPS]
