"""An operator sees how the server is: each figure moves with what it is about."""

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, ToolException, tool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.loading.file_watcher import reload_tools
from sidecall.main import create_app
from sidecall.settings import Settings
from sidecall.version import __version__
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, send
from tests.kit.tools import ping

STOP = threading.Event()


@tool
async def fail() -> None:
    """Fail."""
    raise ToolException("no")


@tool
async def linger() -> str:
    """Wait until the test is over."""
    await asyncio.sleep(1000)
    return "late"


@tool
def hold_thread() -> None:
    """Hold a thread until the test is over."""
    STOP.wait(30)


@tool(timeout=0.05)
def stuck() -> None:
    """Hold a thread longer than it may."""
    STOP.wait(30)


@tool
async def say(text: str) -> str:
    """Say something.

    Args:
        text: What.
    """
    return text


@pytest.fixture(autouse=True)
def _release_threads() -> Any:
    STOP.clear()
    yield
    STOP.set()


async def read(client: httpx.AsyncClient) -> Any:
    """Ask for the status."""
    answer = await client.get("/status")
    assert answer.status_code == 200
    return answer.json()


async def wait_for_status(client: httpx.AsyncClient, holds: Callable[[Any], bool]) -> Any:
    """Ask until this holds."""
    async with asyncio.timeout(60):
        while not holds(found := await read(client)):  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.02)
    return found


async def test_a_server_that_has_just_started(make_client: MakeClient) -> None:
    """Everything is there, and empty."""
    found = await read(await make_client(ping, threads=3, max_concurrency=7, max_queue=9, workers=4, history="meta"))

    assert (found["version"], found["phase"], found["tools"], found["minutes"]) == (__version__, "ready", [], [])
    assert found["process"].pop("pid") > 0
    assert 0 <= found["process"].pop("uptime_seconds") < 60
    assert found["process"] == {
        "workers": 4, "requests_in_flight": None, "connections": None, "log_lines_dropped": 0,
        "event_loop_stuck_seconds": None,
        "spans_dropped": None,
    }  # fmt: skip
    assert found["calls"] == {"running": 0, "most_running": 7, "waiting": 0, "most_waiting": 9}
    assert found["jobs"] == {"running": 0, "most_running": 100, "waiting": 0, "most_waiting": 10_000}
    assert found["approvals"] == {"waiting": 0, "pending": 0, "next_expires_at": None, "oldest_seconds": None}
    assert found["load_errors"] == []
    assert found["store"] == {"kind": "memory", "usable": True, "trouble": None, "unusable_since": None}
    assert found["history"] == {**found["store"], "mode": "meta", "dropped": 0}
    assert found["executors"]["thread"] == {"size": 3, "busy": 0, "waiting": 0, "abandoned": 0, "killed": 0}
    assert (found["this_minute"]["calls"], found["this_minute"]["outcomes"]) == (0, {})


async def test_it_says_where_files_of_conversations_are(make_client: MakeClient, tmp_path: Path) -> None:
    """And how much room there is, also before the folder is made."""
    client = await make_client(ping, workspace_dir=tmp_path / "deep" / "down", max_workspaces=7)
    first = (await read(client))["workspaces"]
    await client.post("/workspaces/conv/files", files={"file": ("a.txt", b"a")})
    found = (await read(client))["workspaces"]

    disk = shutil.disk_usage(tmp_path)
    assert (first["kept"], first["disk_bytes"]) == (0, disk.total)
    assert 0 < found.pop("free_bytes") < disk.total
    assert found == {
        "place": str(tmp_path / "deep" / "down"), "kept": 1, "most": 7, "disk_bytes": disk.total, "trouble": None,
    }  # fmt: skip


@tool(requires_approval=True)
async def ask_first() -> None:
    """Ask first."""


async def test_what_waits_for_a_person_is_counted(make_client: MakeClient) -> None:
    """Here and for Prometheus, until it is decided."""
    client = await make_client(ask_first)
    ids = [
        (await client.post("/tool_calls", json={"name": "ask_first", "args": {}, "id": f"call_{number}"})).json()["id"]
        for number in range(2)
    ]
    both, both_metrics = await read(client), (await client.get("/metrics")).text
    listed = (await client.get("/approvals")).json()
    await client.post(f"/approvals/{ids[1]}", json={"decision": "reject"})
    one, one_metrics = await read(client), (await client.get("/metrics")).text

    first = datetime.fromisoformat(both["approvals"]["next_expires_at"])
    assert abs(first - datetime.fromisoformat(listed[0]["expires_at"])) < timedelta(seconds=30)
    assert both["approvals"]["waiting"] == 2
    assert one["approvals"]["waiting"] == 1
    assert "sidecall_approvals_waiting 2.0" in both_metrics
    assert "sidecall_approvals_waiting 1.0" in one_metrics


