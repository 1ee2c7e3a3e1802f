"""A call of a tool that asks itself is known again when a client without forms sends it again."""

from typing import Any

import httpx
import pytest

from tests.features.mcp_server.asking_tools import RAN, move, order, pay_out, sell
from tests.features.mcp_server.messages import ask_as_before
from tests.kit.clients import MakeClient


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Make a client of a server whose tools ask themselves."""
    return await make_client(pay_out, move, sell, order)


async def call(client: httpx.AsyncClient, name: str, **args: Any) -> Any:
    """Make a call as a client that can show nothing to anybody."""
    return (await ask_as_before(client, "tools/call", name=name, arguments=args)).json()["result"]


def read_text(result: Any) -> str:
    """Read the text that a model gets."""
    text: str = result["content"][0]["text"]
    return text


async def decide(client: httpx.AsyncClient, result: Any, decision: str, reason: str | None = None) -> None:
    """Decide at the address of an approval, about what the model was told of."""
    found = result["_meta"]["sidecall/call"]["error"]["approval_id"]
    answered = await client.post(f"/approvals/{found}", json={"decision": decision, "reason": reason})
    assert answered.status_code == 200


@pytest.mark.parametrize("name", ["pay_out", "sell", "order"])
@pytest.mark.parametrize(("decision", "is_error"), [("approve", False), ("reject", True)])
async def test_the_same_call_has_the_answer_once_somebody_has_decided(
    client: httpx.AsyncClient, name: str, decision: str, is_error: bool
) -> None:
    """For a client without forms: the tool does what it asked about once, or the model reads the reason."""
    waits = await call(client, name, amount=70)
    still = await call(client, name, amount=70)
    await decide(client, waits, decision, "Because.")
    done = [await call(client, name, amount=70) for _ in range(2)]

    approved = {"pay_out": "Paid 70.", "sell": "Sold 70.", "order": "Ordered 70."}[name]
    assert still["_meta"] == waits["_meta"]
    assert [result["isError"] for result in done] == [is_error] * 2
    assert [read_text(result) for result in done] == [approved if decision == "approve" else "Because."] * 2
    assert len((await client.get("/approvals")).json()) == 1
    assert RAN.count("sold 70") == (name == "sell" and decision == "approve")


async def test_a_model_is_not_told_that_what_asks_itself_has_not_run(client: httpx.AsyncClient) -> None:
    """It is told the same of the next question, and has the answer in the end."""
    first = await call(client, "move", target="Rome")
    await decide(client, first, "approve")
    second = await call(client, "move", target="Rome")
    await decide(client, second, "reject", "Too far.")

    found = first["_meta"]["sidecall/call"]["error"]["approval_id"]
    assert read_text(first) == read_text(second)
    assert read_text(first) == (
        f"Error: move asks a person, at http://sidecall/approvals/{found}, and goes on once they have decided. "
        "Make the same call again then for its answer."
    )
    assert read_text(await call(client, "move", target="Rome")) == "Undone at 2: Too far."
    assert RAN == ["Rome 0", "Rome 1", "Rome 2"]


@pytest.mark.parametrize("name", ["pay_out", "order"])
async def test_equal_calls_that_ask_nobody_run_each_time(client: httpx.AsyncClient, name: str) -> None:
    """Also those of a tool that knows its calls again: each has an id of its own."""
    done = [await call(client, name, amount=7) for _ in range(2)]

    assert done[0]["_meta"]["sidecall/call"]["id"] != done[1]["_meta"]["sidecall/call"]["id"]
    assert RAN == ["7", "7"]
