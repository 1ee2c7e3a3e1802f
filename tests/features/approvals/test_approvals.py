"""A person decides over HTTP about calls that wait."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import httpx
import pytest

from sidecall import InjectedState, InjectedToolArg, ToolException, tool
from tests.kit.clients import MakeClient

APPROVE = {"decision": "approve"}
MADE_ANEW = ("id", "created_at", "expires_at", "request_id")


@tool(requires_approval=True)
async def delete_order(
    order: int,
    user: Annotated[str, InjectedState("user")] = "nobody",
    token: Annotated[str, InjectedToolArg] = "none",
) -> str:
    """Delete an order.

    Args:
        order: Its number.
        user: Who asks.
        token: What for.
    """
    return f"Deleted order {order} for {user} with {token}."


@tool(requires_approval=lambda args: args["amount"] > 100)
async def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    if amount > 1000:
        raise ToolException("Too much.")
    return f"Paid {amount}."


def _call(name: str = "delete_order", id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args or {"order": 7}, "id": id, "type": "tool_call"}


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server with two tools that want approval."""
    return await make_client(delete_order, pay)


async def _wait(client: httpx.AsyncClient, **call: Any) -> str:
    """Send a call that has to wait, and return where."""
    response = await client.post("/tool_calls", json={**_call(), **call})
    return response.headers["Location"]


async def test_a_call_that_has_to_be_approved_is_accepted(client: httpx.AsyncClient) -> None:
    """202 says where to ask; nothing has run."""
    response = await client.post("/tool_calls", json=_call())
    approval = response.json()
    lifetime = datetime.fromisoformat(approval["expires_at"]) - datetime.fromisoformat(approval["created_at"])

    assert (response.status_code, response.headers["Content-Type"]) == (202, "application/json")
    assert response.headers["Location"] == f"/approvals/{approval['id']}"
    assert UUID(approval["id"]).version == 7
    assert lifetime.total_seconds() == 3600
    assert {key: approval[key] for key in approval if key not in MADE_ANEW} == {
        "status": "pending",
        "question": 1,
        "tool_call": {"name": "delete_order", "args": {"order": 7}, "id": "call_1", "type": "tool_call"},
        "requested_by": "anonymous",
        "conversation_id": None,
        "trace_id": None,
        "decided_at": None,
        "decided_by": None,
        "reason": None,
        "always": False,
        "description": None,
        "preview": None,
        "preview_error": None,
        "payload": None,
        "sign_in": None,
        "tool_hash": (await client.get("/tools/delete_order")).json()["hash"],
        "asked_args": None,
        "message": None,
    }


async def test_an_approval_has_the_tool_that_a_decision_is_about(client: httpx.AsyncClient) -> None:
    """As the model reads it."""
    approval = (await client.post("/tool_calls", json=_call())).json()

    shown = (await client.get(f"/approvals/{approval['id']}")).json()
    described = (await client.get("/tools/delete_order")).json()
    assert shown == approval | {
        "tool_state": "same",
        "tool_description": "Delete an order.",
        "args_schema": described["args_schema"],
    }


async def test_an_approved_call_is_answered_to_the_person_and_to_the_client(client: httpx.AsyncClient) -> None:
    """With the state and the context that came beside it."""
    place = await _wait(client, state={"user": "bo"}, context={"token": "t"})

    decided = await client.post(place, json=APPROVE)
    polled = await client.get(place)

    assert decided.status_code == 200
    assert decided.json() == polled.json()
    assert (decided.json()["status"], decided.json()["decided_by"]) == ("approved", "anonymous")
    assert decided.json()["message"]["content"] == "Deleted order 7 for bo with t."
    assert decided.json()["message"]["tool_call_id"] == "call_1"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_1", "content": "No."}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_1", "output": "No."}),
        ("anthropic", {"type": "tool_result", "tool_use_id": "call_1", "content": "No.", "is_error": True}),
    ],
)
async def test_the_answer_has_the_form_that_is_asked_for(client: httpx.AsyncClient, form: str, message: Any) -> None:
    """It is given back to a model as it stands."""
    place = await _wait(client)

    pending = (await client.get(place, params={"format": form})).json()
    decided = (await client.post(place, params={"format": form}, json={"decision": "reject", "reason": "No."})).json()
    polled = (await client.get(place, params={"format": form})).json()

    assert (pending["message"], decided["message"], polled["message"]) == (None, message, message)


async def test_a_call_waits_in_the_form_of_any_provider(client: httpx.AsyncClient) -> None:
    """Its arguments are shown as what they say."""
    function = {"name": "delete_order", "arguments": '{"order": 7}'}

    response = await client.post("/tool_calls", json={"id": "call_1", "type": "function", "function": function})

    assert response.status_code == 202
    assert response.json()["tool_call"] == _call()


async def test_a_call_that_needs_no_approval_runs(client: httpx.AsyncClient) -> None:
    """The policy looks at the arguments."""
    small = await client.post("/tool_calls", json=_call("pay", amount="100"))
    large = await client.post("/tool_calls", json=_call("pay", amount="101"))

    assert (small.status_code, small.json()["content"]) == (200, "Paid 100.")
    assert large.status_code == 202


