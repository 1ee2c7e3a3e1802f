"""Calls are watched from their beginning to their end."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import httpx
import pytest

from sidecall import InjectedState, ToolException, ToolMessage, tool
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.metrics import UNKNOWN, Metrics
from sidecall.kernel.core.origin import CALL, get_request_keys
from tests.kit.calls import write_request
from tests.kit.clients import MakeClient

Run = Callable[..., Awaitable[ToolMessage]]


@tool
def divide(a: int, b: int) -> float:
    """Divide."""
    if b < 0:
        raise ToolException("Not by less than nothing.")
    return a / b


@tool(timeout=0.01)
async def hang() -> None:
    """Hang."""
    await asyncio.Event().wait()


@tool(handle_tool_error=None)
async def insist() -> None:
    """Insist."""
    raise ToolException("No.")


@tool(requires_approval=True)
async def delete() -> None:
    """Delete."""


@tool
async def greet(user: Annotated[str, InjectedState("user")]) -> str:
    """Greet."""
    return f"Hi {user}"


@tool
async def answer() -> ToolMessage:
    """Answer with a failure of its own."""
    return ToolMessage(content="No.", tool_call_id="", status="error")


@pytest.mark.parametrize(
    ("offered", "args", "outcome"),
    [
        (divide, {"a": 1, "b": 1}, "success"),
        (divide, {"a": 1, "b": 0}, "execution_error"),
        (divide, {"a": 1, "b": -1}, "tool_error"),
        (divide, {"a": 1}, "invalid_arguments"),
        (divide, "{", "malformed_arguments"),
        (hang, {}, "timeout"),
        (insist, {}, "tool_error"),
        (delete, {}, "approval_required"),
        (greet, {}, "missing_context"),
        (answer, {}, "tool_error"),
    ],
)
async def test_every_call_is_counted_once_by_its_outcome(
    make_client: MakeClient, offered: Any, args: Any, outcome: str
) -> None:
    """No matter who is told of it, the model or the calling program."""
    client = await make_client(offered)
    name = offered.compiled.name

    await client.post("/tool_calls", json={"type": "function", "function": {"name": name, "arguments": args}})
    counted = (await client.get("/metrics")).text

    assert f'sidecall_calls_total{{outcome="{outcome}",tool="{name}"}} 1.0' in counted
    assert f'sidecall_call_duration_seconds_count{{tool="{name}"}} 1.0' in counted
    assert f'sidecall_calls_in_flight{{tool="{name}"}} 0.0' in counted


async def test_names_that_callers_invent_make_no_series(make_client: MakeClient) -> None:
    """They are counted together."""
    client = await make_client(divide)
    calls = [{"name": f"invented_{number}", "args": {}} for number in range(100)]

    await client.post("/tool_calls/batch", json=calls)
    counted = (await client.get("/metrics")).text

    assert 'sidecall_calls_total{outcome="unknown_tool",tool="unknown"} 100.0' in counted
    assert "invented" not in counted


async def test_a_call_that_finds_no_room_is_counted(make_client: MakeClient) -> None:
    """It never began, so it took no time."""
    client = await make_client(hang, max_concurrency=1, max_queue=0)
    calls = [{"name": "hang", "args": {}}] * 3

    await client.post("/tool_calls/batch", json=calls)
    counted = (await client.get("/metrics")).text

    assert 'sidecall_calls_total{outcome="overloaded",tool="hang"} 2.0' in counted
    assert 'sidecall_call_duration_seconds_count{tool="hang"} 1.0' in counted
    assert "sidecall_queue_length 0.0" in counted


async def test_a_call_that_is_cancelled_is_in_flight_no_more(run_watched: Run) -> None:
    """Nobody is answered, and the count goes on all the same."""
    metrics = Metrics()
    begun = asyncio.Event()

    @tool
    async def wait() -> None:
        """Wait."""
        begun.set()
        await asyncio.Event().wait()

    request = write_request("wait")
    task = asyncio.ensure_future(run_watched(CallTelemetry(metrics), wait, request))
    await begun.wait()
    during = metrics.tally("wait").in_flight
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    tally = metrics.tally("wait")

    assert (during, tally.in_flight, tally.outcomes) == (1, 0, {"cancelled": 1})


async def _until(client: httpx.AsyncClient, line: str) -> None:
    while line not in (await client.get("/metrics")).text.splitlines():  # noqa: ASYNC110  it shows from outside only
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("settings", "full"),
    [
        ({"threads": 1}, 'sidecall_executor_waiting{executor="thread"} 1.0'),
        ({"max_concurrency": 1}, "sidecall_queue_length 1.0"),
    ],
)
async def test_the_time_a_call_waits_for_its_turn_is_counted(
    make_client: MakeClient, settings: dict[str, int], full: str
) -> None:
    """For a thread, or to be let in at all."""
    released = threading.Event()

    @tool
    def work() -> None:
        """Work."""
        released.wait()

    client = await make_client(work, **settings)
    answered = asyncio.ensure_future(client.post("/tool_calls/batch", json=[{"name": "work", "args": {}}] * 2))
    await _until(client, full)
    released.set()
    await answered
    lines = (await client.get("/metrics")).text.splitlines()
    (waited,) = [line for line in lines if line.startswith("sidecall_queue_wait_seconds_sum")]

    assert float(waited.split()[1]) > 0
    assert 'sidecall_queue_wait_seconds_count{tool="work"} 2.0' in lines


@pytest.mark.parametrize("how", ["inline", "thread"])
async def test_whatever_a_tool_calls_knows_the_call(run_watched: Run, how: Any) -> None:
    """In threads too; afterwards it is forgotten."""

    @tool(executor=how)
    def look() -> dict[str, str]:
        """Look around."""
        return get_request_keys()

    message = await run_watched(CallTelemetry(Metrics()), look, write_request("look"))

    assert message.content == f'{{"tool": "look", "call_id": "call_1", "invocation_id": "{message.id}"}}'
    assert CALL.get() is None


async def test_a_call_within_a_call_hides_the_outer_one_while_it_lasts(run_watched: Run) -> None:
    """And no longer."""
    watch = CallTelemetry(Metrics())

    @tool
    async def inner() -> str:
        """Be within."""
        return get_request_keys()["call_id"]

    @tool
    async def outer() -> list[Any]:
        """Be around."""
        said = await run_watched(watch, inner, write_request("inner", id="call_2"))
        return [said.content, get_request_keys()["call_id"]]

    message = await run_watched(watch, outer, write_request("outer"))

    assert message.content == ["call_2", "call_1"]


async def test_an_unknown_tool_is_nobodys_call(run_watched: Run) -> None:
    """It has no tool to be counted under."""
    metrics = Metrics()

    await run_watched(CallTelemetry(metrics), divide, write_request("nope"))

    assert metrics.tally(UNKNOWN).outcomes == {"unknown_tool": 1}
    assert metrics.tally("divide").outcomes == {}
