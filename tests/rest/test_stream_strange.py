"""For all that a tool reports, its answer is the same as without events, and the events can be read."""

import math
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from sidecall import Registry, ToolContext, ToolGuardrailFunctionOutput, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.executors.base import Executor, InlineExecutor
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Place, Stage, Stages
from sidecall.main import create_app
from sidecall.rest.app import build_api
from sidecall.settings import Settings
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in

EXECUTORS: dict[ExecutorName, Executor] = {"inline": InlineExecutor()}


async def _events(client: httpx.AsyncClient, call: Any) -> list[Any]:
    response = await client.post("/tool_calls", json=call, headers=EVENTS)
    return events_in(response.text)


class _Odd:
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    "said",
    [
        pytest.param((math.nan, math.inf), id="no numbers of JSON"),
        pytest.param((1, 2, "\ud800"), id="half a character"),
        pytest.param((b"\xff", {1, 2}), id="no values of JSON"),
        pytest.param((object(), _Odd()), id="nothing that can be said"),
        pytest.param((1, 2, "a\r\n\n\u2028b\0"), id="line ends"),
        pytest.param((10**400, 1), id="a long number"),
    ],
)
async def test_strange_progress_harms_neither_the_tool_nor_the_events(make_client: MakeClient, said: Any) -> None:
    """Nobody's tool fails because somebody listens."""

    @tool
    async def strange(context: ToolContext) -> str:
        """Say something strange."""
        await context.progress(*said)
        return "done"

    client = await make_client(strange)

    *_, (name, message) = await _events(client, write_call("strange"))

    assert (name, message["content"]) == ("message", "done")


@pytest.mark.parametrize(
    "part", [pytest.param("\ud800", id="half a character"), pytest.param(math.nan, id="no number of JSON")]
)
async def test_strange_parts_harm_neither_the_tool_nor_the_events(make_client: MakeClient, part: Any) -> None:
    """The answer is the same as without events."""

    @tool
    async def strange() -> AsyncIterator[Any]:
        """Yield something strange."""
        yield part

    client = await make_client(strange)

    plain = (await client.post("/tool_calls", json=write_call("strange"))).json()
    *_, (name, message) = await _events(client, write_call("strange"))

    assert (name, message["status"], message["content"]) == ("message", plain["status"], plain["content"])


def _judge(_: Any) -> ToolGuardrailFunctionOutput:
    return ToolGuardrailFunctionOutput.reject_content("Nothing to see.")


@tool(tool_output_guardrails=[_judge])
async def leak() -> AsyncIterator[str]:
    """Tell a secret."""
    yield "hunter2"


@tool(tool_output_guardrails=[_judge])
def leak_in_thread() -> Iterator[str]:
    """Tell it in a thread."""
    yield "hunter2"


@pytest.mark.parametrize("leaking", [leak, leak_in_thread])
async def test_parts_are_not_told_before_a_guardrail_has_seen_them(make_client: MakeClient, leaking: Any) -> None:
    """What it would not let out does not go out in pieces."""
    client = await make_client(leaking)

    response = await client.post("/tool_calls", json=write_call(leaking.name), headers=EVENTS)
    *_, (name, message) = events_in(response.text)

    assert (name, message["content"]) == ("message", "Nothing to see.")
    assert "hunter2" not in response.text


async def _crash(_: Any) -> None:
    raise RuntimeError("hunter2")


@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls/batch"])
async def test_a_defect_of_the_server_is_told_and_logged(caplog: pytest.LogCaptureFixture, target: str) -> None:
    """Without its reason to the client, and with it to the operator."""
    parts = create_app(Settings(), Registry([leak])).state.parts
    broken = build_api(replace(parts, pipeline=Pipeline(parts.registry, Stages((Stage(Place.EXECUTE, _crash),)))))
    transport = httpx.ASGITransport(app=broken, raise_app_exceptions=False)
    body = write_call("leak") if target == "/tool_calls" else [write_call("leak")]

    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        response = await client.post(target, json=body, headers={**EVENTS, "X-Request-Id": "mine-1"})
    [(name, problem)] = events_in(response.text)

    assert (name, problem["type"], problem["status"]) == ("problem", "urn:sidecall:problem:internal-error", 500)
    assert "hunter2" not in response.text
    assert caplog.messages == [f"request mine-1 failed: POST {target}"]


async def test_a_defect_in_one_call_of_a_batch_touches_no_other() -> None:
    """It is answered in its place, and the others are answered as if they were alone."""

    @tool
    async def hello() -> str:
        """Say hello."""
        return "hello"

    parts = create_app(Settings(), Registry([hello, leak])).state.parts
    stages = default_stages(EXECUTORS, parts.approvals)
    crash = Stage(Place.EXECUTE, _crash, lambda tool: tool.name == "leak")
    stages = Stages((crash, *stages.success), stages.failure)
    broken = build_api(replace(parts, pipeline=Pipeline(parts.registry, stages)))
    transport = httpx.ASGITransport(app=broken, raise_app_exceptions=False)
    body = [write_call("hello", id="a"), write_call("leak", id="b"), write_call("hello", id="c")]

    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        response = await client.post("/tool_calls/batch", json=body, headers=EVENTS)
    told = {message["tool_call_id"]: message for _, message in events_in(response.text)}

    assert [told[name]["content"] for name in ("a", "c")] == ["hello", "hello"]
    assert told["b"]["response_metadata"]["error"]["kind"] == "execution_error"
