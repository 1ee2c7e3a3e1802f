"""A call that was decided about has one answer, whichever server is asked, and whenever."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from sidecall import Registry
from sidecall.features.approvals.record import Decision
from sidecall.features.server_parts import Parts
from sidecall.kernel.core.messages import ToolMessage
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.remembered import ASYNC, RAN, refund

CALL = {"name": "refund", "args": {"order": "7"}, "id": "call_1"}
DECISIONS: list[Any] = [{"decision": "approve"}, {"decision": "reject", "reason": "No."}]


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give a database with nothing in it."""
    RAN.clear()
    empty: str = request.getfixturevalue("emptied_url") if request.param == "postgres" else ""
    return empty or f"sqlite:///{tmp_path / 'ledger.db'}"


@asynccontextmanager
async def serve(url: str, **settings: Any) -> AsyncIterator[tuple[httpx.AsyncClient, Parts]]:
    """Run a server on a database."""
    app = create_app(Settings(store=url, **settings), Registry([refund]))
    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        yield client, app.state.parts


@pytest.mark.parametrize("decision", DECISIONS, ids=["approve", "reject"])
async def test_the_answer_is_the_same_after_a_restart(url: str, decision: Any) -> None:
    """And nothing runs twice."""
    async with serve(url) as (client, _):
        waiting = await client.post("/tool_calls", json=CALL)
        decided = (await client.post(waiting.headers["Location"], json=decision)).json()
        before = await client.post("/tool_calls", json=CALL)
    async with serve(url) as (client, _):
        after = await client.post("/tool_calls", json=CALL)
        conflict = await client.post(waiting.headers["Location"], json={"decision": "approve"})

    assert (before.status_code, after.status_code, conflict.status_code) == (200, 200, 409)
    assert decided["message"] == before.json() == after.json()
    assert RAN["7"] == (decision["decision"] == "approve")


async def test_the_answer_is_the_same_from_another_server(emptied_url: str) -> None:
    """Whichever of them the person and the agent ask."""
    RAN.clear()
    async with serve(emptied_url) as (one, _), serve(emptied_url) as (two, _):
        waiting = await one.post("/tool_calls", json=CALL)
        again = await two.post("/tool_calls", json=CALL)
        decided = (await two.post(waiting.headers["Location"], json={"decision": "approve"})).json()
        answers = [(await client.post("/tool_calls", json=CALL)).json() for client in (one, two)]

    assert again.json() == waiting.json()
    assert answers == [decided["message"]] * 2
    assert RAN["7"] == 1


async def expire(url: str) -> None:
    """Let the time of all approvals be over."""
    statement = "UPDATE approvals SET expires_at = 1"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
            connection.execute(statement)
        connection.close()
        return
    linked = await asyncpg.connect(url)
    await linked.execute(statement)
    await linked.close()


async def hold(client: httpx.AsyncClient) -> dict[str, Any]:
    """Have a call accepted, and return what is known of it once it waits for a person."""
    place = (await client.post("/tool_calls", json=CALL, headers=ASYNC)).headers["Location"]
    for _ in range(1000):
        known: dict[str, Any] = (await client.get(place)).json()
        if known["status"] == "awaiting_approval":
            return known
        await asyncio.sleep(0.02)
    raise AssertionError(known)


async def test_a_call_whose_server_ended_before_it_heard_the_answer_has_it(url: str) -> None:
    """Though the approval has expired by then: it ran, and must not count as expired."""
    async with serve(url) as (client, parts):
        held = await hold(client)
        await parts.approvals.decide(held["approval_id"], Decision(decision="approve"), "eve")
        await parts.approvals.answer(held["approval_id"], ToolMessage(content="it ran"))
    await expire(url)
    async with serve(url) as (client, _):
        ended = (await client.get(f"/tool_calls/{held['id']}")).json()
        gone = (await client.get(f"/approvals/{held['approval_id']}")).status_code

    assert (ended["status"], ended["message"]["content"], gone) == ("succeeded", "it ran", 404)


async def test_a_call_that_nobody_has_decided_about_expires(url: str) -> None:
    """As before."""
    async with serve(url) as (client, _):
        held = await hold(client)
    await expire(url)
    async with serve(url) as (client, _):
        ended = (await client.get(f"/tool_calls/{held['id']}")).json()

    assert (ended["status"], RAN["7"]) == ("expired", 0)
