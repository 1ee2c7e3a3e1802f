"""A dry run says what a call would do, and does nothing."""

from typing import Annotated, Any

import pytest

from sidecall import InjectedState, ToolException, tool
from tests.kit.clients import MakeClient

RAN: list[int] = []


@tool(requires_approval=lambda args: args["amount"] > 100)
async def refund(order: int, amount: float = 10.0) -> str:
    """Pay money back.

    Args:
        order: The order.
        amount: Euros.
    """
    RAN.append(order)
    return "paid"


@tool
async def recall(topic: str, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Remember.

    Args:
        topic: What.
    """
    raise ToolException(f"{topic} {state}")


def _call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": "call_1"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ({"order": 7}, {"args": {"order": 7, "amount": 10.0}, "requires_approval": False}),
        ({"order": 7, "amount": 500}, {"args": {"order": 7, "amount": 500.0}, "requires_approval": True}),
        ({"order": 7, "q": "x"}, {"args": {"order": 7, "amount": 10.0}, "ignored_args": ["q"]}),
    ],
)
async def test_a_dry_run_says_what_would_run(make_client: MakeClient, args: dict[str, Any], said: Any) -> None:
    """With defaults filled in, as the tool would get it, and whether a person would have to approve."""
    client = await make_client(refund)
    RAN.clear()

    answer = await client.post("/tool_calls?dry_run=true", json=_call("refund", **args))

    whole = {
        "would_run": True,
        "name": "refund",
        "tool_call_id": "call_1",
        "requires_approval": False,
        "repaired": [],
        "ignored_args": [],
        "preview": None,
        "preview_error": None,
        "message": None,
        "approval": None,
        "sign_in": None,
    }
    assert (answer.status_code, answer.json()) == (200, whole | said)
    assert RAN == []
    assert (await client.get("/approvals")).json() == []


@pytest.mark.parametrize(
    ("call", "content"),
    [
        (_call("refund", order="x"), "order: "),
        (_call("refnd", order=1), "Error: refnd is not a valid tool, try one of [refund]."),
    ],
)
async def test_a_dry_run_of_a_wrong_call_has_the_answer(make_client: MakeClient, call: Any, content: str) -> None:
    """In the dialect of the call or the one that was asked for."""
    client = await make_client(refund)

    answer = (await client.post("/tool_calls?dry_run=1&format=anthropic", json=call)).json()

    assert (answer["would_run"], answer["args"], answer["message"]["is_error"]) == (False, None, True)
    assert answer["message"]["content"].startswith(content)


def look_up(order: int, state: dict[str, Any]) -> dict[str, Any]:
    """Say what deleting an order would do."""
    if order == 0:
        raise ToolException("There is no order 0.")
    return {"order": order, "owner": state["users"][order]}


@tool(requires_approval=True, preview=look_up)
async def delete(order: int, hard: bool, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Delete an order.

    Args:
        order: The order.
        hard: For good.
    """
    RAN.append(order)
    return "deleted"


FAILED = "The preview failed. The details are in the log."


@pytest.mark.parametrize(
    ("order", "shown"),
    [
        (1, ({"order": 1, "owner": "Ada"}, None)),
        (0, (None, "There is no order 0.")),
        (7, (None, FAILED)),
    ],
)
async def test_a_person_sees_what_a_dry_run_shows(make_client: MakeClient, order: int, shown: Any) -> None:
    """What the tool's author has to say of the arguments; one that fails harms neither the dry run nor the approval."""
    client = await make_client(delete)
    RAN.clear()
    call = {**_call("delete", order=str(order), hard=True), "state": {"users": ["", "Ada"]}}

    dry = (await client.post("/tool_calls?dry_run=true", json=call)).json()
    waiting = await client.post("/tool_calls", json=call)
    kept = (await client.get(waiting.headers["Location"])).json()
    (listed,) = (await client.get("/approvals")).json()
    decided = (await client.post(waiting.headers["Location"], json={"decision": "approve"})).json()

    assert waiting.status_code == 202
    assert dry["would_run"]
    for told in (dry, waiting.json(), kept, decided):
        assert (told["preview"], told["preview_error"]) == shown
    assert "preview" not in listed
    assert (decided["message"]["content"], RAN) == ("deleted", [order])
    assert (await client.get("/tools/delete")).json()["has_preview"]


async def test_a_call_that_would_not_run_has_no_preview(make_client: MakeClient) -> None:
    """Its arguments are wrong."""
    client = await make_client(delete)
    call = {**_call("delete", order=1), "state": {"users": ["", "Ada"]}}

    dry = (await client.post("/tool_calls?dry_run=true", json=call)).json()

    assert (dry["would_run"], dry["preview"], dry["preview_error"]) == (False, None, None)


async def test_a_dry_run_needs_what_the_call_needs(make_client: MakeClient) -> None:
    """What the program left out is told to the program; with it the call would run."""
    client = await make_client(recall)
    call = _call("recall", topic="a")

    without = await client.post("/tool_calls?dry_run=true", json=call)
    beside = await client.post("/tool_calls?dry_run=true", json={**call, "state": {"a": 1}})

    assert (without.status_code, without.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
    assert (beside.status_code, beside.json()["args"]) == (200, {"topic": "a"})


async def test_a_dry_run_of_a_call_that_waits_names_its_approval(make_client: MakeClient) -> None:
    """It would run once a person has approved it."""
    client = await make_client(refund)
    call = _call("refund", order=7, amount=500)
    waiting = (await client.post("/tool_calls", json=call)).json()

    answer = (await client.post("/tool_calls?dry_run=true", json=call)).json()

    assert (answer["would_run"], answer["requires_approval"], answer["message"]) == (True, True, None)
    assert (answer["approval"]["id"], answer["approval"]["status"]) == (waiting["id"], "pending")


@pytest.mark.parametrize(
    ("decision", "content"),
    [({"decision": "approve"}, "paid"), ({"decision": "reject", "reason": "Too much."}, "Too much.")],
)
async def test_a_dry_run_of_a_decided_call_has_the_answer_of_then(
    make_client: MakeClient, decision: Any, content: str
) -> None:
    """As the call itself would: it never runs a second time."""
    client = await make_client(refund)
    call = _call("refund", order=7, amount=500)
    waiting = (await client.post("/tool_calls", json=call)).json()
    await client.post(f"/approvals/{waiting['id']}", json=decision)
    RAN.clear()

    answer = (await client.post("/tool_calls?dry_run=true", json=call)).json()
    again = (await client.post("/tool_calls", json=call)).json()

    assert (answer["would_run"], answer["args"], answer["approval"]) == (False, None, None)
    assert content in answer["message"]["content"]
    assert answer["message"] == again
    assert RAN == []


async def test_a_batch_can_be_a_dry_run(make_client: MakeClient) -> None:
    """Each call in its place."""
    client = await make_client(refund)
    RAN.clear()

    calls = [_call("refund", order=1), _call("refund")]
    answers = (await client.post("/tool_calls/batch?dry_run=true", json=calls)).json()

    assert [answer["would_run"] for answer in answers] == [True, False]
    assert RAN == []
