"""How long a call waited for its turn and how often its tool ran are kept, wherever the call is."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import Cache, Retry, ToolException, tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC

tries: dict[str, int] = {}


@tool(retry=Retry(attempts=3, wait=0), annotations={"idempotent": True})
async def stumble(name: str, good: int = 3) -> str:
    """Fail until it was tried often enough.

    Args:
        name: Of this test.
        good: At which try it succeeds.
    """
    tries[name] = tries.get(name, 0) + 1
    if tries[name] < good:
        raise ToolException("not yet", retryable=True)
    return f"try {tries[name]}"


@tool(cache=Cache(ttl=60), annotations={"read_only": True, "idempotent": True})
async def look(word: str) -> str:
    """Look a word up.

    Args:
        word: Which.
    """
    return word


def make_gate() -> tuple[Any, asyncio.Event]:
    """Make a tool of which one call runs at a time, and what lets it go on."""
    opened = asyncio.Event()

    @tool(max_concurrency=1)
    async def pass_gate() -> str:
        """Wait until it is open."""
        await opened.wait()
        return "through"

    return pass_gate, opened


@pytest.fixture(params=["plain", "remembered"])
def headers(request: pytest.FixtureRequest) -> dict[str, str]:
    """How a call is sent."""
    return {} if request.param == "plain" else {**ASYNC, "Prefer": "wait=20"}


async def run(client: httpx.AsyncClient, wanted: str, headers: dict[str, str], **args: Any) -> dict[str, Any]:
    """Call a tool, and return what the list and the call itself say of it."""
    answer = (await client.post("/tool_calls", json={"name": wanted, "args": args, "id": "1"}, headers=headers)).json()
    shown: dict[str, Any] = (await client.get(f"/tool_calls/{answer['id']}")).json()
    [listed] = [it for it in (await client.get("/tool_calls")).json() if it["id"] == answer["id"]]
    assert {name: shown[name] for name in listed} == listed
    return shown


async def test_attempts_are_kept(make_client: MakeClient, store: str, headers: dict[str, str]) -> None:
    """Also of a call that never ran, and of one that was answered from a cache."""
    client = await make_client(stumble, look, store=store)
    key = f"{store} {headers}"

    found = {
        "third": await run(client, "stumble", headers, name=f"{key} a"),
        "first": await run(client, "stumble", headers, name=f"{key} b", good=1),
        "never": await run(client, "stumble", headers, name=f"{key} c", good=9),
        "wrong": await run(client, "stumble", headers, name=f"{key} d", good="x"),
        "asked": await run(client, "look", headers, word="tea"),
        "kept": await run(client, "look", headers, word="tea"),
    }

    assert {name: (it["attempts"], it["status"]) for name, it in found.items()} == {
        "third": (3, "succeeded"),
        "first": (1, "succeeded"),
        "never": (3, "failed"),
        "wrong": (0, "failed"),
        "asked": (1, "succeeded"),
        "kept": (0, "succeeded"),
    }
    said = found["third"]["message"]["response_metadata"].get("attempts")
    assert said in (3, None)  # The history keeps less of an answer than the calls that are remembered.
    assert "attempts" not in found["asked"]["message"]["response_metadata"]


async def test_the_wait_is_kept(make_client: MakeClient, store: str, headers: dict[str, str]) -> None:
    """Of one that came at once, and of one behind it."""
    gated, opened = make_gate()
    client = await make_client(gated, store=store)
    first = asyncio.create_task(run(client, "pass_gate", headers))
    while not (await client.get("/tool_calls?status=running")).json():  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0.01)
    second = asyncio.create_task(run(client, "pass_gate", headers))
    while not (await client.get("/status")).json()["calls"]["waiting"]:  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.15)  # So long it waits at least.
    opened.set()

    waits = [(await it)["queue_ms"] for it in (first, second)]

    assert waits[0] < waits[1]
    assert waits[1] > 100
