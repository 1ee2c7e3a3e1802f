"""Prometheus reads how the calls go."""

import asyncio
import re
import threading
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sidecall import Registry, tool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kernel.pipeline.stubborn import swallows
from tests.kit.clients import MakeClient
from tests.kit.tools import ping


async def test_calls_are_counted(make_client: MakeClient) -> None:
    """On the short way and on the framework's, one by one and in a batch."""
    client = await make_client(ping)
    call = {"name": "ping", "args": {}, "id": "call_1"}

    await client.post("/tool_calls", json=call)
    await client.post("/tool_calls?format=openai", json=call)
    await client.post("/tool_calls/batch", json=[call, call])
    response = await client.get("/metrics")

    assert response.status_code == 200
    assert 'sidecall_calls_total{outcome="success",tool="ping"} 4.0' in response.text


async def test_requests_that_are_no_calls_are_not_counted(make_client: MakeClient) -> None:
    """Asking for the numbers does not change them."""
    client = await make_client(ping)

    await client.post("/tool_calls", json={})
    await client.get("/metrics")
    response = await client.get("/metrics")

    assert "sidecall_calls_total" in response.text
    assert 'sidecall_calls_total{outcome="success",tool="ping"} 0.0' in response.text


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2",
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores",
        ),
    ],
)
async def test_the_form_is_the_one_that_is_asked_for(make_client: MakeClient, accept: str, media_type: str) -> None:
    """Prometheus itself prefers OpenMetrics."""
    client = await make_client(ping)

    response = await client.get("/metrics", headers={"Accept": accept})

    assert response.headers["Content-Type"] == media_type


async def test_everything_has_a_type_and_a_help_text(make_client: MakeClient) -> None:
    """And only a few labels."""
    client = await make_client(ping)
    await client.post("/tool_calls", json={"name": "ping", "args": {}})

    families = list(text_string_to_metric_families((await client.get("/metrics")).text))
    ours = {family.name: family for family in families if family.name.startswith("sidecall_")}
    labels = {label for family in ours.values() for sample in family.samples for label in sample.labels}

    assert {name: family.type for name, family in ours.items()} == _TYPES
    assert all(family.documentation for family in ours.values())
    assert labels == {"version", "tool", "outcome", "executor", "le", "route", "status"}


_TYPES = {
    "sidecall_build_info": "gauge",
    "sidecall_log_lines_dropped": "counter",
    "sidecall_store_usable": "gauge",
    "sidecall_approvals_oldest_seconds": "gauge",
    "sidecall_approvals_pending": "gauge",
    "sidecall_approvals_waiting": "gauge",
    "sidecall_requests": "counter",
    "sidecall_history_calls_dropped": "counter",
    "sidecall_tools": "gauge",
    "sidecall_calls": "counter",
    "sidecall_calls_in_flight": "gauge",
    "sidecall_call_duration_seconds": "histogram",
    "sidecall_queue_wait_seconds": "histogram",
    "sidecall_cost": "counter",
    "sidecall_executor_size": "gauge",
    "sidecall_executor_busy": "gauge",
    "sidecall_executor_waiting": "gauge",
    "sidecall_executor_abandoned": "gauge",
    "sidecall_executor_killed": "counter",
    "sidecall_queue_length": "gauge",
}


async def test_every_number_is_documented() -> None:
    """And none that is documented is missing."""
    document = (Path(__file__).parents[3] / "docs/observability.md").read_text()
    rows = [line for line in document.splitlines() if line.startswith("| `sidecall_")]
    named = {name for row in rows for name in re.findall(r"`(sidecall_\w+)`", row)}
    shortened = {f"sidecall_executor{end}" for row in rows for end in re.findall(r"`…(_\w+)`", row)}
    settings = Settings(mcp_servers='{"mcpServers": {"time": {"command": "time"}}}', fleet="nats://127.0.0.1:9")
    transport = httpx.ASGITransport(create_app(settings, Registry([ping]), Lifecycle()))
    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        await client.post("/tool_calls", json={"name": "ping", "args": {}})
        answer = await client.get("/metrics")

    told = set(re.findall(r"^# TYPE (sidecall_\w+)", answer.text, re.MULTILINE))

    # Which only a server has that sends spans.
    assert named | shortened == told | {"sidecall_spans_dropped_total"}


async def test_calls_that_run_on_are_counted_by_executor(make_client: MakeClient) -> None:
    """In threads and on the event loop."""
    until, until_too = asyncio.Event(), threading.Event()

    @tool(timeout=0.05)
    async def stubborn() -> None:
        """Swallow cancellation."""
        await swallows(until)

    @tool(timeout=0.05)
    def stuck() -> None:
        """Hold a thread."""
        until_too.wait(20)

    @tool(sequential=True)
    async def idle() -> None:
        """Never run."""

    client = await make_client(stubborn, stuck, idle)
    calls = [{"name": name, "args": {}, "id": name} for name in ("stubborn", "stuck", "stuck")]

    await client.post("/tool_calls/batch", json=calls)
    during = await _abandoned(client)
    until.set()
    until_too.set()

    assert during == {"inline": 1, "thread": 2, "process": 0, "sandbox": 0}


async def _abandoned(client: httpx.AsyncClient) -> dict[str, float]:
    families = text_string_to_metric_families((await client.get("/metrics")).text)
    [gauge] = [family for family in families if family.name == "sidecall_executor_abandoned"]
    return {sample.labels["executor"]: sample.value for sample in gauge.samples}
