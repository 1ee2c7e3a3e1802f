"""Each decision and each kind of refusal is written down, for those who operate the server."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.features.access.api_keys import KeyFile
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

CALL = {"name": "refund", "args": {"amount": 5}, "id": "call_1", "type": "tool_call"}


@tool(requires_approval=True)
async def refund(amount: int) -> str:
    """Pay money back.

    Args:
        amount: How much.
    """
    return f"Refunded {amount}."


@tool(scopes=["orders:write"])
async def cancel(order: int) -> str:
    """Cancel an order.

    Args:
        order: Which.
    """
    return f"Cancelled {order}."


CALLERS = {
    "ann": ("tools:call", "approvals:decide"),
    "bob": ("tools:call",),
    "eve": ("approvals:decide",),
    "oscar": ("server:operate",),
}


@pytest.fixture
def headers(tmp_path: Path) -> dict[str, dict[str, str]]:
    """Give callers keys; zoe operates in another tenant."""
    path = tmp_path / "keys.jsonl"
    return write_keys(path, CALLERS) | write_keys(path, {"zoe": ("*",)}, "other")


@pytest.fixture
async def client(make_client: MakeClient, headers: Any, tmp_path: Path) -> httpx.AsyncClient:
    """Give a client of a server that knows callers by keys."""
    return await make_client(refund, cancel, auth=("api_key",), keys_file=tmp_path / "keys.jsonl")


async def _list(client: httpx.AsyncClient, headers: Any, who: str = "oscar", **query: Any) -> list[dict[str, Any]]:
    response = await client.get("/audit", params=query, headers=headers[who])
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


async def _decide(client: httpx.AsyncClient, headers: Any, decision: Any, who: str = "eve") -> httpx.Response:
    waiting = await client.post("/tool_calls", json=CALL, headers=headers["ann"])
    return await client.post(waiting.headers["Location"], json=decision, headers=headers[who])


async def test_decisions_are_written_down(client: httpx.AsyncClient, headers: Any) -> None:
    """Who, when, about what; and what of it holds for later."""
    approved = (await _decide(client, headers, {"decision": "approve", "always": True})).json()
    [rule] = (await client.get("/approvals/rules", headers=headers["eve"])).json()
    await client.delete(f"/approvals/rules/{rule['id']}", headers=headers["eve"])
    decided = [
        (entry["action"], entry["by"], entry["details"]) for entry in reversed(await _list(client, headers, by="eve"))
    ]

    assert approved["status"] == "approved"
    assert decided == [
        ("approved", "eve", {"reason": None, "edited": False}),
        ("rule_made", "eve", {"tool": "refund", "caller": "ann", "decision": "approve", "approval": approved["id"]}),
        ("rule_revoked", "eve", {}),
    ]


async def test_a_rejection_is_written_down(client: httpx.AsyncClient, headers: Any) -> None:
    """With the reason."""
    rejected = (await _decide(client, headers, {"decision": "reject", "reason": "No."})).json()
    [entry] = await _list(client, headers, action="rejected")

    assert (entry["target"], entry["details"]["reason"]) == (rejected["id"], "No.")


async def test_keys_are_written_down(client: httpx.AsyncClient, headers: Any, tmp_path: Path) -> None:
    """When they were made, also before the server began."""
    made = await _list(client, headers, action="key_made")

    assert {entry["details"]["subject"] for entry in made} == set(CALLERS)
    assert "sha256" not in str(made)
    assert len(await _list(client, headers, "zoe", action="key_made")) == 1


async def test_refusals_of_one_kind_are_one_entry(client: httpx.AsyncClient, headers: Any) -> None:
    """Nobody fills the store with them."""
    for _ in range(20):
        await client.get("/metrics", headers=headers["bob"])
        await client.get("/tools")
        await client.get("/tools", headers={"X-API-Key": "sidecall_wrong"})
        await client.post("/tool_calls", json={"name": "cancel", "args": {"order": 1}}, headers=headers["bob"])
    denied = await _list(client, headers, action="denied")

    assert {(entry["by"], entry["target"], entry["details"]["reason"], entry["count"]) for entry in denied} == {
        ("bob", None, "lacks the scope server:operate", 20),
        ("bob", "cancel", "lacks a scope of the tool", 20),
        (None, None, "no credential", 20),
        (None, None, "wrong credential", 20),
    }


async def test_a_refusal_to_approve_ones_own_call_is_written_down(client: httpx.AsyncClient, headers: Any) -> None:
    """It is the one that an auditor looks for."""
    answer = await _decide(client, headers, {"decision": "approve"}, "ann")
    [entry] = await _list(client, headers, action="denied")

    assert answer.status_code == 403
    assert (entry["by"], entry["details"]) == ("ann", {"reason": "lacks the scope approvals:decide_own"})


async def test_the_audit_takes_a_scope(client: httpx.AsyncClient, headers: Any) -> None:
    """That of the operator of the server."""
    assert (await client.get("/audit", headers=headers["eve"])).status_code == 403
    assert (await client.get("/audit?acton=denied", headers=headers["oscar"])).status_code == 422


async def test_pages_lead_on(client: httpx.AsyncClient, headers: Any) -> None:
    """By the header `Link`."""
    first = await client.get("/audit?limit=3", headers=headers["oscar"])
    second = await client.get(first.links["next"]["url"], headers=headers["oscar"])

    assert (len(first.json()), len(second.json())) == (3, 1)
    assert "next" not in second.links


async def test_a_revoked_key_is_written_down(make_client: MakeClient, headers: Any, tmp_path: Path) -> None:
    """It says which, and not by whom, since the file does not."""
    file = KeyFile(tmp_path / "keys.jsonl")
    file.change(lambda keys: [key.revoke() if key.subject == "bob" else key for key in keys])
    client = await make_client(refund, auth=("api_key",), keys_file=file.path)
    [entry] = await _list(client, headers, action="key_revoked")

    assert (entry["by"], entry["details"]["subject"]) == (None, "bob")


async def test_the_log_has_it_too(client: httpx.AsyncClient, headers: Any, caplog: pytest.LogCaptureFixture) -> None:
    """For those who collect logs."""
    caplog.set_level(logging.INFO, "sidecall.audit")
    await _decide(client, headers, {"decision": "reject", "reason": "No."})
    lines = [record for record in caplog.records if record.name == "sidecall.audit" and record.msg == "audit: %s"]

    assert [(vars(line)["action"], vars(line)["by"]) for line in lines][-1] == ("rejected", "eve")