async def test_tools_that_could_not_be_loaded_again_are_named(tmp_path: Path) -> None:
    """Until they can."""
    file = tmp_path / "mine.py"
    file.write_text("def x(:")
    registry = Registry([ping])
    app = create_app(Settings(), registry)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client,
    ):
        reload_tools(registry, [str(file)], [tmp_path], use_entry_points=False)
        broken, not_ready = await read(client), (await client.get("/readyz")).json()
        file.write_text('from sidecall import tool\n\n\n@tool\ndef one() -> None:\n    """One."""\n')
        reload_tools(registry, [str(file)], [tmp_path], use_entry_points=False)
        mended, ready = await read(client), (await client.get("/readyz")).json()

    assert [it.partition(" cannot")[0] for it in broken["load_errors"]] == [f"{file}:1"]
    assert (not_ready["status"], not_ready["load_errors"]) == ("ready", broken["load_errors"])
    assert mended["load_errors"] == []
    assert "load_errors" not in ready


async def test_calls_are_told_by_tool_and_kind(make_client: MakeClient) -> None:
    """And those of tools that there are not, together."""
    client = await make_client(ping, fail)
    for name in ("ping", "ping", "fail", "nope"):
        await client.post("/tool_calls", json={"name": name, "args": {}})

    found = await read(client)

    tools = {one["name"]: (one["outcomes"], one["running"]) for one in found["tools"]}
    assert tools == {
        "ping": ({"success": 2}, 0), "fail": ({"tool_error": 1}, 0), "unknown": ({"unknown_tool": 1}, 0),
    }  # fmt: skip
    assert {one["name"] for one in found["tools"] if one["p50_ms"] is not None} == {"ping", "fail"}
    minute = found["this_minute"]
    assert minute["outcomes"] == {"success": 2, "tool_error": 1, "unknown_tool": 1}
    assert (minute["calls"], minute["failed"], minute["refused"]) == (4, 2, 1)
    assert {(one["tool"], one["kind"]) for one in minute["failing"]} == {
        ("fail", "tool_error"), ("unknown", "unknown_tool"),
    }  # fmt: skip
    assert 0 < minute["p50_ms"] <= minute["p95_ms"] <= minute["p99_ms"]


async def test_a_full_server_says_so(make_client: MakeClient) -> None:
    """What runs, what waits, and what was refused."""
    client = await make_client(linger, hold_thread, max_concurrency=2, max_queue=1, threads=1, drain_timeout=0)
    sent = [
        asyncio.create_task(client.post("/tool_calls", json={"name": name, "args": {}}))
        for name in ("hold_thread", "linger", "linger")
    ]
    found = await wait_for_status(client, lambda found: found["calls"]["waiting"] == 1)
    refused = await client.post("/tool_calls", json={"name": "linger", "args": {}})
    later = await read(client)
    for task in sent:
        task.cancel()

    assert found["calls"] == {"running": 2, "most_running": 2, "waiting": 1, "most_waiting": 1}
    assert (found["executors"]["thread"]["busy"], found["executors"]["inline"]["busy"]) == (1, 1)
    assert {one["name"]: one["running"] for one in found["tools"]} == {"hold_thread": 1, "linger": 1}
    assert (refused.status_code, later["this_minute"]["outcomes"]) == (503, {"overloaded": 1})
    assert (later["this_minute"]["running"], later["this_minute"]["queued"]) == (2, 1)


async def test_remembered_calls_are_told_of(make_client: MakeClient) -> None:
    """Those that run, and those that are queued."""
    client = await make_client(linger, max_running_jobs=1, max_queued_jobs=5, drain_timeout=0)
    for number in range(3):
        await send(client, "linger", headers=ASYNC, id=str(number))

    found = await wait_for_status(client, lambda found: found["calls"]["running"] == 1)

    assert found["jobs"] == {"running": 1, "most_running": 1, "waiting": 2, "most_waiting": 5}


