"""A call about which a person has decided says so for as long as it is kept."""

import json
from typing import Annotated, Any

import httpx
import pytest

from sidecall import Secret, tool
from sidecall.kernel.ports.call_entry import HistoryMode
from tests.kit.clients import MakeClient
from tests.kit.remembered import key

EDITED = {"decision": "approve", "args": {"order": 8, "api_key": "k-2"}}


@tool(requires_approval=True)
async def refund(order: int, api_key: str = "") -> str:
    """Refund an order.

    Args:
        order: Its number.
        api_key: Of the one who refunds.
    """
    return f"refunded {order}"


@tool(requires_approval=True)
async def send(text: str, key: Annotated[str, Secret("DECIDED_KEY")]) -> str:
    """Send a text.

    Args:
        text: What.
    """
    return f"sent {text} with {len(key)}"


async def decide(
    client: httpx.AsyncClient, name: str, decision: dict[str, Any], headers: dict[str, str] | None = None, **args: Any
) -> tuple[str, str]:
    """Call a tool, decide about the call, and return the ids of the call and of its approval."""
    body = {"name": name, "args": args, "id": "1"}
    place = (await client.post("/tool_calls", json=body, headers=headers)).headers["Location"]
    decided = (await client.post(place, json=decision, headers={"X-User": "bob"})).json()
    return decided["message"]["id"], decided["id"]


def choose(shown: dict[str, Any]) -> tuple[Any, ...]:
    """Return what is said of the decision."""
    return shown["args"], shown["asked_args"], shown["decided_by"], shown["approval_id"]


async def test_both_arguments_are_shown_and_who_decided(make_client: MakeClient, store: str) -> None:
    """In the list, too; secrets of neither."""
    client = await make_client(refund, store=store, caller_header="X-User")

    call_id, approval_id = await decide(client, "refund", EDITED, order=7, api_key="k-1")
    shown = (await client.get(f"/tool_calls/{call_id}")).json()
    [listed] = (await client.get("/tool_calls")).json()

    expected = ({"order": 8, "api_key": "[redacted]"}, {"order": 7, "api_key": "[redacted]"}, "bob", approval_id)
    assert choose(shown) == choose(listed) == expected
    approval = (await client.get(f"/approvals/{approval_id}")).json()
    assert (shown["decided_at"], shown["reason"]) == (approval["decided_at"], None)
    assert (shown["status"], shown["message"]["content"]) == ("succeeded", "refunded 8")


async def test_arguments_that_were_approved_as_they_are_are_shown_once(make_client: MakeClient) -> None:
    """With who has approved them."""
    client = await make_client(refund, caller_header="X-User")

    call_id, approval_id = await decide(client, "refund", {"decision": "approve"}, order=7)
    shown = (await client.get(f"/tool_calls/{call_id}")).json()

    assert choose(shown) == ({"order": 7}, None, "bob", approval_id)


@pytest.mark.parametrize("history", ["full", "meta", "off"])
async def test_a_remembered_call_shows_the_same(make_client: MakeClient, store: str, history: HistoryMode) -> None:
    """As long as it is kept, which is longer than its approval; the history does not count for that."""
    client = await make_client(refund, store=store, caller_header="X-User", drain_timeout=0, history=history)

    decision = EDITED | {"reason": "Seven is paid."}
    call_id, approval_id = await decide(client, "refund", decision, key("k"), order=7, api_key="k-1")
    shown = (await client.get(f"/tool_calls/{call_id}", headers={"Prefer": "wait=10"})).json()
    [listed] = (await client.get("/tool_calls")).json()
    exported = json.loads((await client.get("/tool_calls/export")).text)
    approval = (await client.get(f"/approvals/{approval_id}")).json()

    expected = ({"order": 8, "api_key": "[redacted]"}, {"order": 7, "api_key": "[redacted]"}, "bob", approval_id)
    assert choose(shown) == choose(listed) == choose(exported) == expected
    assert shown["reason"] == exported["reason"] == "Seven is paid."
    assert shown["decided_at"] == exported["decided_at"] == approval["decided_at"]


async def test_a_remembered_call_says_who_has_rejected_it(make_client: MakeClient, store: str) -> None:
    """And why."""
    client = await make_client(refund, store=store, caller_header="X-User", drain_timeout=0)

    body = {"name": "refund", "args": {"order": 7}, "id": "1"}
    answer = await client.post("/tool_calls", json=body, headers=key("k"))
    place = answer.headers["Location"]
    await client.post(place, json={"decision": "reject", "reason": "Paid."}, headers={"X-User": "bob"})
    [listed] = (await client.get("/tool_calls")).json()

    assert (listed["kind"], listed["decided_by"], listed["reason"], listed["asked_args"]) == (
        "rejected",
        "bob",
        "Paid.",
        None,
    )


async def test_what_a_tool_was_given_as_a_secret_is_not_shown(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the model has it from."""
    monkeypatch.setenv("DECIDED_KEY", "canary-4711")
    client = await make_client(send, caller_header="X-User")

    decision = {"decision": "approve", "args": {"text": "no canary-4711"}}
    call_id, _ = await decide(client, "send", decision, text="canary-4711")
    shown = (await client.get(f"/tool_calls/{call_id}")).json()

    assert (shown["args"], shown["asked_args"]) == ({"text": "no [redacted]"}, {"text": "[redacted]"})


async def test_who_has_decided_about_all_calls_is_shown(make_client: MakeClient) -> None:
    """Of those that follow, which have waited for nobody."""
    client = await make_client(refund, caller_header="X-User")
    await decide(client, "refund", {"decision": "approve", "always": True}, order=7)

    answer = await client.post("/tool_calls", json={"name": "refund", "args": {"order": 8}, "id": "2"})
    shown = (await client.get(f"/tool_calls/{answer.json()['id']}")).json()

    assert choose(shown) == ({"order": 8}, None, "bob", None)


async def test_without_arguments_it_is_known_who_decided(make_client: MakeClient) -> None:
    """And about which approval."""
    client = await make_client(refund, history="meta", caller_header="X-User")

    call_id, approval_id = await decide(client, "refund", EDITED, order=7)
    shown = (await client.get(f"/tool_calls/{call_id}")).json()

    assert choose(shown) == (None, None, "bob", approval_id)
