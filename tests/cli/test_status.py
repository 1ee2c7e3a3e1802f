"""`sidecall status` says in plain words what is wrong."""

import copy
from typing import Any

import pytest

from sidecall.features.status.cli import print_status

_MINUTE: dict[str, Any] = {
    "until": "2020-01-01T00:01:00Z",
    "seconds": 60.0,
    "calls": 10,
    "outcomes": {"success": 10},
    "failed": 0,
    "refused": 0,
    "failing": [],
    "running": 0,
    "queued": 0,
    "p50_ms": 1.0,
    "p95_ms": 2.5,
    "p99_ms": 2.5,
}
_STORE: dict[str, Any] = {"kind": "sqlite", "usable": True, "trouble": None, "unusable_since": None}
_WORKSPACES: dict[str, Any] = {
    "place": "/var/workspaces", "kept": 3, "most": 1000, "disk_bytes": 10**12, "free_bytes": 2_140_000_000,
    "trouble": None,
}  # fmt: skip
_POOL = {"size": 8, "busy": 0, "waiting": 0, "abandoned": 0, "killed": 0}
_QUEUE = {"running": 0, "most_running": 10, "waiting": 0, "most_waiting": 20}
WELL: dict[str, Any] = {
    "version": "1.2.3",
    "at": "2020-01-01T00:02:00Z",
    "phase": "ready",
    "process": {
        "pid": 7, "workers": 1, "uptime_seconds": 90.0, "requests_in_flight": 1, "connections": 2,
        "log_lines_dropped": 0, "event_loop_stuck_seconds": 0.0,
        "spans_dropped": None,
    },
    "calls": _QUEUE,
    "jobs": {**_QUEUE, "most_running": None},
    "approvals": {"waiting": 0, "next_expires_at": None},
    "store": _STORE,
    "history": {**_STORE, "mode": "full", "dropped": 0},
    "workspaces": _WORKSPACES,
    "executors": {"inline": {**_POOL, "size": None}, "thread": _POOL, "process": _POOL},
    "mcp_servers": [],
    "load_errors": [],
    "tools": [],
    "this_minute": {**_MINUTE, "calls": 0, "outcomes": {}, "p50_ms": None, "p95_ms": None, "p99_ms": None},
    "minutes": [_MINUTE] * 100,
}  # fmt: skip
_LOST = {**_STORE, "usable": False, "trouble": "no room\x1b[2J", "unusable_since": "2020-01-01T00:00:00Z"}
_MCP = {
    "name": "files",
    "state": "connected",
    "since": "2020-01-01T00:00:00Z",
    "trouble": None,
    "tools": 3,
    "waiting": [],
}
_FAILED = {**_MINUTE, "failed": 3, "refused": 1, "failing": [{"tool": "find", "kind": "timeout", "calls": 3}]}


def show(capsys: pytest.CaptureFixture[str], **changes: Any) -> list[str]:
    """Print a status that is well but for some changes, and return its rows."""
    print_status({**copy.deepcopy(WELL), **changes})
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")


