"""A call that a person approves with other arguments runs with these to its end."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext, tool
from tests.kit.clients import MakeClient

BOB = {"X-User": "bob"}


@tool(requires_approval=lambda args: args["amount"] > 100)
async def send(amount: int, context: ToolContext) -> str:
    """Send an amount.

    Args:
        amount: How much; from 50 on, the fee is asked about in the middle.
    """
    if amount >= 50 and context.resumed is None:
        raise ApprovalRequired(f"Pay the fee for {amount}?", state=[amount])
    return f"Sent {amount}, asked about {context.resumed}."


@pytest.fixture(params=["memory://", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where approvals are kept."""
    return request.param if request.param == "memory://" else f"sqlite:///{tmp_path}/ledger.db"


async def ask(client: httpx.AsyncClient, amount: int) -> str:
    """Send a call that waits, and return where."""
    response = await client.post("/tool_calls", json={"name": "send", "args": {"amount": amount}, "id": "1"})
    return response.headers["Location"]


async def approve(client: httpx.AsyncClient, place: str, **members: Any) -> Any:
    """Approve it as bob, and return what became of it."""
    return (await client.post(place, json={"decision": "approve", **members}, headers=BOB)).json()


async def test_a_question_in_the_middle_is_about_the_arguments_that_the_tool_began_with(
    make_client: MakeClient, store: str
) -> None:
    """It goes on with them, and shows them to whoever decides; the call that was asked for is known again."""
    client = await make_client(send, store=store, caller_header="X-User")
    place = await ask(client, 500)

    asking = await approve(client, place, args={"amount": 150})
    again = await ask(client, 500)
    ended = await approve(client, place)

    assert (asking["description"], asking["status"], again) == ("Pay the fee for 150?", "pending", place)
    assert (asking["tool_call"]["args"], asking["asked_args"]) == ({"amount": 150}, {"amount": 500})
    assert (ended["tool_call"]["args"], ended["asked_args"]) == ({"amount": 150}, {"amount": 500})
    assert ended["message"]["content"] == "Sent 150, asked about [150]."
