"""A remembered call that a person has let begin says so while it waits again, and however it ends."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext
from sidecall import tool as make_tool
from tests.kit.clients import MakeClient
from tests.kit.clocks import approval_clock
from tests.kit.events import numbered_events_in
from tests.kit.ledgers import Clock
from tests.kit.remembered import ASYNC, GO, RAN, key, refund, send
from tests.kit.waiting import until

__all__ = ["approval_clock"]

ADA, BOB = {"X-User": "ada"}, {"X-User": "bob"}
BEGUN_BY_ADA = {"args": {"order": "b"}, "asked_args": {"order": "a"}, "decided_by": "ada", "reason": "Rather b."}
CANCELLED_BY_BOB = {**BEGUN_BY_ADA, "decided_by": "bob", "reason": "The call was cancelled."}
HALF = "Error: nobody decided in time about what this call asked; it had begun, and may have had effects."


@make_tool(requires_approval=True)
async def ship(order: str, context: ToolContext) -> str:
    """Ship a part of an order once somebody says go, and ask about the rest.

    Args:
        order: Which.
        context: What was said.
    """
    RAN[order] += 1
    if context.resumed is None:
        await GO.setdefault(order, asyncio.Event()).wait()
        raise ApprovalRequired("The rest, too?", state={"shipped": order})
    return f"shipped {order}"


@pytest.fixture(params=["memory://", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where calls are kept."""
    return request.param if request.param == "memory://" else f"sqlite:///{tmp_path}/ledger.db"


async def hold(client: httpx.AsyncClient, tool: str, headers: dict[str, str], order: str = "a") -> dict[str, Any]:
    """Send a call, and return how it stands once it waits."""
    await send(client, tool, headers=headers, order=order)
    while True:
        listed = (await client.get("/tool_calls", params={"status": "awaiting_approval"})).json()
        for call in listed:
            if call["args"] == {"order": order}:
                return call
        await asyncio.sleep(0.01)


async def begin(client: httpx.AsyncClient, held: dict[str, Any]) -> httpx.Response:
    """Let it begin as ada, with other arguments."""
    said = {"decision": "approve", "args": {"order": "b"}, "reason": "Rather b."}
    return await client.post(f"/approvals/{held['approval_id']}", json=said, headers=ADA)


async def hold_again(client: httpx.AsyncClient, headers: dict[str, str]) -> str:
    """Let a call begin that asks again, and return where it is."""
    GO["b"] = asyncio.Event()
    GO["b"].set()
    held = await hold(client, "ship", headers)
    await begin(client, held)
    return f"/tool_calls/{held['id']}"


def pick(call: dict[str, Any]) -> dict[str, Any]:
    """Return what it says of the decision."""
    return {name: call[name] for name in BEGUN_BY_ADA}


@pytest.mark.parametrize("headers", [ASYNC, key("k")], ids=["job", "key"])
async def test_it_says_what_ran_and_who_has_let_it_while_it_waits_again(
    serve: MakeClient, store: str, headers: dict[str, str]
) -> None:
    """By itself and in lists; its end has the last word."""
    client = await serve(ship, store=store, caller_header="X-User")
    place = await hold_again(client, headers)

    waiting = (await client.get(place)).json()
    (listed,) = (await client.get("/tool_calls")).json()
    await client.post(f"/approvals/{waiting['approval_id']}", json={"decision": "approve"}, headers=BOB)
    ended = (await client.get(place)).json()

    assert (waiting["status"], pick(waiting)) == ("awaiting_approval", BEGUN_BY_ADA)
    assert pick(listed) == BEGUN_BY_ADA
    assert (ended["status"], pick(ended)) == ("succeeded", {**BEGUN_BY_ADA, "decided_by": "bob", "reason": None})


async def test_cancelled_there_it_says_what_ran(serve: MakeClient, store: str) -> None:
    """And who has cancelled it, as its approval does, and a call that is sent again."""
    client = await serve(ship, store=store, caller_header="X-User")
    place = await hold_again(client, ASYNC)

    cancelled = (await client.post(f"{place}/cancel", headers=BOB)).json()
    later = await send(client, "ship", headers=ASYNC, order="a")
    again = (await client.get(later.headers["Location"], headers={"Prefer": "wait=5"})).json()

    assert (cancelled["status"], pick(cancelled)) == ("cancelled", CANCELLED_BY_BOB)
    assert pick((await client.get(place)).json()) == CANCELLED_BY_BOB
    assert pick(again) == CANCELLED_BY_BOB


async def test_cancelled_before_it_began_it_says_by_whom(serve: MakeClient, store: str) -> None:
    """It has had no effects, and shows the arguments that were asked for."""
    client = await serve(refund, store=store, caller_header="X-User")
    held = await hold(client, "refund", ASYNC)

    cancelled = (await client.post(f"/tool_calls/{held['id']}/cancel", headers=BOB)).json()

    assert (cancelled["status"], cancelled["started_at"]) == ("cancelled", None)
    assert pick(cancelled) == {**CANCELLED_BY_BOB, "args": {"order": "a"}, "asked_args": None}


async def test_expired_there_it_says_what_ran_and_that_it_had_begun(
    serve: MakeClient, approval_clock: Clock, store: str
) -> None:
    """No matter what its tool does at first."""
    client = await serve(ship, store=store, caller_header="X-User", approval_ttl=60)
    place = await hold_again(client, ASYNC)
    approval_clock.now += 60

    ended = (await client.get(place)).json()
    while ended["status"] == "awaiting_approval":
        await asyncio.sleep(0.05)
        ended = (await client.get(place)).json()

    assert (ended["status"], ended["message"]["content"], pick(ended)) == ("expired", HALF, BEGUN_BY_ADA)


async def test_cancelled_while_it_runs_it_does_not_ask_again(serve: MakeClient, store: str) -> None:
    """An approved call goes on, and ends where it would wait for a person once more."""
    client = await serve(ship, store=store, caller_header="X-User")
    held = await hold(client, "ship", ASYNC)
    deciding = asyncio.ensure_future(begin(client, held))
    await until(lambda: RAN["b"] > 0)

    told = (await client.post(f"/tool_calls/{held['id']}/cancel", headers=BOB)).json()
    GO["b"].set()
    await deciding
    ended = (await client.get(f"/tool_calls/{held['id']}")).json()
    late = await client.post(f"/approvals/{held['approval_id']}", json={"decision": "approve"}, headers=BOB)

    assert (told["status"], ended["status"], late.status_code) == ("awaiting_approval", "cancelled", 409)


async def test_who_follows_it_hears_that_it_waits_again(serve: MakeClient, store: str) -> None:
    """Each time it asks."""
    client = await serve(ship, store=store, caller_header="X-User")
    GO["b"] = asyncio.Event()
    held = await hold(client, "ship", ASYNC)
    following = asyncio.ensure_future(client.get(f"/tool_calls/{held['id']}/events"))
    await asyncio.sleep(0.1)

    GO["b"].set()
    await begin(client, held)
    await asyncio.sleep(0.1)
    await client.post(f"/approvals/{held['approval_id']}", json={"decision": "approve"}, headers=BOB)
    events = numbered_events_in((await following).text)

    assert [data["status"] for _, kind, data in events if kind == "status"] == [
        "awaiting_approval",
        "awaiting_approval",
        "succeeded",
    ]
