"""A decision holds for later calls of the same tool by the same caller."""

from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, ToolContext, tool
from sidecall.kernel.registry import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient

ALWAYS = {"decision": "approve", "always": True}
RAN: list[tuple[str, bool]] = []


@tool(requires_approval=True)
async def refund(amount: int, context: ToolContext) -> str:
    """Pay money back.

    Args:
        amount: How much.
    """
    RAN.append((context.tool_call_id, context.approved))
    return f"Refunded {amount}."


@tool
async def pay(amount: int, context: ToolContext) -> str:
    """Pay, after asking.

    Args:
        amount: How much.
    """
    RAN.append((context.tool_call_id, context.approved))
    if not context.approved:
        raise ApprovalRequired("Pay?")
    return f"Paid {amount}."


def _call(id: str = "call_1", name: str = "refund", amount: int = 5) -> dict[str, Any]:
    return {"name": name, "args": {"amount": amount}, "id": id, "type": "tool_call"}


def _from(who: str) -> dict[str, str]:
    return {"X-Caller": who}


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server that knows its callers, and keeps two rules."""
    RAN.clear()
    return await make_client(refund, pay, caller_header="X-Caller", max_approval_rules=2)


async def _send(client: httpx.AsyncClient, call: Any, who: str = "ada") -> httpx.Response:
    return await client.post("/tool_calls", json=call, headers=_from(who))


async def _decide(client: httpx.AsyncClient, call: Any, decision: Any, who: str = "ada") -> httpx.Response:
    """Send a call that waits, and decide about it as eve."""
    sent = await _send(client, call, who)
    assert sent.status_code == 202
    return await client.post(sent.headers["Location"], json=decision, headers=_from("eve"))


async def _rules(client: httpx.AsyncClient) -> Any:
    return (await client.get("/approvals/rules", headers=_from("eve"))).json()


@pytest.mark.parametrize("name", ["refund", "pay"])
async def test_an_approved_tool_asks_no_more(client: httpx.AsyncClient, name: str) -> None:
    """The answer says who has decided, and when."""
    decided = (await _decide(client, _call(name=name), ALWAYS)).json()
    later = await _send(client, _call("call_2", name, 7))
    [rule] = await _rules(client)
    said = later.json()["response_metadata"]["approval_rule"]

    assert decided["always"] is True
    assert later.status_code == 200
    assert said == {"id": rule["id"], "decision": "approve", "decided_by": "eve", "decided_at": rule["decided_at"]}
    assert RAN[-1] == ("call_2", True)
    assert {key: rule[key] for key in rule if key not in ("id", "decided_at", "definition")} == {
        "tool": name,
        "caller": "ada",
        "decision": "approve",
        "reason": None,
        "decided_by": "eve",
        "expires_at": None,
        "approval_id": decided["id"],
    }
    assert rule["definition"] == (await client.get(f"/tools/{name}", headers=_from("eve"))).json()["hash"]


@pytest.mark.parametrize("name", ["refund", "pay"])
async def test_a_rejected_tool_runs_no_more(client: httpx.AsyncClient, name: str) -> None:
    """The model reads the reason each time."""
    await _decide(client, _call(name=name), {"decision": "reject", "always": True, "reason": "Never."})
    later = (await _send(client, _call("call_2", name))).json()

    assert (later["content"], later["response_metadata"]["error"]["kind"]) == ("Never.", "rejected")
    assert later["response_metadata"]["approval_rule"]["decision"] == "reject"
    assert [ran for ran in RAN if ran[1]] == []


async def test_a_rule_is_nobody_elses(client: httpx.AsyncClient) -> None:
    """Neither another caller's nor another tool's."""
    await _decide(client, _call(), ALWAYS)

    assert (await _send(client, _call("call_2"), "bob")).status_code == 202
    assert (await _send(client, _call("call_2", "pay"))).status_code == 202
    assert (await _send(client, _call("call_2"))).status_code == 200


async def test_a_tool_that_has_changed_is_decided_about_anew() -> None:
    """Nobody has seen what it is now."""
    registry = Registry([refund])
    app = create_app(Settings(), registry)

    @tool("refund", requires_approval=True)
    async def changed(amount: int, to: str = "") -> str:
        """Pay money to anybody."""
        return f"{amount} {to}"

    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as client:
        await _decide(client, _call(), ALWAYS)
        registry.replace([changed])
        waiting = await _send(client, _call("call_2"))

    assert waiting.status_code == 202


async def test_a_rule_is_revoked(client: httpx.AsyncClient) -> None:
    """Later calls wait again."""
    await _decide(client, _call(), ALWAYS)
    [rule] = await _rules(client)
    revoked = await client.delete(f"/approvals/rules/{rule['id']}", headers=_from("eve"))
    again = await client.delete(f"/approvals/rules/{rule['id']}", headers=_from("eve"))

    assert (revoked.status_code, again.status_code) == (204, 404)
    assert again.json()["type"] == "urn:sidecall:problem:unknown-rule"
    assert (await _send(client, _call("call_2"))).status_code == 202
    assert await _rules(client) == []


async def test_a_rule_may_expire(client: httpx.AsyncClient) -> None:
    """At once, where the time is that short."""
    await _decide(client, _call(), {**ALWAYS, "expires_in": 1e-6})

    assert (await _send(client, _call("call_2"))).status_code == 202


async def test_where_there_is_no_room_the_call_waits_on(client: httpx.AsyncClient) -> None:
    """It can be decided about alone."""
    for who in ("ada", "bob"):
        await _decide(client, _call(), ALWAYS, who)
    refused = await _decide(client, _call(), ALWAYS, "cal")
    rejected = await _decide(client, _call(), {"decision": "reject", "always": True}, "cal")
    alone = await _decide(client, _call(), {"decision": "approve"}, "cal")

    assert [it.status_code for it in (refused, rejected, alone)] == [409, 409, 200]
    assert refused.json()["type"] == "urn:sidecall:problem:too-many-rules"
    assert RAN == [("call_1", True)] * 3


@pytest.mark.parametrize(
    ("decision", "detail"),
    [
        (
            {**ALWAYS, "args": {"amount": 1}},
            "`always` is for calls as they come; leave out `args`, or decide about this call alone.",
        ),
        (
            {"decision": "approve", "expires_in": 5},
            "`expires_in` goes with `always`: a decision about one call holds as long as its answer.",
        ),
    ],
)
async def test_what_is_not_clear_is_refused(client: httpx.AsyncClient, decision: Any, detail: str) -> None:
    """The call waits on."""
    refused = await _decide(client, _call(), decision)

    assert (refused.status_code, refused.json()["detail"]) == (422, detail)
    assert (await _decide(client, _call(), {"decision": "approve"})).status_code == 200


async def test_rules_are_listed_in_pages(client: httpx.AsyncClient) -> None:
    """A link leads to the next."""
    for name in ("refund", "pay"):
        await _decide(client, _call(name=name), ALWAYS)
    first = await client.get("/approvals/rules?limit=1", headers=_from("eve"))
    second = await client.get(first.links["next"]["url"], headers=_from("eve"))

    assert [rule["tool"] for rule in (*first.json(), *second.json())] == ["refund", "pay"]
    assert "next" not in second.links
