"""The time that a client gives holds for calls that are remembered, too."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, GO, RAN, key, wait_for
from tests.kit.waiting import until

# Seconds, in which nobody says go.
SHORT = "timeout=0.05"
LATE = "Error: wait_for timed out after 0.05 seconds."
WAIT = {"Prefer": "wait=10"}


def _call(name: str = "a", tool: str = "wait_for", id: str = "1") -> dict[str, Any]:
    return {"name": tool, "args": {"name": name}, "id": id}


async def _begin(client: httpx.AsyncClient, path: str, body: Any, headers: Any = None) -> asyncio.Task[httpx.Response]:
    """Send a call, and return once its tool runs."""
    sent = asyncio.create_task(client.post(path, json=body, headers=headers))
    await until(lambda: RAN["a"] > 0)
    return sent


@pytest.mark.parametrize("headers", [key("k"), WAIT, key("k") | WAIT])
async def test_a_remembered_call_is_answered_in_time(serve: MakeClient, headers: dict[str, str]) -> None:
    """As any other; the tool is stopped."""
    client = await serve(wait_for)

    answer = await client.post(f"/tool_calls?{SHORT}", json=_call(), headers=headers)

    assert answer.json()["content"] == LATE


async def test_a_call_that_goes_on_alone_ends_in_time(serve: MakeClient) -> None:
    """A caller who asks for it later finds how; so does a repetition of it."""
    client = await serve(wait_for)

    accepted = await client.post(f"/tool_calls?{SHORT}", json=_call(), headers=ASYNC)
    ended = await client.get(accepted.headers["Location"], headers=WAIT)
    again = f"{accepted.headers['Location']}/replay?timeout=0.025"
    repeated = await client.post(again, json={"insist": True}, headers=WAIT)

    assert (accepted.status_code, ended.json()["status"]) == (202, "failed")
    assert ended.json()["message"]["content"] == LATE
    assert repeated.json()["content"] == "Error: wait_for timed out after 0.025 seconds."


async def test_a_call_that_goes_on_alone_waits_no_longer_for_a_place(serve: MakeClient) -> None:
    """It ends without having begun, where one without a deadline would come again."""
    client = await serve(wait_for, max_concurrency=1)
    first = await _begin(client, "/tool_calls", _call())

    accepted = await client.post(f"/tool_calls?{SHORT}", json=_call("b"), headers=ASYNC)
    ended = await client.get(accepted.headers["Location"], headers=WAIT)
    GO["a"].set()

    assert ended.json()["message"]["response_metadata"]["error"]["kind"] == "overloaded"
    assert (await first).json()["content"] == "a went"
    assert RAN["b"] == 0


async def test_whoever_sends_a_call_again_has_a_time_of_their_own(serve: MakeClient) -> None:
    """They are told where to ask for it; the call goes on for who sent it first."""
    client = await serve(wait_for)
    first = await _begin(client, "/tool_calls", _call(), key("k"))

    again = await client.post(f"/tool_calls?{SHORT}", json=_call(), headers=key("k"))
    GO["a"].set()

    assert (again.status_code, again.json()["status"]) == (202, "running")
    assert (await first).json()["content"] == "a went"
    assert RAN["a"] == 1


async def test_a_call_known_by_its_id_has_the_time_of_its_batch(serve: MakeClient) -> None:
    """Also where it came before and still runs."""
    known = tool(idempotency="tool_call_id")(wait_for.coroutine)
    client = await serve(known)
    first = await _begin(client, "/tool_calls/batch", [_call()])

    late = await client.post(f"/tool_calls/batch?{SHORT}", json=[_call(), _call(id="2")])
    GO["a"].set()

    assert [answer["content"] for answer in late.json()] == [LATE] * 2
    assert (await first).json()[0]["content"] == "a went"
    assert RAN["a"] == 2


@pytest.mark.parametrize("headers", [key("k"), ASYNC])
async def test_an_approved_call_that_is_remembered_has_all_its_time(serve: MakeClient, headers: dict[str, str]) -> None:
    """The time of who sent it was for the answer that it waits."""
    approved = tool(requires_approval=True)(wait_for.coroutine)
    client = await serve(approved)
    await client.post("/tool_calls?timeout=0.001", json=_call(), headers=headers)
    while not (waiting := (await client.get("/approvals")).json()):  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(0.01)

    deciding = asyncio.create_task(client.post(f"/approvals/{waiting[0]['id']}", json={"decision": "approve"}))
    await until(lambda: RAN["a"] > 0)
    GO["a"].set()

    assert (await deciding).json()["message"]["content"] == "a went"


async def test_who_waits_for_a_call_that_is_queued_waits_no_longer(serve: MakeClient) -> None:
    """It has not begun by then, and so says nothing; once it is its turn it ends without."""
    client = await serve(wait_for, max_running_jobs=1)
    first = await _begin(client, "/tool_calls", _call(), WAIT)

    queued = await client.post(f"/tool_calls?{SHORT}", json=_call("b"), headers=WAIT)
    GO["a"].set()
    ended = await client.get(queued.headers["Location"], headers=WAIT)

    assert (queued.status_code, queued.json()["status"]) == (202, "queued")
    assert ended.json()["message"]["content"] == LATE
    assert ((await first).json()["content"], RAN["b"]) == ("a went", 0)
