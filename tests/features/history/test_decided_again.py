"""A call that was decided about stands in the history once, however often it is sent again."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.kernel.ports.call_entry import HistoryMode
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, key

CALL = {"name": "refund", "args": {"order": 7}, "id": "1"}
EDITED = {"decision": "approve", "args": {"order": 8}, "reason": "Seven is paid."}
REJECTED = {"decision": "reject", "reason": "Paid."}
ALWAYS: list[Any] = [{"decision": "approve", "always": True}, {**REJECTED, "always": True}]
BOB = {"X-User": "bob"}
DECISIONS: list[Any] = [
    pytest.param({"decision": "approve"}, ("succeeded", None, {"order": 7}, None, None), id="approved"),
    pytest.param(EDITED, ("succeeded", None, {"order": 8}, {"order": 7}, "Seven is paid."), id="edited"),
    pytest.param(REJECTED, ("failed", "rejected", {"order": 7}, None, "Paid."), id="rejected"),
]


@tool(requires_approval=True)
async def refund(order: int) -> str:
    """Refund an order.

    Args:
        order: Its number.
    """
    return f"refunded {order}"


async def decide(client: httpx.AsyncClient, decision: dict[str, Any]) -> str:
    """Send the call, decide about it as bob, and return the id of its approval."""
    place = (await client.post("/tool_calls", json=CALL)).headers["Location"]
    approval_id: str = (await client.post(place, json=decision, headers=BOB)).json()["id"]
    return approval_id


def choose(shown: dict[str, Any]) -> tuple[Any, ...]:
    """Return how a call ended, with which arguments, and what was said of it."""
    return shown["status"], shown["kind"], shown["args"], shown["asked_args"], shown["reason"]


@pytest.mark.parametrize(("decision", "expected"), DECISIONS)
async def test_an_answer_that_is_given_again_is_no_call(
    make_client: MakeClient, store: str, decision: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    """Neither in lists and sums nor in metrics."""
    client = await make_client(refund, store=store, caller_header="X-User")
    approval_id = await decide(client, decision)
    metrics = (await client.get("/metrics")).text

    again = [await client.post("/tool_calls", json=CALL) for _ in range(2)]
    batch = await client.post("/tool_calls/batch", json=[CALL])
    [listed] = (await client.get("/tool_calls")).json()
    total = (await client.get("/tool_calls/summary?by=name")).json()["total"]

    assert [answer.json() for answer in again] == batch.json() * 2
    assert choose(listed) == expected
    assert (listed["decided_by"], listed["approval_id"], total["calls"]) == ("bob", approval_id, 1)
    assert read_calls((await client.get("/metrics")).text) == read_calls(metrics)


def read_calls(metrics: str) -> list[str]:
    """Return what metrics say of calls that ended and that run."""
    names = ("sidecall_calls_total", "sidecall_calls_in_flight", "sidecall_call_duration_seconds_count")
    return [line for line in metrics.splitlines() if line.startswith(names)]


@pytest.mark.parametrize("history", ["full", "off"])
@pytest.mark.parametrize("headers", [ASYNC, key("k")], ids=["async", "key"])
@pytest.mark.parametrize(("decision", "expected"), DECISIONS)
async def test_a_remembered_repetition_shows_what_was_decided(
    make_client: MakeClient,
    store: str,
    decision: dict[str, Any],
    expected: tuple[Any, ...],
    headers: dict[str, str],
    history: HistoryMode,
) -> None:
    """With the arguments that ran, at once and afterwards; nothing runs again, and no sum counts it."""
    client = await make_client(refund, store=store, caller_header="X-User", drain_timeout=0, history=history)
    approval_id = await decide(client, decision)
    approval = (await client.get(f"/approvals/{approval_id}")).json()

    sent = await client.post("/tool_calls", json=CALL, headers=headers)
    listed = (await client.get("/tool_calls?limit=1")).json()[0]
    shown = (await client.get(f"/tool_calls/{listed['id']}", headers={"Prefer": "wait=10"})).json()

    assert sent.is_success
    assert shown["is_durable"]
    assert choose(shown) == expected
    assert (shown["decided_by"], shown["decided_at"]) == ("bob", approval["decided_at"])
    assert (shown["approval_id"], shown["message"]) == (approval_id, approval["message"])
    if history == "full":
        assert (await client.get("/tool_calls/summary?by=name")).json()["total"]["calls"] == 1


@pytest.mark.parametrize("decision", ALWAYS, ids=["approve", "reject"])
@pytest.mark.parametrize("headers", [{}, ASYNC, key("k")], ids=["plain", "async", "key"])
async def test_whoever_has_decided_about_all_calls_is_shown(
    make_client: MakeClient, store: str, decision: dict[str, Any], headers: dict[str, str]
) -> None:
    """Of remembered calls as of plain ones, with when and why."""
    client = await make_client(refund, store=store, caller_header="X-User", drain_timeout=0)
    approval_id = await decide(client, decision)
    approval = (await client.get(f"/approvals/{approval_id}")).json()

    await client.post("/tool_calls", json={**CALL, "id": "2"}, headers=headers)
    listed = (await client.get("/tool_calls?limit=1")).json()[0]
    shown = (await client.get(f"/tool_calls/{listed['id']}", headers={"Prefer": "wait=10"})).json()

    [rule] = (await client.get("/approvals/rules")).json()
    said = (rule["decided_by"], rule["decided_at"], approval["reason"], None)
    assert (shown["tool_call_id"], shown["is_durable"]) == ("2", headers != {})
    assert (shown["decided_by"], shown["decided_at"], shown["reason"], shown["approval_id"]) == said
