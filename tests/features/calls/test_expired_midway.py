"""A call that had begun, asked a person and was not decided about in time is in the history, since it had effects."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext
from sidecall import tool as make_tool
from tests.kit.clients import MakeClient
from tests.kit.clocks import approval_clock
from tests.kit.ledgers import Clock
from tests.kit.remembered import ASYNC, key, refund

__all__ = ["approval_clock"]

ADA = {"X-User": "ada"}
TTL = 60.0
HALF = "Error: nobody decided in time about what this call asked; it had begun, and may have had effects."


@make_tool(requires_approval=lambda args: args["order"] != "small")
async def ship(order: str, context: ToolContext) -> str:
    """Ship a part of an order, and ask about the rest.

    Args:
        order: Which.
        context: What was said.
    """
    raise ApprovalRequired("The rest, too?", state={"shipped": order})


@pytest.fixture(params=["memory://", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where approvals are kept."""
    return request.param if request.param == "memory://" else f"sqlite:///{tmp_path}/ledger.db"


async def send(client: httpx.AsyncClient, headers: Any = None, *, order: str = "a", batch: bool = False) -> None:
    """Send a call, alone or in a batch, and let it begin as ada with other arguments where a person is asked first."""
    call = {"name": "ship", "args": {"order": order}, "id": f"call_{order}"}
    await client.post("/tool_calls/batch" if batch else "/tool_calls", json=[call] if batch else call, headers=headers)
    waiting = await list_pending(client)
    while not waiting:  # A job begins to wait later.
        await asyncio.sleep(0.01)
        waiting = await list_pending(client)
    if waiting[0]["description"] is None:
        said = {"decision": "approve", "args": {"order": "b"}, "reason": "Rather b."}
        await client.post(f"/approvals/{waiting[0]['id']}", json=said, headers=ADA)


async def list_pending(client: httpx.AsyncClient) -> list[Any]:
    """List what waits."""
    return list((await client.get("/approvals", params={"status": "pending"})).json())


async def list_expired(client: httpx.AsyncClient, clock: Clock, tool: str, most: int) -> list[Any]:
    """Let all approvals expire, and list the calls of a tool that are shown as expired, once there are as many."""
    clock.now += TTL
    while True:
        await client.get("/approvals")
        await client.post("/tool_calls", json={"name": "refund", "args": {"order": "new"}, "id": "other"})
        listed = (await client.get("/tool_calls", params={"name": tool, "status": "expired"})).json()
        if len(listed) >= most:
            await asyncio.sleep(0.2)  # For one that should not come.
            return list((await client.get("/tool_calls", params={"name": tool, "status": "expired"})).json())
        for call in (await client.get("/tool_calls", params={"status": "awaiting_approval"})).json():
            await client.get(f"/tool_calls/{call['id']}")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("batch", [False, True], ids=["alone", "batch"])
async def test_a_plain_call_that_expires_in_the_middle_is_in_the_history(
    make_client: MakeClient, approval_clock: Clock, store: str, batch: bool
) -> None:
    """With what ran and who let it, once."""
    client = await make_client(ship, refund, store=store, caller_header="X-User", approval_ttl=TTL)
    await send(client, batch=batch)

    (call,) = await list_expired(client, approval_clock, "ship", 1)
    whole = (await client.get(f"/tool_calls/{call['id']}")).json()

    assert (call["status"], call["kind"], call["tool_call_id"]) == ("expired", "expired", "call_a")
    assert (call["args"], call["asked_args"]) == ({"order": "b"}, {"order": "a"})
    assert (call["decided_by"], call["reason"], call["is_durable"]) == ("ada", "Rather b.", False)
    assert whole["message"]["content"] == HALF


async def test_a_call_that_nobody_had_to_let_begin_is_there_too(
    make_client: MakeClient, approval_clock: Clock, store: str
) -> None:
    """One that had not begun is not, as before."""
    client = await make_client(ship, refund, store=store, caller_header="X-User", approval_ttl=TTL)
    await send(client, order="small")
    await client.post("/tool_calls", json={"name": "refund", "args": {"order": "large"}, "id": "1"})

    (call,) = await list_expired(client, approval_clock, "ship", 1)

    assert (call["args"], call["asked_args"], call["decided_by"]) == ({"order": "small"}, None, None)
    assert (await client.get("/tool_calls", params={"name": "refund"})).json() == []


@pytest.mark.parametrize("headers", [ASYNC, key("k")], ids=["job", "key"])
async def test_a_remembered_call_is_there_once(
    make_client: MakeClient, approval_clock: Clock, store: str, headers: dict[str, str]
) -> None:
    """As it keeps itself, and is not counted among plain ones."""
    client = await make_client(ship, refund, store=store, caller_header="X-User", approval_ttl=TTL)
    await send(client, headers)

    calls = await list_expired(client, approval_clock, "ship", 1)

    assert [(call["args"], call["decided_by"], call["is_durable"]) for call in calls] == [({"order": "b"}, "ada", True)]
