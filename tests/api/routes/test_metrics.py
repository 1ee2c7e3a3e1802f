"""Prometheus reads how the calls go."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from app import tool

MakeClient = Callable[..., Awaitable[httpx.AsyncClient]]


@tool
async def ping() -> str:
    """Answer."""
    return "pong"


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
    """Whoever asks for the numbers does not change them."""
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

    assert {name: family.type for name, family in ours.items()} == {
        "sidecall_build_info": "gauge",
        "sidecall_tools": "gauge",
        "sidecall_calls": "counter",
        "sidecall_calls_in_flight": "gauge",
        "sidecall_call_duration_seconds": "histogram",
        "sidecall_queue_wait_seconds": "histogram",
        "sidecall_executor_size": "gauge",
        "sidecall_executor_busy": "gauge",
        "sidecall_executor_waiting": "gauge",
        "sidecall_executor_abandoned": "gauge",
        "sidecall_executor_killed": "counter",
        "sidecall_queue_length": "gauge",
    }
    assert all(family.documentation for family in ours.values())
    assert labels == {"version", "tool", "outcome", "executor", "le"}


async def test_every_number_is_documented(make_client: MakeClient) -> None:
    """And none that is documented is missing."""
    document = (Path(__file__).parents[3] / "docs/reliability.md").read_text()
    rows = [line for line in document.splitlines() if line.startswith("| `sidecall_")]
    named = {name for row in rows for name in re.findall(r"`(sidecall_\w+)`", row)}
    shortened = {f"sidecall_executor{end}" for row in rows for end in re.findall(r"`…(_\w+)`", row)}
    client = await make_client(ping)
    await client.post("/tool_calls", json={"name": "ping", "args": {}})

    told = set(re.findall(r"^# TYPE (sidecall_\w+)", (await client.get("/metrics")).text, re.MULTILINE))

    assert named | shortened == told
