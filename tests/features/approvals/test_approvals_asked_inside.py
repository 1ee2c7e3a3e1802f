"""A tool that runs asks a person to decide about its own call."""

from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, Retry, ToolContext, tool
from tests.kit.clients import MakeClient
from tests.kit.events import events_in

RAN: list[str] = []


@tool(annotations={"idempotent": True}, retry=Retry(wait=0.0))
async def refund(amount: int, context: ToolContext) -> str:
    """Pay money back.

    Args:
        amount: How much.
    """
    RAN.append("yes" if context.approved else "no")
    if amount > 100 and not context.approved:
        raise ApprovalRequired(f"Pay {amount} back?", preview=f"{amount} euros go", payload={"balance": 700})
    return f"Refunded {amount}."


@tool(preview=lambda amount: f"lend {amount}")
def lend(amount: int) -> str:
    """Lend money, in a thread, no matter what a person says.

    Args:
        amount: How much.
    """
    raise ApprovalRequired


@tool
async def ask_strangely(case: str, context: ToolContext) -> str:
    """Ask about what cannot be shown.

    Args:
        case: Why not.
    """
    if context.approved:
        return "done"
    raise {
        "long": ApprovalRequired("x" * 1001, payload="x" * 20_000),
        "odd": ApprovalRequired("\ud800", preview=object()),
    }[case]


def _call(name: str = "refund", id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args or {"amount": 500}, "id": id, "type": "tool_call"}


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server with tools that ask."""
    RAN.clear()
    return await make_client(refund, lend, ask_strangely)


async def _wait(client: httpx.AsyncClient, call: Any = None) -> Any:
    response = await client.post("/tool_calls", json=call or _call())
    assert response.status_code == 202
    assert response.headers["Location"] == f"/approvals/{response.json()['id']}"
    return response.json()


async def _decide(client: httpx.AsyncClient, approval: Any, **decision: Any) -> Any:
    return (await client.post(f"/approvals/{approval['id']}", json={"decision": "approve", **decision})).json()


async def test_a_tool_that_asks_waits_for_a_person(client: httpx.AsyncClient) -> None:
    """Who decides reads what the tool says; it was run once, no matter what it says of attempts."""
    approval = await _wait(client)
    listed = (await client.get("/approvals")).json()

    assert {name: approval[name] for name in ("status", "description", "preview", "preview_error", "payload")} == {
        "status": "pending",
        "description": "Pay 500 back?",
        "preview": "500 euros go",
        "preview_error": None,
        "payload": {"balance": 700},
    }
    assert approval["tool_call"] == {"name": "refund", "args": {"amount": 500}, "id": "call_1", "type": "tool_call"}
    assert [(it["id"], it["description"]) for it in listed] == [(approval["id"], "Pay 500 back?")]
    assert RAN == ["no"]


async def test_an_approved_call_runs_from_the_top(client: httpx.AsyncClient) -> None:
    """The tool sees that it was approved, and is answered for once."""
    approval = await _wait(client)

    decided = await _decide(client, approval)
    again = await client.post("/tool_calls", json=_call())

    assert decided["message"]["content"] == "Refunded 500."
    assert (again.status_code, again.json()["content"]) == (200, "Refunded 500.")
    assert RAN == ["no", "yes"]


async def test_a_person_may_reject_or_change_the_call(client: httpx.AsyncClient) -> None:
    """As with a call that always waits."""
    rejected = await _decide(client, await _wait(client), decision="reject", reason="No receipt.")
    edited = await _decide(client, await _wait(client, _call(id="call_2")), args={"amount": 200})

    assert rejected["message"]["content"] == "No receipt."
    assert rejected["message"]["response_metadata"]["error"]["kind"] == "rejected"
    assert edited["message"]["content"] == "Refunded 200."
    assert RAN == ["no", "no", "yes"]


async def test_a_call_that_need_not_be_decided_runs_at_once(client: httpx.AsyncClient) -> None:
    """The tool alone knows."""
    response = await client.post("/tool_calls", json=_call(amount=20))

    assert (response.status_code, response.json()["content"]) == (200, "Refunded 20.")


async def test_who_asks_a_second_time_has_failed(client: httpx.AsyncClient) -> None:
    """No call asks for ever; in a thread too, where the tool's own preview is shown."""
    approval = await _wait(client, _call("lend"))

    decided = await _decide(client, approval)

    words = "A person has to approve this call."
    assert (approval["description"], approval["preview"], approval["payload"]) == (words, "lend 500", None)
    assert decided["message"]["status"] == "error"
    assert decided["message"]["response_metadata"]["error"]["kind"] == "execution_error"


@pytest.mark.parametrize(
    ("case", "shown"),
    [
        ("long", ["x" * 1000, None, "The payload is too long to be shown: 20,002 bytes, of 16,384 at most."]),
        ("odd", ["?", None, "The preview failed. The details are in the log."]),
    ],
)
async def test_what_cannot_be_shown_harms_no_call(client: httpx.AsyncClient, case: str, shown: list[Any]) -> None:
    """A person decides without it."""
    approval = await _wait(client, _call("ask_strangely", case=case))

    assert [approval["description"], approval["preview"], approval["preview_error"]] == shown
    assert (await _decide(client, approval))["message"]["content"] == "done"


async def test_in_a_batch_the_others_run(client: httpx.AsyncClient) -> None:
    """The one that waits is answered in its place."""
    response = await client.post("/tool_calls/batch", json=[_call(), _call(id="call_2", amount=20)])
    [waiting, done] = response.json()

    assert waiting["response_metadata"]["error"]["kind"] == "approval_required"
    approval_id = waiting["response_metadata"]["approval_id"]
    assert response.headers["X-Sidecall-Approvals"] == f"call_1={approval_id}"
    assert done["content"] == "Refunded 20."


async def test_in_a_stream_an_event_says_it(client: httpx.AsyncClient) -> None:
    """As with a call that always waits."""
    response = await client.post("/tool_calls", json=_call(), headers={"Accept": "text/event-stream"})
    [(kind, data), *_] = events_in(response.text)

    assert (kind, data["description"]) == ("approval", "Pay 500 back?")


async def test_a_remembered_call_awaits_its_approval(client: httpx.AsyncClient) -> None:
    """It has run to where it asks, and ends when a person has decided."""
    sent = await client.post("/tool_calls", json=_call(), headers={"Prefer": "respond-async"})
    place = sent.headers["Location"]
    waiting = await client.post("/tool_calls", json=_call(), headers={"Prefer": "wait=1"})
    for _ in range(200):
        held = (await client.get(place, headers={"Prefer": "wait=1"})).json()
        if held["status"] == "awaiting_approval":
            break
    await _decide(client, {"id": held["approval_id"]})
    ended = (await client.get(place, headers={"Prefer": "wait=20"})).json()

    assert waiting.status_code == 202
    assert (ended["status"], ended["message"]["content"]) == ("succeeded", "Refunded 500.")


async def test_a_test_sees_what_a_tool_asks() -> None:
    """Without a server, as of a tool that always waits."""
    with pytest.raises(ApprovalRequired) as caught:
        await refund.ainvoke(_call())
    assert caught.value.approval.description == "Pay 500 back?"
    assert (await refund.ainvoke(_call(), approved=True)).content == "Refunded 500."
    assert await refund.ainvoke({"amount": 20}) == "Refunded 20."
