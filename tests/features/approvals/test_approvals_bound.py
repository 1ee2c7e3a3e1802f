"""A decision is about the tool as it was when the person was asked."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.waiting import until

APPROVE = {"decision": "approve"}
CALL = {"name": "pay", "args": {"amount": 500}, "id": "1"}


def _make(unit: str) -> Any:
    def pay(amount: int) -> str:
        return f"paid {amount} {unit}"

    pay.__doc__ = f"""Pay.

    Args:
        amount: How many {unit}.
    """
    return tool(requires_approval=True)(pay)


async def _wait_and_restart(make_client: MakeClient, folder: Path, *tools: Any) -> tuple[httpx.AsyncClient, str]:
    """Have a call in cents wait, and start a server with other tools on the same store."""
    kept = f"sqlite:///{folder / 'kept.db'}"
    app = create_app(Settings(store=kept), Registry([_make("cents")]))
    transport = httpx.ASGITransport(app=app)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://x") as first:
        place = (await first.post("/tool_calls", json=CALL)).headers["Location"]
    return await make_client(*tools, store=kept), place


@pytest.mark.parametrize(
    ("decision", "status", "content"),
    [
        (APPROVE, 409, None),
        (APPROVE | {"args": {"amount": 5}}, 409, None),
        (APPROVE | {"always": True}, 409, None),
        (APPROVE | {"hash": "0" * 64}, 409, None),
        ({"decision": "reject", "always": True}, 409, None),
        (APPROVE | {"hash": "old"}, 409, None),
        (APPROVE | {"hash": "new"}, 200, "paid 500 euros"),
        (APPROVE | {"hash": "new", "args": {"amount": 5}}, 200, "paid 5 euros"),
        ({"decision": "reject", "reason": "No."}, 200, "Error: a person rejected the call: No."),
    ],
)
async def test_another_tool_is_decided_about_by_its_hash(
    make_client: MakeClient, tmp_path: Path, decision: dict[str, Any], status: int, content: str | None
) -> None:
    """Nothing runs, and the call goes on waiting, until a decision names the tool as it is now."""
    client, place = await _wait_and_restart(make_client, tmp_path, _make("euros"))
    shown = (await client.get(place)).json()
    refused = (await client.post(place, json=APPROVE)).json()
    hashes = {"old": refused["asked"]["hash"], "new": refused["current"]["hash"]}

    response = await client.post(
        place, json=decision | {k: hashes.get(v, v) for k, v in decision.items() if k == "hash"}
    )

    assert (shown["tool_state"], shown["tool_hash"]) == ("changed", hashes["old"])
    assert shown["definitions"] == {"asked": refused["asked"], "current": refused["current"]}
    assert shown["args_schema"]["properties"]["amount"]["description"] == "How many cents."
    assert response.status_code == status
    if content is None:
        assert read_problem(response)[0] == "tool-changed"
        described = [
            response.json()[name]["definition"]["function"]["parameters"]["properties"]["amount"]["description"]
            for name in ("asked", "current")
        ]
        assert described == ["How many cents.", "How many euros."]
        assert (await client.get(place)).json()["status"] == "pending"
    else:
        assert content in response.json()["message"]["content"] or decision["decision"] == "reject"


async def test_the_same_tool_is_decided_about_without_its_hash(make_client: MakeClient, tmp_path: Path) -> None:
    """After a restart, too; naming its hash is as good."""
    client, place = await _wait_and_restart(make_client, tmp_path, _make("cents"))
    shown = (await client.get(place)).json()

    decided = await client.post(place, json=APPROVE | {"hash": shown["tool_hash"]})

    assert (shown["tool_state"], shown["tool_description"], "definitions" in shown) == ("same", "Pay.", False)
    assert shown["args_schema"] == (await client.get("/tools/pay")).json()["args_schema"]
    assert decided.json()["message"]["content"] == "paid 500 cents"


@pytest.mark.parametrize(
    ("tools", "text"),
    [
        ((), "1 of the waiting approvals name tools that are gone: pay"),
        (("euros",), "1 of the waiting approvals name tools that have changed since: pay"),
    ],
)
async def test_the_log_says_what_waits_for_other_tools(
    make_client: MakeClient, tmp_path: Path, caplog: pytest.LogCaptureFixture, tools: tuple[str, ...], text: str
) -> None:
    """At the start."""
    with caplog.at_level(logging.WARNING, "sidecall"):
        await _wait_and_restart(make_client, tmp_path, *map(_make, tools))
        await until(lambda: any(text in record.getMessage() for record in caplog.records))


@pytest.mark.parametrize("store", ["memory", "file"])
async def test_lists_are_narrowed_and_counted(make_client: MakeClient, tmp_path: Path, store: str) -> None:
    """By tool, by requester and by status; the header counts all pages."""

    @tool(requires_approval=True)
    def refund(amount: int) -> str:
        """Refund."""
        return f"{amount}"

    kept = {} if store == "memory" else {"store": f"sqlite:///{tmp_path / 'kept.db'}"}
    client = await make_client(_make("cents"), refund, **kept)
    for number in range(3):
        await client.post("/tool_calls", json=CALL | {"id": str(number)})
    await client.post("/tool_calls", json=CALL | {"name": "refund", "id": "9"})

    found = {
        query: await client.get(f"/approvals?{query}")
        for query in ("tool=pay&limit=2", "tool=refund&requested_by=anonymous", "requested_by=eve", "status=pending")
    }

    assert {query: (len(page.json()), page.headers["X-Total-Count"]) for query, page in found.items()} == {
        "tool=pay&limit=2": (2, "3"),
        "tool=refund&requested_by=anonymous": (1, "1"),
        "requested_by=eve": (0, "0"),
        "status=pending": (4, "4"),
    }
    assert found["tool=pay&limit=2"].links["next"]["url"] == "/approvals?tool=pay&limit=2&cursor=2"
    status = (await client.get("/status")).json()["approvals"]
    assert (status["pending"], status["oldest_seconds"] >= 0) == (4, True)
