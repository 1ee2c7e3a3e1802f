"""A call that needs approval is put before the client's person, or its URL before the model."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_server.messages import CAN_ASK, PREFIX, answer, ask, ask_as_before
from tests.kit.clients import MakeClient

RAN: list[tuple[int, float]] = []
ARGUMENTS = {"order": 7, "amount": 3.5}


def show(order: int) -> str:
    """Say what a refund would do."""
    return f"Order {order} is Ann's."


@tool(requires_approval=True, preview=show)
async def refund(order: int, amount: float = 1.0, lines: list[int] | None = None) -> str:
    """Refund an order.

    Args:
        order: Which one.
        amount: How much.
        lines: Which of its lines.
    """
    RAN.append((order, amount))
    return f"Refunded {amount} of {order}."


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Make a client of a server with one tool that needs approval."""
    return await make_client(refund, caller_header="X-User")


async def call(client: httpx.AsyncClient, **params: Any) -> Any:
    """Make the call, as a client whose person can be asked."""
    response = await ask(client, "tools/call", CAN_ASK, **{"name": "refund", "arguments": ARGUMENTS, **params})
    return response.json().get("result") or response.json()["error"]


async def test_the_person_sees_the_call_and_what_it_would_do(client: httpx.AsyncClient) -> None:
    """With a form of its arguments that they may change."""
    result = await call(client)

    assert result["resultType"] == "input_required"
    assert list(result["inputRequests"].values()) == [
        {
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": 'Run refund with {"order": 7, "amount": 3.5}? It would do this: Order 7 is Ann\'s.',
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "order": {"type": "integer", "description": "Which one.", "default": 7},
                        "amount": {"type": "number", "description": "How much.", "default": 3.5},
                    },
                },
            },
        }
    ]
    assert RAN == []


async def test_the_person_sees_which_conversation_it_is_about(client: httpx.AsyncClient) -> None:
    """Where the call says one."""
    meta = {**CAN_ASK, "sidecall/context": {"conversation_id": "chat-7"}}
    result = (await ask(client, "tools/call", meta, name="refund", arguments=ARGUMENTS)).json()["result"]

    [question] = result["inputRequests"].values()
    message = question["params"]["message"]
    assert message.startswith('Run refund with {"order": 7, "amount": 3.5} in the conversation chat-7?')


@pytest.mark.parametrize(
    ("action", "content", "text", "ran"),
    [
        ("accept", {}, "Refunded 3.5 of 7.", [(7, 3.5)]),
        ("accept", {"order": 7, "amount": 3.5}, "Refunded 3.5 of 7.", [(7, 3.5)]),
        ("accept", {"amount": 2, "other": 1}, "Refunded 2.0 of 7.", [(7, 2.0)]),
        ("decline", {}, "Tool execution was not approved.", []),
        ("cancel", {}, "The person closed the form without a decision.", []),
    ],
)
async def test_what_the_person_decides_is_carried_out(
    client: httpx.AsyncClient, action: str, content: dict[str, Any], text: str, ran: list[Any]
) -> None:
    """Once: the same answer comes again when the client repeats itself."""
    decided = answer(await call(client), action, **content)

    results = [await call(client, **decided) for _ in range(2)]

    assert [text in result["content"][0]["text"] for result in results] == [True, True]
    assert [result["isError"] for result in results] == [not ran, not ran]
    assert ran == RAN


@pytest.mark.parametrize("said", [None, {}, {"action": "?"}, []])
@pytest.mark.parametrize("is_named", [True, False])
async def test_without_a_decision_the_person_is_asked_again(
    client: httpx.AsyncClient, said: Any, is_named: bool
) -> None:
    """About the same approval."""
    first = await call(client)
    responses = dict.fromkeys(first["inputRequests"], said) if is_named else said

    again = await call(client, requestState=first["requestState"], inputResponses=responses)

    assert again == first
    assert RAN == []


async def test_arguments_that_do_not_fit_are_refused(client: httpx.AsyncClient) -> None:
    """And the call goes on waiting."""
    asked = await call(client)

    refused = await call(client, **answer(asked, "accept", order="seven"))
    result = await call(client, **answer(asked, "accept"))

    assert refused["code"] == -32602
    assert "order" in refused["message"]
    assert result["content"][0]["text"] == "Refunded 3.5 of 7."


async def test_a_decision_is_about_one_call_of_one_caller(client: httpx.AsyncClient) -> None:
    """A change by the client is refused, no matter which."""
    yes = answer(await call(client), "accept")

    changed = [
        await call(client, **{**yes, "requestState": f"{yes['requestState'][:-1]}x"}),
        await call(client, **{**yes, "requestState": 7}),
        await call(client, **yes, arguments={"order": 8, "amount": 3.5}),
    ]
    client.headers["X-User"] = "eve"
    changed.append(await call(client, **yes))

    assert [refused["code"] for refused in changed] == [-32602] * 4
    assert RAN == []


async def test_who_decides_elsewhere_decides_too(client: httpx.AsyncClient) -> None:
    """The form that comes back later changes nothing."""
    asked = await call(client)

    await client.post(f"/approvals/{asked['requestState']}", json={"decision": "reject", "reason": "Not today."})
    result = await call(client, **answer(asked, "accept"))

    assert result["content"][0]["text"] == "Not today."
    assert RAN == []


@pytest.mark.parametrize("way", ["modern", "before", "by address only"])
async def test_a_model_whose_client_cannot_ask_is_told_where(client: httpx.AsyncClient, way: str) -> None:
    """And gets the answer when it makes the same call again."""

    async def send() -> Any:
        params = {"name": "refund", "arguments": ARGUMENTS}
        if way == "before":
            return (await ask_as_before(client, "tools/call", **params)).json()["result"]
        elicits = {f"{PREFIX}clientCapabilities": {"elicitation": {"url": {}}}} if way == "by address only" else {}
        return (await ask(client, "tools/call", elicits, **params)).json()["result"]

    waits, still = await send(), await send()
    found = waits["_meta"]["sidecall/call"]["error"]
    address = f"http://sidecall/approvals/{found['approval_id']}"
    await client.post(address, json={"decision": "approve"})
    done = await send()

    assert waits["isError"]
    assert address in waits["content"][0]["text"]
    assert still["_meta"] == waits["_meta"]
    assert (done["isError"], done["content"][0]["text"]) == (False, "Refunded 3.5 of 7.")
    assert RAN == [(7, 3.5)]
