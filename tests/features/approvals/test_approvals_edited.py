"""A call that a person approves with other arguments runs with these to its end, and its answer says so."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext, ToolException, tool
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
    if amount < 10:
        raise ToolException("Too little.")
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


def said(approval: Any) -> Any:
    """Return what the answer says of the decision."""
    return approval["message"]["response_metadata"].get("approval")


async def test_the_answer_says_what_ran_in_the_place_of_what_was_asked(make_client: MakeClient, store: str) -> None:
    """That of a failure too, and given again."""
    client = await make_client(send, store=store, caller_header="X-User")
    for amount, content in ((20, "Sent 20, asked about None."), (5, "Too little.")):
        call = {"name": "send", "args": {"amount": 500 + amount}, "id": "1"}
        place = (await client.post("/tool_calls", json=call)).headers["Location"]
        approval = await approve(client, place, args={"amount": amount})
        again = (await client.post("/tool_calls", json=call)).json()

        assert approval["message"]["content"] == content
        assert said(approval) == {"id": approval["id"], "decided_by": "bob", "args": {"amount": amount}}
        assert again == approval["message"]


async def test_an_answer_to_what_was_asked_says_nothing_of_it(make_client: MakeClient) -> None:
    """Whether its arguments came again or not."""
    client = await make_client(send)
    plain = await approve(client, place := await ask(client, 500))
    repeated = await approve(client, await ask(client, 600), args={"amount": 600})
    ended = [await approve(client, place), await approve(client, f"/approvals/{repeated['id']}")]

    assert (plain["description"], repeated["description"]) == ("Pay the fee for 500?", "Pay the fee for 600?")
    assert [(said(it), it["asked_args"]) for it in ended] == [(None, None)] * 2


async def test_a_question_in_the_middle_is_about_the_arguments_that_the_tool_began_with(
    make_client: MakeClient, store: str
) -> None:
    """It goes on with them, and shows them to the person who decides; the call that was asked for is known again."""
    client = await make_client(send, store=store, caller_header="X-User")
    place = await ask(client, 500)

    asking = await approve(client, place, args={"amount": 150})
    again = await ask(client, 500)
    ended = await approve(client, place)

    assert (asking["description"], asking["status"], again) == ("Pay the fee for 150?", "pending", place)
    assert (asking["tool_call"]["args"], asking["asked_args"]) == ({"amount": 150}, {"amount": 500})
    assert (ended["tool_call"]["args"], ended["asked_args"]) == ({"amount": 150}, {"amount": 500})
    assert ended["message"]["content"] == "Sent 150, asked about [150]."
    assert said(ended) == {"id": ended["id"], "decided_by": "bob", "args": {"amount": 150}}
