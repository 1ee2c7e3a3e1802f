"""A decision that names the question which was read answers no other one of the same call."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext, tool
from tests.kit.clients import MakeClient

CALL = {"name": "pay_twice", "args": {}, "id": "1"}


@tool
async def pay_twice(context: ToolContext) -> str:
    """Pay in two parts, and ask about each."""
    paid = context.resumed or 0
    if paid < 2:
        raise ApprovalRequired("Pay a part?", state=paid + 1)
    return "Paid both."


@pytest.fixture(params=["memory://", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where approvals are kept."""
    return request.param if request.param == "memory://" else f"sqlite:///{tmp_path}/ledger.db"


async def decide(client: httpx.AsyncClient, place: str, **members: Any) -> httpx.Response:
    """Send a decision."""
    return await client.post(place, json={"decision": "approve", **members})


async def test_a_decision_that_comes_again_does_not_answer_the_next_question(
    make_client: MakeClient, store: str
) -> None:
    """It names the one that was read; the next one waits on."""
    client = await make_client(pay_twice, store=store)
    first = await client.post("/tool_calls", json=CALL)
    place = first.headers["Location"]

    second = await decide(client, place, question=1)
    again = await decide(client, place, question=1)
    listed = (await client.get("/approvals")).json()
    ended = await decide(client, place, question=2)

    assert [it.json()["question"] for it in (first, second, ended)] == [1, 2, 2]
    assert (again.status_code, again.json()["type"]) == (409, "urn:sidecall:problem:approval-conflict")
    assert again.json()["detail"] == "Question 2 waits, not 1: read the approval, and decide anew."
    assert [(it["status"], it["question"]) for it in listed] == [("pending", 2)]
    assert ended.json()["message"]["content"] == "Paid both."


async def test_a_decision_that_names_no_question_answers_what_waits(make_client: MakeClient) -> None:
    """As it did before questions had numbers."""
    client = await make_client(pay_twice)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]

    await decide(client, place)
    ended = await decide(client, place)

    assert ended.json()["message"]["content"] == "Paid both."


async def test_what_is_no_number_of_a_question_is_refused(make_client: MakeClient) -> None:
    """They begin with 1."""
    client = await make_client(pay_twice)
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]

    assert (await decide(client, place, question=0)).status_code == 422
