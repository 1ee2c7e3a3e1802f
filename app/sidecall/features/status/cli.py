"""sidecall status: the state of a running server on one screen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from sidecall.features.calls.cli_rows import clean, write_time
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import write_count
from sidecall.terminal.remote import DEFAULT_URL, AsJson, Url, ask, reach

_GOOD, _BAD, _FAIR = "green", "bold red", "yellow"
# The minutes that are summed up, and the number of rows of failing tools.
_SPANS = ((5, "last 5 minutes"), (60, "last hour"), (120, "last 2 hours"))
_ROWS = 8
# Executors with a bound.
_POOLS = (("thread", "threads"), ("process", "processes"))

_Row = tuple[str, Text]


def status(as_json: AsJson = False, url: Url = DEFAULT_URL) -> None:
    """Print how a running server is: its store, its queues, and what has failed in the last two hours."""
    with reach(url) as client:
        found = ask(client, "GET", "/status")
        if as_json:
            print_json(found)
        else:
            print_status(found)


def print_status(found: dict[str, Any]) -> None:
    """Print a status for people."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _write_rows(found):
        table.add_row(name, text)
    make_console().print(table)


def _write_rows(found: dict[str, Any]) -> Iterator[_Row]:
    process = found["process"]
    worker = f", worker {process['pid']} of {process['workers']}" if process["workers"] > 1 else ""
    since = f", version {found['version']}, for {_write_span(process['uptime_seconds'])}{worker}"
    yield "server", Text.assemble((found["phase"], _GOOD if found["phase"] == "ready" else _FAIR), since)
    if process["requests_in_flight"] is not None:
        yield "requests", Text(f"{process['requests_in_flight']} in flight, {process['connections']} connections")
    yield "store", _write_store(found["store"])
    yield "history", _write_history(found["history"])
    yield "workspaces", _write_workspaces(found["workspaces"])
    for server in found["mcp_servers"]:
        yield f"MCP {clean(server['name'])}", _write_mcp_server(server)
    yield "calls", _write_queue(found["calls"])
    yield "jobs", _write_queue(found["jobs"])
    if found["approvals"] is not None and found["approvals"]["waiting"]:
        yield "approvals", _write_approvals(found["approvals"])
    yield from (("tools", Text(f"not loaded again: {clean(why)}", _BAD)) for why in found["load_errors"])
    yield from ((pool, _write_executor(found["executors"][name])) for name, pool in _POOLS)
    if process.get("event_loop_stuck_seconds"):
        text = f"stood still for {_write_span(process['event_loop_stuck_seconds'])} in all; the log says where"
        yield "event loop", Text(text, _BAD)
    if process["log_lines_dropped"]:
        yield "log", Text(f"{process['log_lines_dropped']} lines dropped, since nobody read them", _FAIR)
    if process["spans_dropped"]:
        yield "traces", Text(f"{process['spans_dropped']} spans lost, since the collector did not take them", _FAIR)
    minutes = [*found["minutes"], found["this_minute"]]
    yield from ((name, _write_minutes(minutes[-most:])) for most, name in _SPANS)
    yield from _write_failing(minutes)
    for feature, said in (found.get("features") or {}).items():
        yield clean(feature), Text(", ".join(f"{clean(name)} {clean(str(value))}" for name, value in said.items()))


def _write_approvals(approvals: dict[str, Any]) -> Text:
    until = write_time(approvals["next_expires_at"])
    return Text(f"{approvals['waiting']} wait for a person, the first until {until}", _FAIR)


def _write_store(store: dict[str, Any]) -> Text:
    if store["usable"] and store["trouble"] is not None:
        return Text.assemble(f"{store['kind']}, ", ("usable", _GOOD), f"; {clean(store['trouble'])}")
    if store["usable"]:
        return Text.assemble(f"{store['kind']}, ", ("usable", _GOOD))
    since = "" if store["unusable_since"] is None else f" since {write_time(store['unusable_since'])}"
    return Text.assemble(f"{store['kind']}, ", (f"OUT OF USE{since}", _BAD), f": {clean(store['trouble'])}")


def _write_history(history: dict[str, Any]) -> Text:
    if history["mode"] == "off":
        return Text("off")
    lost = (f", {history['dropped']} calls left out", _FAIR) if history["dropped"] else ""
    return Text.assemble(_write_store(history), lost)


def _write_workspaces(found: dict[str, Any]) -> Text:
    free = "" if found["free_bytes"] is None else f", {found['free_bytes'] / 1e9:.1f} GB free"
    text = Text(f"{found['kept']} of {found['most']}{free} in {clean(found['place'])}")
    return text if found["trouble"] is None else Text.assemble(text, (f": {clean(found['trouble'])}", _BAD))


def _write_mcp_server(server: dict[str, Any]) -> Text:
    waiting = (f", {write_count(len(server['waiting']), 'tool')} waiting to be accepted", _BAD)
    waits = waiting if server["waiting"] else ""
    if server["state"] == "connected":
        return Text.assemble((server["state"], _GOOD), f", {write_count(server['tools'], 'tool')}", waits)
    trouble = f": {clean(server['trouble'])}" if server["trouble"] else ""
    return Text.assemble((server["state"].upper(), _BAD), f" since {write_time(server['since'])}{trouble}", waits)


def _write_queue(queue: dict[str, Any]) -> Text:
    most = "" if queue["most_running"] is None else f" of {queue['most_running']}"
    is_full = queue["waiting"] and queue["waiting"] >= queue["most_waiting"]
    waiting = f"{queue['waiting']} of {queue['most_waiting']} waiting"
    return Text.assemble(f"{queue['running']}{most} running, {waiting}", (": FULL" if is_full else "", _BAD))


def _write_executor(one: dict[str, Any]) -> Text:
    text = Text(f"{one['busy']} of {one['size']} busy, {one['waiting']} waiting", _FAIR if one["waiting"] else "")
    for noun in ("abandoned", "killed"):
        if one[noun]:
            text.append(f", {one[noun]} {noun}", _FAIR)
    return text


def _write_minutes(minutes: Sequence[dict[str, Any]]) -> Text:
    calls, failed, refused = (sum(minute[part] for minute in minutes) for part in ("calls", "failed", "refused"))
    slowest = max((minute["p95_ms"] for minute in minutes if minute["p95_ms"] is not None), default=None)
    slow = "" if slowest is None else f", worst p95 of a minute {_write_time(slowest)}"
    return Text.assemble(
        f"{calls} calls, ", (f"{failed} failed", _BAD if failed else ""), f", {refused} of them refused{slow}"
    )


def _write_failing(minutes: Sequence[dict[str, Any]]) -> Iterator[_Row]:
    failing: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], str] = {}
    for minute in minutes:
        for one in minute["failing"]:
            pair = one["tool"], one["kind"]
            failing[pair] += one["calls"]
            last[pair] = minute["until"]
    title = "what fails"
    for pair, count in failing.most_common(_ROWS):
        times = write_count(count, "time")
        yield title, Text(clean(f"{pair[0]}: {pair[1]}, {times}, last before {write_time(last[pair])}"))
        title = ""


def _write_time(milliseconds: float) -> str:
    return f"{milliseconds:.3g} ms" if milliseconds < 999.5 else f"{milliseconds / 1000:.3g} s"


def _write_span(seconds: float) -> str:
    minutes = int(seconds) // 60
    if minutes < 1:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} days"
