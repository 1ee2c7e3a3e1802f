"""`GET /tool_calls/export` writes calls out as JSON Lines."""

import json
import tracemalloc
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.features.calls.event_stream import export_calls
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.kit.remembered import charge, key, send, ship


def _read(answer: Any) -> list[Any]:
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    assert answer.text == "" or answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_all_calls_are_written_with_their_answers(serve: MakeClient) -> None:
    """Over many pages, each once, newest first, in the dialect that was asked for."""
    client = await serve(charge)
    for number in range(70):
        await send(client, "charge", headers=key(str(number)), order=str(number))

    calls = _read(await client.get("/tool_calls/export?format=openai"))

    assert [call["args"]["order"] for call in calls] == [str(number) for number in reversed(range(70))]
    assert calls[0]["message"] == {"role": "tool", "tool_call_id": "call_1", "content": "charged 69 for the 1. time"}
    assert calls[0].keys() == (await client.get(f"/tool_calls/{calls[0]['id']}")).json().keys()


async def test_calls_are_chosen_as_in_the_list(serve: MakeClient) -> None:
    """By the same parameters."""
    client = await serve(charge, ship)
    await send(client, "ship", order="x", id="s")
    for number in range(3):
        await send(client, "charge", headers=key(str(number)), order=str(number), fails=number == 1)

    async def ask(query: str) -> list[str]:
        return [call["args"]["order"] for call in _read(await client.get(f"/tool_calls/export?{query}"))]

    assert await ask("name=ship") == ["x"]
    assert await ask("status=failed") == ["1"]
    assert await ask("name=charge&status=succeeded") == ["2", "0"]
    assert await ask("since=2100-01-01T00:00:00Z") == []


@pytest.mark.parametrize("query", ["limit=3", "since=yesterday"])
async def test_a_wrong_parameter_is_refused(serve: MakeClient, query: str) -> None:
    """With a status, before the first line."""
    client = await serve(charge)

    assert (await client.get(f"/tool_calls/export?{query}")).status_code == 422


@tool
async def write_much(number: int, size: int) -> str:
    """Write a large text.

    Args:
        number: Which.
        size: Its characters.
    """
    return f"{number % 10}" * size


@pytest.mark.parametrize(("count", "size"), [(500, 40_000), (30, 900_000)])
async def test_no_more_than_a_page_is_in_memory(count: int, size: int) -> None:
    """However many and large calls are; the store itself is not counted, which is no memory of Python's."""
    app = create_app(Settings(drain_timeout=0), Registry([write_much]))
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client,
    ):
        for number in range(count):
            await send(client, "write_much", headers=key(str(number)), number=number, size=size)
        tracemalloc.start()
        try:
            sizes = [len(line) async for line in export_calls(app.state.parts, CallFilter("default"), "langchain")]
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert (len(sizes), min(sizes) > size) == (count, True)
    assert peak < 8_000_000 < sum(sizes)
