"""A caller may shorten the time that a call has, and never lengthen it."""

import asyncio
from typing import Any

import pytest

from sidecall import ToolContext, tool
from tests.kit.clients import MakeClient
from tests.kit.events import events_in

CALL: dict[str, Any] = {"name": "hang", "args": {}, "id": "call_1"}


@tool(timeout=0.2)
async def hang() -> None:
    """Hang."""
    await asyncio.Event().wait()


@tool(timeout=60)
async def left(context: ToolContext) -> float:
    """Say what is left."""
    return round(context.remaining or 0.0)


@pytest.mark.parametrize(
    ("seconds", "is_the_tools"),
    [
        pytest.param("0.05", False, id="shorter"),
        pytest.param("600", True, id="longer"),
    ],
)
async def test_a_caller_only_ever_shortens(make_client: MakeClient, seconds: str, is_the_tools: bool) -> None:
    """The earlier of the two deadlines holds, on every way to answer."""
    client = await make_client(hang)
    events = {"Accept": "text/event-stream"}
    target = f"/tool_calls?timeout={seconds}"

    single = (await client.post(target, json=CALL)).json()
    batch = (await client.post(f"/tool_calls/batch?timeout={seconds}", json=[CALL])).json()
    stream = events_in((await client.post(target, json=CALL, headers=events)).text)
    answers = [single, batch[0], stream[-1][1]]

    assert [answer["response_metadata"]["error"]["kind"] for answer in answers] == ["timeout"] * 3
    assert [answer["content"].endswith(" 0.2 seconds.") for answer in answers] == [is_the_tools] * 3


async def test_a_tool_sees_the_callers_deadline(make_client: MakeClient) -> None:
    """What is left is what its caller gives it."""
    client = await make_client(left)

    answer = await client.post("/tool_calls?timeout=10", json={**CALL, "name": "left"})

    assert answer.json()["content"] in ("10", "10.0")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", ""])
async def test_a_timeout_that_is_none_is_refused(make_client: MakeClient, seconds: str) -> None:
    """Rather than ignored: a bound that was asked for would not hold."""
    client = await make_client(hang)

    answer = await client.post(f"/tool_calls?timeout={seconds}", json=CALL)

    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
