"""The floors do the work that they are a floor for."""

import httpx
import pytest
from starlette.types import ASGIApp

from bench import floors
from bench.tools import take
from bench.work import make_rows

MESSAGE = {
    "content": "hi",
    "artifact": None,
    "tool_call_id": "call_1",
    "name": "echo",
    "status": "success",
    "type": "tool",
    "id": None,
    "additional_kwargs": {},
    "response_metadata": {},
}


@pytest.mark.parametrize(
    "app", [pytest.param(getattr(floors, name), id=name) for name in ("raw", "starlette", "fastapi")]
)
async def test_every_floor_answers_a_call_with_a_tool_message(app: ASGIApp) -> None:
    """Parsed, validated, run and serialized."""
    call = {"name": "echo", "args": {"text": "hi"}, "id": "call_1", "type": "tool_call"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://floor") as client:
        answer = await client.post("/tool_calls", json=call)

    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == MESSAGE


async def test_the_floor_of_models_reads_them() -> None:
    """All of them, as the tool does that it is compared with."""
    call = {"name": "take", "args": {"items": make_rows(3)}, "id": "call_1", "type": "tool_call"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(floors.starlette), base_url="http://floor") as client:
        answer = await client.post("/models", json=call)

    assert answer.json()["content"] == await take.ainvoke({"items": make_rows(3)}) == "3"
