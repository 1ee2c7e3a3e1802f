"""The person at the client is asked what a tool asks, and about what they were shown."""

import asyncio
from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_server.asking_tools import RAN, move, pay_out, sell
from tests.features.mcp_server.messages import CAN_ASK, answer, ask
from tests.kit.clients import MakeClient


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Make a client of a server whose tools ask themselves."""
    return await make_client(pay_out, move, sell)


async def call(client: httpx.AsyncClient, name: str, *, _with: dict[str, Any] | None = None, **args: Any) -> Any:
    """Make a call as a client whose person can be asked."""
    response = await ask(client, "tools/call", CAN_ASK, name=name, arguments=args, **(_with or {}))
    return response.json().get("result") or response.json()["error"]


def read_form(result: Any) -> tuple[str, list[str]]:
    """Read what a form says, and the names of its fields."""
    [question] = result["inputRequests"].values()
    return question["params"]["message"], list(question["params"]["requestedSchema"]["properties"])


def read_text(result: Any) -> str:
    """Read the text that a model gets."""
    text: str = result["content"][0]["text"]
    return text


async def test_the_person_sees_what_the_tool_asks(client: httpx.AsyncClient) -> None:
    """What it has not begun they may change."""
    asked = await call(client, "pay_out", amount=70)

    assert read_form(asked) == (
        'Run pay_out with {"amount": 70}? It asks: The till is nearly empty. It shows: {"left": 3}',
        ["amount"],
    )
    assert read_text(await call(client, "pay_out", amount=70, _with=answer(asked, "accept", amount=60))) == "Paid 60."


async def test_the_person_is_asked_until_the_tool_has_ended(client: httpx.AsyncClient) -> None:
    """About what has begun without fields, since it goes on with its arguments."""
    first = await call(client, "move", target="Rome")
    second = await call(client, "move", target="Rome", _with=answer(first, "accept"))
    third = await call(client, "move", target="Rome", _with=answer(second, "accept"))

    assert [read_form(first), read_form(second)] == [
        ('move with {"target": "Rome"} has begun. It asks: Take step 1?', []),
        ('move with {"target": "Rome"} has begun. It asks: Take step 2?', []),
    ]
    assert read_text(third) == "Moved to Rome."
    assert RAN == ["Rome 0", "Rome 1", "Rome 2"]


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_an_answer_is_about_the_question_that_was_shown(client: httpx.AsyncClient, action: str) -> None:
    """Where somebody has decided about it elsewhere, the person is shown what is asked by now."""
    first = await call(client, "move", target="Rome")
    await client.post(f"/approvals/{first['requestState']}", json={"decision": "approve"})
    second = await call(client, "move", target="Rome", _with=answer(first, action))

    assert read_form(second)[0] == 'move with {"target": "Rome"} has begun. It asks: Take step 2?'
    assert RAN == ["Rome 0", "Rome 1"]
    assert read_text(await call(client, "move", target="Rome", _with=answer(second, "decline"))) == "Undone at 2: None"


async def test_what_asks_unseen_is_not_run_by_a_form_without_an_answer(client: httpx.AsyncClient) -> None:
    """The person is asked the same again."""
    asked = await call(client, "sell", amount=70)
    again = await call(client, "sell", amount=70, _with={"requestState": asked["requestState"]})

    assert again == asked
    assert RAN == ["sell 70"]


async def test_who_has_decided_elsewhere_is_waited_for(make_client: MakeClient) -> None:
    """Where the call runs still: the form that comes back has its answer, and the model does not call again."""
    begun, goes_on = asyncio.Event(), asyncio.Event()

    @tool(requires_approval=True)
    async def travel() -> str:
        """Travel for long."""
        begun.set()
        await goes_on.wait()
        return "There."

    client = await make_client(travel)
    asked = await call(client, "travel")
    deciding = asyncio.create_task(client.post(f"/approvals/{asked['requestState']}", json={"decision": "approve"}))
    await begun.wait()
    again = asyncio.create_task(call(client, "travel", _with=answer(asked, "accept")))
    early, _ = await asyncio.wait([again], timeout=0.2)
    goes_on.set()

    assert not early
    assert (await deciding).status_code == 200
    assert read_text(await again) == "There."
