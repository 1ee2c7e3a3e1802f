"""Pages for operators: how the server is, who has decided what, and MCP servers whose changed tools wait."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, get_args

from sidecall.features.audit.stores import AuditAction
from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.charts import Chart, Point, draw_bars, draw_line
from sidecall.features.console.visits import View, Visit

_DAYS = 7
# From this share of a limit on it is told that it is nearly reached.
_NEARLY = 0.9
# What each executor has places for.
_EXECUTORS = {"thread": "Busy threads", "process": "Busy processes", "sandbox": "Busy sandboxes"}
# Ends that a person has wanted.
_WANTED = ("rejected", "cancelled")
# How calls of tools that there are not are counted.
_UNKNOWN = "unknown"
# Seconds for which something held up the event loop, from which it is told.
_STUCK = 1.0


class Alert(NamedTuple):
    """Something that is wrong, how bad it is, and what finds the calls that it is about."""

    kind: str
    text: str
    calls: Mapping[str, str] | None = None


async def show_health(visit: Visit) -> View:
    """Show this worker's status, and the last days of all."""
    status = (await visit.get("/status")).data
    now = datetime.now(UTC)
    since = (now - timedelta(days=_DAYS)).replace(minute=0, second=0, microsecond=0)
    hours = await visit.find("/tool_calls/summary", by="hour", since=since.isoformat().replace("+00:00", "Z"))
    values = {
        "status": status,
        "started": now - timedelta(seconds=status["process"]["uptime_seconds"]),
        "troubles": list(find_troubles(status)),
        "limits": list(_list_limits(status)),
        "charts": _draw_minutes(status["minutes"]),
        "week": None if isinstance(hours, ApiFailure) else _draw_week(hours.data, since, now),
        "week_missing": hours.problem.get("detail") if isinstance(hours, ApiFailure) else None,
        "tools": sorted(status["tools"], key=lambda it: -sum(it["outcomes"].values()))[:50],
    }
    return View("health.html", "Health", values)


def find_troubles(status: Mapping[str, Any]) -> Iterator[Alert]:
    """Say what is wrong, each with how bad it is: `bad` stops something, `warn` may soon."""
    if status["phase"] != "ready":
        yield Alert("warn", f"The server is {status['phase']}.")
    for error in status["load_errors"]:
        yield Alert("bad", f"Tools could not be loaded again, those of before serve: {error}")
    yield from _find_unkept(status["store"], status["history"], status["workspaces"])
    yield from _find_upstream(status["mcp_servers"])
    for name, running, most, _ in _list_limits(status):
        if most and running >= _NEARLY * most:
            yield Alert("warn", f"{name}: {running} of {most}.")
    yield from _find_lost(status["process"])
    yield from _find_failing(status)


def _find_unkept(store: Any, history: Any, files: Any) -> Iterator[Alert]:
    if not store["usable"]:
        yield Alert("bad", f"The store cannot be used: {store['trouble']}.")
    elif store["trouble"]:
        yield Alert("warn", f"The store: {store['trouble']}.")
    if not history["usable"]:
        yield Alert("bad", f"The history cannot be written: {history['trouble']}.")
    if history["dropped"]:
        yield Alert("warn", f"{history['dropped']} calls are missing in the history, for want of room.")
    if files["trouble"]:
        yield Alert("bad", f"Files of conversations cannot be written: {files['trouble']}.")


def _find_lost(process: Any) -> Iterator[Alert]:
    stuck = process["event_loop_stuck_seconds"] or 0
    if stuck >= _STUCK:
        yield Alert("warn", f"Code has held up the event loop for {stuck} seconds since the start.")
    if process["log_lines_dropped"]:
        yield Alert("warn", f"{process['log_lines_dropped']} log lines were dropped: they were not read in time.")
    if process["spans_dropped"]:
        yield Alert("warn", f"{process['spans_dropped']} spans were dropped: their collector has not taken them.")


def _find_upstream(servers: Sequence[Mapping[str, Any]]) -> Iterator[Alert]:
    for server in servers:
        if server["state"] == "down":
            yield Alert("bad", f"The MCP server {server['name']} is down: {server['trouble'] or 'it is tried again'}.")
        if server["waiting"]:
            waiting = ", ".join(server["waiting"])
            yield Alert("warn", f"Tools of the MCP server {server['name']} have changed and wait: {waiting}.")


