"""`POST /tool_calls/{id}/replay` runs a call again that was sent before."""

import contextlib
import sqlite3
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, ToolAnnotations, ToolContext, tool
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, RAN, charge, key, refund, send

WAIT = {"Prefer": "wait=30"}


@tool(annotations=ToolAnnotations(read_only=True))
async def look_up(order: str, context: ToolContext) -> str:
    """Look an order up.

    Args:
        order: Which.
        context: Who asks, and for whom.
    """
    RAN[order] += 1
    return f"{order} for {context.caller.subject}, {context.state}, {context.context['shop']}: {RAN[order]}"


@pytest.fixture
def serve(make_client: MakeClient) -> MakeClient:
    """Give a function that makes a client of a server which waits for no call when it ends."""
    RAN.clear()
    return partial(make_client, drain_timeout=0)


async def _send_once(client: Any, name: str, **headers: str) -> str:
    body = {"name": name, "args": {"order": "a"}, "id": "call_1", "state": "open", "context": {"shop": "north"}}
    sent = await client.post("/tool_calls", json=body, headers={**ASYNC, **headers})
    ended = await client.get(sent.headers["Location"], headers=WAIT)
    return str(ended.json()["id"])


async def test_a_call_is_run_again_with_all_that_came_with_it(serve: MakeClient) -> None:
    """It is a new call that names the old one, for the caller who asks for it."""
    client = await serve(look_up, caller_header="X-User")
    first = await _send_once(client, "look_up", **{"X-User": "ann"})

    accepted = await client.post(f"/tool_calls/{first}/replay", headers={"X-User": "bob"})
    ended = (await client.get(accepted.headers["Location"], headers=WAIT)).json()

    assert (accepted.status_code, accepted.json()["replay_of"]) == (202, first)
    assert accepted.headers["Location"] == f"/tool_calls/{ended['id']}"
    assert ended["id"] != first
    assert (ended["replay_of"], ended["caller"], ended["args"]) == (first, "bob", {"order": "a"})
    assert ended["message"]["content"] == "a for bob, open, north: 2"


async def test_a_client_may_wait_for_the_answer(serve: MakeClient) -> None:
    """In the dialect that it wants."""
    client = await serve(look_up)
    first = await _send_once(client, "look_up")

    answer = await client.post(f"/tool_calls/{first}/replay?format=anthropic", headers=WAIT, json={})

    assert (answer.status_code, answer.json()["type"]) == (200, "tool_result")
    assert answer.json()["content"] == "a for anonymous, open, north: 2"


async def test_a_repetition_with_a_key_happens_once(serve: MakeClient) -> None:
    """The key stands for repetitions of this call, and not for the call itself."""
    client = await serve(charge)
    first = (await send(client, "charge", headers=key("k"), order="a")).json()["id"]
    again = {"url": f"/tool_calls/{first}/replay", "json": {"insist": True}, "headers": {**WAIT, **key("k")}}

    answers = [await client.post(**again) for _ in range(2)]

    assert [answer.json()["content"] for answer in answers] == ["charged a for the 2. time"] * 2
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true"]


async def test_a_tool_that_may_do_harm_runs_again_only_for_who_insists(serve: MakeClient) -> None:
    """The refusal says how to."""
    client = await serve(charge)
    first = await _send_once(client, "charge")

    refused = await client.post(f"/tool_calls/{first}/replay")
    accepted = await client.post(f"/tool_calls/{first}/replay", json=refused.json()["example"], headers=WAIT)

    assert (refused.status_code, refused.json()["type"]) == (409, "urn:sidecall:problem:not-repeatable")
    assert (accepted.status_code, accepted.json()["content"]) == (200, "charged a for the 2. time")


async def test_a_call_that_a_person_has_approved_waits_again(serve: MakeClient) -> None:
    """It is not known again as the one that was approved."""
    client = await serve(refund)
    waiting = await send(client, "refund", headers=key("k"), order="a")
    await client.post(waiting.headers["Location"], json={"decision": "approve"})
    (first,) = (await client.get("/tool_calls")).json()
    accepted = await client.post(f"/tool_calls/{first['id']}/replay", json={"insist": True})

    for _ in range(1000):
        held = (await client.get(accepted.headers["Location"])).json()
        if held["status"] == "awaiting_approval":
            break

    assert held["status"] == "awaiting_approval"
    assert held["approval_id"] != waiting.json()["id"]
    assert RAN["a"] == 1


@pytest.mark.parametrize(
    ("request_", "status", "slug"),
    [
        ({"json": {"insist": "yes"}}, 422, "invalid-replay"),
        ({"json": {"insits": True}}, 422, "invalid-replay"),
        ({"json": []}, 422, "invalid-replay"),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400, "malformed-json"),
        ({"content": b"{}"}, 415, "unsupported-media-type"),
        ({"headers": {"Prefer": "wait=soon"}}, 400, "invalid-preference"),
    ],
)
async def test_a_wrong_request_is_refused(serve: MakeClient, request_: Any, status: int, slug: str) -> None:
    """Before anything runs."""
    client = await serve(charge)
    first = await _send_once(client, "charge")

    refused = await client.post(f"/tool_calls/{first}/replay", **request_)

    assert (refused.status_code, refused.json()["type"]) == (status, f"urn:sidecall:problem:{slug}")
    assert RAN["a"] == 1


async def test_an_unknown_call_cannot_be_repeated(serve: MakeClient) -> None:
    """It is 404, as where it is asked for."""
    client = await serve(charge)

    answer = await client.post("/tool_calls/01a202d4-8e08-76c8-a6cd-81cabbcf02ac/replay", json={"insist": True})

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:unknown-call")


async def test_a_repetition_counts_toward_the_quota(serve: MakeClient) -> None:
    """As the first call did."""
    client = await serve(charge, rate_limit="2/hour")
    first = await _send_once(client, "charge")
    again = {"url": f"/tool_calls/{first}/replay", "json": {"insist": True}}

    answers = [await client.post(**again) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [202, 429]


async def test_a_call_whose_record_is_gone_cannot_be_repeated(serve: MakeClient, tmp_path: Path) -> None:
    """An operator may have taken it out of the file."""
    client = await serve(look_up, store=f"sqlite:///{tmp_path}/ledger.db")
    first = await _send_once(client, "look_up")
    with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as database, database:
        database.execute("UPDATE calls SET record = NULL")

    answer = await client.post(f"/tool_calls/{first}/replay")

    assert (answer.status_code, answer.json()["type"]) == (410, "urn:sidecall:problem:call-not-kept")


async def test_a_call_whose_tool_is_gone_cannot_be_repeated(tmp_path: Path) -> None:
    """The server was started again without it."""
    settings = Settings(store=f"sqlite:///{tmp_path}/ledger.db", drain_timeout=0)
    async with _client_of(create_app(settings, Registry([look_up]))) as client:
        first = await _send_once(client, "look_up")

    async with _client_of(create_app(settings, Registry([charge]))) as client:
        answer = await client.post(f"/tool_calls/{first}/replay", json={"insist": True})

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:unknown-tool")
    assert answer.json()["detail"] == "The call cannot be repeated: there is no tool look_up any more."


@contextlib.asynccontextmanager
async def _client_of(app: Application) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client,
    ):
        yield client