async def test_a_call_that_is_sent_again_waits_once(client: httpx.AsyncClient) -> None:
    """A client that lost the answer finds its approval; another call has its own."""
    first, again = await _wait(client), await _wait(client)
    other = await _wait(client, id="call_2")

    assert first == again != other
    assert len((await client.get("/approvals")).json()) == 2


async def _listed(client: httpx.AsyncClient, **query: str) -> list[str]:
    approvals = (await client.get("/approvals", params=query)).json()
    return [approval["tool_call"]["id"] for approval in approvals]


async def test_approvals_are_listed_oldest_first_and_by_status(client: httpx.AsyncClient) -> None:
    """People look for those that wait."""
    approved, rejected, _ = await _wait(client, id="1"), await _wait(client, id="2"), await _wait(client, id="3")
    await client.post(approved, json=APPROVE)
    await client.post(rejected, json={"decision": "reject"})

    assert await _listed(client) == ["1", "2", "3"]
    assert await _listed(client, status="pending") == ["3"]
    assert await _listed(client, status="approved") == ["1"]
    assert await _listed(client, status="rejected") == ["2"]


async def test_a_list_without_approvals_is_empty(client: httpx.AsyncClient) -> None:
    """It is no error that nobody waits."""
    response = await client.get("/approvals")

    assert (response.status_code, response.json()) == (200, [])


async def test_what_is_hidden_is_not_shown_to_the_person(client: httpx.AsyncClient) -> None:
    """Forged values are dropped, and secrets beside the call stay there."""
    forged = {"order": 7, "user": "forged", "token": "forged"}

    place = await _wait(client, args=forged, state={"user": "canary"}, context={"token": "canary"})
    shown = await client.get(place)

    assert shown.json()["tool_call"]["args"] == {"order": 7}
    assert "canary" not in shown.text
    assert "canary" not in (await client.get("/approvals")).text


async def test_a_person_may_change_the_arguments_but_not_what_is_hidden(client: httpx.AsyncClient) -> None:
    """What would be dropped is refused, so that it is not shown as what has run; the rest stays as it came."""
    place = await _wait(client, state={"user": "bo"})

    refused = await client.post(place, json={**APPROVE, "args": {"order": 8, "user": "eve"}})
    decided = (await client.post(place, json={**APPROVE, "args": {"order": 8}})).json()

    assert (refused.status_code, refused.json()["detail"]) == (422, "user: The tool has no such argument")
    assert decided["tool_call"]["args"] == {"order": 8}
    assert decided["message"]["content"] == "Deleted order 8 for bo with none."
    assert decided["message"]["response_metadata"]["ignored_args"] == []


MISTAKES: list[Any] = [
    pytest.param({}, "The body is not a decision: `decision`: Field required.", id="nothing"),
    pytest.param(
        {"decision": "maybe"},
        "The body is not a decision: `decision`: Input should be 'approve' or 'reject'.",
        id="word",
    ),
    pytest.param(
        {**APPROVE, "args": [7]}, "The body is not a decision: `args`: Input should be a JSON object.", id="array"
    ),
    pytest.param({**APPROVE, "args": {}}, "order: Field required (integer)", id="missing argument"),
    pytest.param(
        {"decision": "reject", "args": {"order": 8}},
        "`args` go with an approval only; say in `reason` what was wrong with the call.",
        id="rejected with arguments",
    ),
]


@pytest.mark.parametrize(("body", "detail"), MISTAKES)
async def test_a_mistake_of_the_person_decides_nothing(client: httpx.AsyncClient, body: Any, detail: str) -> None:
    """They are told, and can decide again."""
    place = await _wait(client)

    response = await client.post(place, json=body)

    assert (response.status_code, response.json()["type"]) == (422, "urn:sidecall:problem:invalid-decision")
    assert response.json()["detail"] == detail
    assert (await client.get(place)).json()["status"] == "pending"
    assert (await client.post(place, json=APPROVE)).status_code == 200


@pytest.mark.parametrize("misspelled", ["arguments", "arg", "Args"])
async def test_a_misspelled_member_runs_nothing(client: httpx.AsyncClient, misspelled: str) -> None:
    """The person wanted other arguments than the model's."""
    place = await _wait(client)

    response = await client.post(place, json={**APPROVE, misspelled: {"order": 8}})

    assert response.status_code == 422
    assert (await client.get(place)).json()["status"] == "pending"


@pytest.mark.parametrize("body", [b"null", b"[]", b'"approve"', b"7"])
async def test_a_body_that_is_no_object_is_not_blamed_on_arguments(client: httpx.AsyncClient, body: bytes) -> None:
    """A decision has none of that name."""
    place = await _wait(client)

    response = await client.post(place, content=body, headers={"Content-Type": "application/json"})

    assert response.status_code == 422
    assert "`arguments`" not in response.json()["detail"]
    assert response.json()["example"] == {"decision": "reject", "reason": "Ask for the order number first."}
