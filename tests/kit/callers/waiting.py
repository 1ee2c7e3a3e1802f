"""Calls that wait until their person has signed in."""

import asyncio
from typing import Any

import httpx


def write_token_call(number: int = 1, name: str = "list_mail", **args: Any) -> dict[str, Any]:
    """Write a call of a tool that acts for a person."""
    usual = {"folder": "inbox"} if name == "list_mail" else {}
    return {"name": name, "args": args or usual, "id": f"call_{number}"}


async def begin_to_wait(client: httpx.AsyncClient, call: dict[str, Any] | None = None, **headers: str) -> Any:
    """Send a call that needs approval, and return its approval."""
    response = await client.post("/tool_calls", json=call or write_token_call(), headers=headers)
    assert response.status_code == 202, response.text
    return response.json()


async def wait_for_answer(client: httpx.AsyncClient, approval_id: str, **headers: str) -> Any:
    """Wait until a call has its answer, and return its approval."""
    async with asyncio.timeout(60):
        while True:
            approval = (await client.get(f"/approvals/{approval_id}", headers=headers)).json()
            if approval["message"] is not None:
                return approval
            await asyncio.sleep(0.01)


async def wait_for_person(client: httpx.AsyncClient, approval_id: str) -> Any:
    """Wait until a call waits for a person's word, and not for their signing in, and return its approval."""
    async with asyncio.timeout(60):
        while True:
            approval = (await client.get(f"/approvals/{approval_id}")).json()
            if approval["status"] == "pending" and approval["sign_in"] is None:
                return approval
            await asyncio.sleep(0.01)