def test_a_server_that_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing stands out."""
    assert show(capsys) == [
        "server ready, version 1.2.3, for 1 min",
        "requests 1 in flight, 2 connections",
        "store sqlite, usable",
        "history sqlite, usable",
        "workspaces 3 of 1000, 2.1 GB free in /var/workspaces",
        "calls 0 of 10 running, 0 of 20 waiting",
        "jobs 0 running, 0 of 20 waiting",
        "threads 0 of 8 busy, 0 waiting",
        "processes 0 of 8 busy, 0 waiting",
        "last 5 minutes 40 calls, 0 failed, 0 of them refused, worst p95 of a minute 2.5 ms",
        "last hour 590 calls, 0 failed, 0 of them refused, worst p95 of a minute 2.5 ms",
        "last 2 hours 1000 calls, 0 failed, 0 of them refused, worst p95 of a minute 2.5 ms",
    ]


@pytest.mark.parametrize(
    ("changes", "row"),
    [
        ({"phase": "draining"}, "server draining, version 1.2.3, for 1 min"),
        (
            {"process": {**WELL["process"], "workers": 4, "uptime_seconds": 7500.0}},
            "server ready, version 1.2.3, for 2 h 5 min, worker 7 of 4",
        ),
        (
            {"process": {**WELL["process"], "event_loop_stuck_seconds": 8.25}},
            "event loop stood still for 8 s in all; the log says where",
        ),
        ({"process": {**WELL["process"], "log_lines_dropped": 3}}, "log 3 lines dropped, since nobody read them"),
        (
            {"process": {**WELL["process"], "spans_dropped": 3}},
            "traces 3 spans lost, since the collector did not take them",
        ),
        ({"store": {**_LOST, "unusable_since": None}}, "store sqlite, OUT OF USE: no room\N{REPLACEMENT CHARACTER}[2J"),
        ({"history": {**_STORE, "mode": "off", "dropped": 0}}, "history off"),
        (
            {"workspaces": {**_WORKSPACES, "free_bytes": None, "trouble": "No room."}},
            "workspaces 3 of 1000 in /var/workspaces: No room.",
        ),
        ({"history": {**_STORE, "mode": "meta", "dropped": 5}}, "history sqlite, usable, 5 calls left out"),
        ({"calls": {**_QUEUE, "running": 10, "waiting": 20}}, "calls 10 of 10 running, 20 of 20 waiting: FULL"),
        ({"mcp_servers": [_MCP]}, "MCP files connected, 3 tools"),
        (
            {"mcp_servers": [{**_MCP, "waiting": ["a"]}]},
            "MCP files connected, 3 tools, 1 tool waiting to be accepted",
        ),
        (
            {"mcp_servers": [{**_MCP, "state": "down", "trouble": "no\x1b[2J"}]},
            "MCP files DOWN since 2020-01-01 00:00: no\N{REPLACEMENT CHARACTER}[2J",
        ),
        ({"jobs": {**_QUEUE, "waiting": 21}}, "jobs 0 of 10 running, 21 of 20 waiting: FULL"),
        (
            {"approvals": {"waiting": 3, "next_expires_at": "2020-01-01T00:00:00Z"}},
            "approvals 3 wait for a person, the first until 2020-01-01 00:00",
        ),
        (
            {"load_errors": ["mine.py:1 cannot be loaded:\x1b[2J"]},
            "tools not loaded again: mine.py:1 cannot be loaded:\N{REPLACEMENT CHARACTER}[2J",
        ),
        ({"calls": {**_QUEUE, "most_waiting": 0}}, "calls 0 of 10 running, 0 of 0 waiting"),
        (
            {"executors": {"thread": {**_POOL, "busy": 8, "waiting": 2, "abandoned": 1}, "process": _POOL}},
            "threads 8 of 8 busy, 2 waiting, 1 abandoned",
        ),
        (
            {"executors": {"thread": _POOL, "process": {**_POOL, "killed": 4}}},
            "processes 0 of 8 busy, 0 waiting, 4 killed",
        ),
        (
            {"this_minute": _FAILED},
            "last 5 minutes 50 calls, 3 failed, 1 of them refused, worst p95 of a minute 2.5 ms",
        ),
        ({"minutes": []}, "last hour 0 calls, 0 failed, 0 of them refused"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_seen(capsys: pytest.CaptureFixture[str], changes: dict[str, Any], row: str) -> None:
    """Each figure in its row."""
    assert row in show(capsys, **changes)


def test_a_store_that_is_lost_says_since_when(capsys: pytest.CaptureFixture[str]) -> None:
    """On the clock of the user who looks."""
    [row] = [row for row in show(capsys, store=_LOST) if row.startswith("store")]

    assert row.startswith("store sqlite, OUT OF USE since 20")


def test_what_fails_is_summed_up(capsys: pytest.CaptureFixture[str]) -> None:
    """Over the minutes, worst first, in a bounded number of rows."""
    many = [{"tool": f"tool_{number}", "kind": "timeout", "calls": 1} for number in range(10)]

    rows = show(capsys, minutes=[_FAILED, _FAILED], this_minute={**_MINUTE, "failing": many})

    start = next(index for index, row in enumerate(rows) if row.startswith("what fails"))
    assert rows[start].startswith("what fails find: timeout, 6 times, last before 20")
    assert len(rows) - start == 8