async def test_calls_that_run_on_and_those_left_out_are_counted(make_client: MakeClient) -> None:
    """Threads that nobody waits for, and calls that the history has no room for."""
    client = await make_client(stuck, say, threads=2, history="full", history_buffer_bytes=64 * 1024)
    await client.post("/tool_calls", json={"name": "stuck", "args": {}})
    long = [{"name": "say", "args": {"text": "x" * 4000}, "id": str(number)} for number in range(60)]
    await client.post("/tool_calls/batch", json=long)

    found = await read(client)

    assert (found["executors"]["thread"]["abandoned"], found["executors"]["thread"]["size"]) == (1, 2)
    assert found["history"]["mode"] == "full"
    assert 0 < found["history"]["dropped"] < 60


async def test_a_store_out_of_use_says_since_when_and_why(make_client: MakeClient, tmp_path: Path) -> None:
    """That of remembered calls and that of the history, each by itself; and no more once they can be used."""
    client = await make_client(ping, store=f"sqlite:///{tmp_path}/ledger.db", history="full")
    before = await read(client)
    others = [sqlite3.connect(tmp_path / name, isolation_level=None) for name in ("ledger.db", "ledger.history.db")]
    for other in others:
        other.execute("BEGIN IMMEDIATE")

    await client.post("/tool_calls", json={"name": "ping", "args": {}}, headers={"Idempotency-Key": "k"})
    await client.post("/tool_calls", json={"name": "ping", "args": {}})
    during = await wait_for_status(client, lambda found: not (found["store"]["usable"] or found["history"]["usable"]))
    for other in others:
        other.execute("ROLLBACK")
        other.close()
    after = await wait_for_status(client, lambda found: found["store"]["usable"] and found["history"]["usable"])

    for place in ("store", "history"):
        told = [status[place] for status in (before, during, after)]
        assert [one["kind"] for one in told] == ["sqlite"] * 3
        assert "another program has locked it" in told[1]["trouble"]
        assert before["at"] < told[1]["unusable_since"] < during["at"]
        assert [(one["trouble"], one["unusable_since"]) for one in told[::2]] == [(None, None)] * 2


async def test_a_server_that_drains_says_so() -> None:
    """Before it ends it still answers; requests and connections are told where they are counted."""
    lifecycle = Lifecycle()
    app = create_app(Settings(), Registry([ping]), lifecycle)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client,
    ):
        ready = await read(client)
        lifecycle.drain()
        current = asyncio.current_task()
        assert current is not None
        lifecycle.in_flight.add(current)
        lifecycle.connections.add("one")
        draining = await read(client)

    assert (ready["phase"], draining["phase"]) == ("ready", "draining")
    assert (draining["process"]["requests_in_flight"], draining["process"]["connections"]) == (1, 1)


async def test_the_last_minutes_are_told(make_client: MakeClient) -> None:
    """Those that have ended, the latest last."""
    client = await make_client(ping)
    minutes = client._transport.app.state.parts.operation.minutes  # type: ignore[attr-defined]
    for calls in (2, 0, 1):
        for _ in range(calls):
            await client.post("/tool_calls", json={"name": "ping", "args": {}})
        minutes.end_one()

    found = await read(client)

    assert [minute["calls"] for minute in found["minutes"]] == [2, 0, 1]
    assert found["this_minute"]["calls"] == 0


async def test_the_status_takes_no_parameter(make_client: MakeClient) -> None:
    """One that nobody reads is refused, as everywhere."""
    client = await make_client(ping)

    assert (await client.get("/status?minutes=5")).status_code == 422


async def test_a_store_that_forgets_unasked_says_so(make_client: MakeClient) -> None:
    """In the status, and to who looks whether it is ready."""
    settings = Settings().forgetting("memory://", "it cannot be opened")
    app = create_app(settings, Registry([say]))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client,
    ):
        status, ready = (await client.get("/status")).json(), (await client.get("/readyz")).json()
    asked = await make_client(say, store="memory://")

    assert (status["store"]["usable"], status["store"]["trouble"]) == (
        True,
        "what has to be remembered is kept in memory and lost at the end: it cannot be opened",
    )
    assert ready["forgets"] == "it cannot be opened"
    assert "forgets" not in (await asked.get("/readyz")).json()