def _find_failing(status: Mapping[str, Any]) -> Iterator[Alert]:
    """List the tools whose calls fail now: in this minute and the one before."""
    latest = [*status["minutes"][-1:], status["this_minute"]]
    counts: dict[tuple[str, str], int] = {}
    for row in (row for minute in latest for row in minute["failing"] if row["kind"] not in _WANTED):
        place = row["tool"], row["kind"]
        counts[place] = counts.get(place, 0) + row["calls"]
    for (tool, kind), count in sorted(counts.items(), key=lambda it: -it[1])[:10]:
        calls = f"{count} call{'' if count == 1 else 's'}"
        text = f"{calls} of {tool} failed in the last minutes: {kind.replace('_', ' ')}."
        yield Alert("warn", text, None if tool == _UNKNOWN else {"name": tool, "kind": kind})


def _list_limits(status: Mapping[str, Any]) -> Iterator[tuple[str, int, int | None, int]]:
    """List what is full to some part: its name, how much, of how much, and how many wait."""
    calls, jobs = status["calls"], status["jobs"]
    yield "Running calls", calls["running"], calls["most_running"], calls["waiting"]
    yield "Running jobs", jobs["running"], jobs["most_running"], jobs["waiting"]
    for name, one in status["executors"].items():
        if one["size"] is not None:
            yield _EXECUTORS.get(name, name), one["busy"], one["size"], one["waiting"]
    files = status["workspaces"]
    yield "Workspaces", files["kept"], files["most"], 0


def _draw_minutes(minutes: Sequence[Mapping[str, Any]]) -> Sequence[Chart]:
    """Draw the last two hours; without a whole minute nothing."""
    if not minutes:
        return ()
    labels = [str(it["until"])[11:16] for it in minutes]

    def pick(name: str) -> list[Point]:
        return [Point(label, it[name]) for label, it in zip(labels, minutes, strict=True)]

    failed = [Point(label, float(it["calls"]), float(it["failed"])) for label, it in zip(labels, minutes, strict=True)]
    return (
        draw_bars("Calls a minute, failed ones in red", failed),
        draw_line("95 % of calls took at most (p95)", pick("p95_ms"), " ms"),
        draw_line("Running calls", pick("running")),
        draw_line("Waiting calls", pick("queued")),
    )


def _draw_week(summary: Mapping[str, Any], since: datetime, now: datetime) -> Chart:
    found = {datetime.fromisoformat(it["value"]): it for it in summary["groups"] if it["value"]}
    points = []
    moment = since
    while moment <= now:
        it = found.get(moment)
        label = moment.strftime("%m-%d %H:%M")
        points.append(Point(label, float(it["calls"]), float(it["errors"])) if it else Point(label, 0.0))
        moment += timedelta(hours=1)
    return draw_bars("Calls an hour in seven days, failed ones in red", points)


_FILTERS = ("action", "by", "since", "until")
_MOST_LISTED = 100
_WRONG = 422
# How an action is coloured; others are not.
_ACTION_SIGNS = {"denied": "bad", "rejected": "bad", "approved": "good", "tools_accepted": "good"}


async def list_audit(visit: Visit) -> View:
    """List decisions and refusals, latest first."""
    kept = {name: visit.query[name] for name in _FILTERS if visit.query.get(name)}
    found = await visit.find("/audit", **kept, limit=_MOST_LISTED, cursor=visit.query.get("cursor"))
    if isinstance(found, ApiFailure) and found.status != _WRONG:
        raise found
    values = {
        "kept": kept,
        "wrong": found.problem.get("detail") if isinstance(found, ApiFailure) else None,
        "rows": [] if isinstance(found, ApiFailure) else found.data,
        "next": None if isinstance(found, ApiFailure) else found.next_cursor,
        "is_first": not visit.query.get("cursor"),
        "actions": get_args(AuditAction),
        "signs": _ACTION_SIGNS,
    }
    return View("audit.html", "Audit", values, _WRONG if values["wrong"] else 200)


async def list_mcp_servers(visit: Visit) -> View:
    """List the MCP servers whose tools are offered here, and what waits of them."""
    servers = (await visit.get("/mcp-servers")).data
    values = {"servers": servers, "waits": any(server["waiting_tools"] for server in servers)}
    return View("mcp_servers.html", "MCP servers", values)
