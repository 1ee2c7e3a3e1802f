"""How long a key stands for its call, and what becomes of one that nobody decides about."""

import asyncio

import pytest

from sidecall import ApprovalRequired, StructuredTool, ToolContext
from sidecall import tool as make_tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, GO, RAN, charge, key, refund, send, wait_for
from tests.kit.waiting import until


async def test_a_key_expires(serve: MakeClient) -> None:
    """The call then runs anew."""
    client = await serve(charge, idempotency_ttl=0.05)

    await send(client, "charge", headers=key("k"), order="a")
    await asyncio.sleep(0.1)
    await send(client, "charge", headers=key("k"), order="a")

    assert RAN["a"] == 2


async def test_a_key_does_not_expire_before_its_call_has_ended(serve: MakeClient) -> None:
    """Whether it runs or waits for a person: it runs once, and its time begins with the end."""
    client = await serve(wait_for, refund, idempotency_ttl=0.05)
    sent = [asyncio.ensure_future(send(client, "wait_for", headers=key("k"), name="a"))]
    await until(lambda: RAN["a"] > 0)
    held = await send(client, "refund", headers=key("h"), order="b")
    await asyncio.sleep(0.1)

    sent.append(asyncio.ensure_future(send(client, "wait_for", headers=key("k"), name="a")))
    held_again = await send(client, "refund", headers=key("h"), order="b")
    other = await send(client, "wait_for", headers=key("k"), name="c")
    GO["a"].set()
    answers = await asyncio.gather(*sent)

    assert (held.status_code, held_again.json()) == (202, held.json())
    assert (other.status_code, RAN["a"]) == (422, 1)
    assert answers[0].content == answers[1].content


async def test_an_id_stands_for_its_call_until_that_has_ended(serve: MakeClient) -> None:
    """However soon keys expire."""

    @make_tool(idempotency="tool_call_id")
    async def deliver(name: str) -> str:
        """Deliver once somebody says go.

        Args:
            name: For whom.
        """
        RAN[name] += 1
        await GO.setdefault(name, asyncio.Event()).wait()
        return f"delivered to {name}"

    client = await serve(deliver, idempotency_ttl=0.05)
    sent = [asyncio.ensure_future(send(client, "deliver", name="a"))]
    await until(lambda: RAN["a"] > 0)
    await asyncio.sleep(0.1)
    sent.append(asyncio.ensure_future(send(client, "deliver", name="a")))
    for _ in range(3):  # What came before is looked up by then.
        await client.get("/tool_calls")
    GO["a"].set()

    assert {answer.json()["content"] for answer in await asyncio.gather(*sent)} == {"delivered to a"}
    assert RAN["a"] == 1


@make_tool
async def ship_in_parts(order: str) -> str:
    """Ship a part of an order, and ask about the rest.

    Args:
        order: Which.
    """
    RAN[order] += 1
    raise ApprovalRequired("The rest, too?", state={"shipped": order})


@make_tool(requires_approval=True)
async def ship_when_approved(order: str, context: ToolContext) -> str:
    """Ship an order once it is approved, and perhaps ask again.

    Args:
        order: Which.
        context: What was said.
    """
    if context.resumed is None:
        raise ApprovalRequired("The rest, too?", state={"shipped": order})
    return order


UNDECIDED = "Error: nobody decided about this call in time; it did not run."
HALF = "Error: nobody decided in time about what this call asked; it had begun, and may have had effects."
PERHAPS = "Error: nobody decided about this call in time; it may have had effects if it had begun."


@pytest.mark.parametrize(
    ("asking", "has_begun", "text"),
    [(refund, False, UNDECIDED), (ship_in_parts, True, HALF), (ship_when_approved, True, PERHAPS)],
    ids=["first", "midway", "both"],
)
async def test_a_call_that_nobody_decides_about_says_whether_it_ran(
    serve: MakeClient, asking: StructuredTool, has_begun: bool, text: str
) -> None:
    """One that has asked in the middle of its work may have had effects."""
    client = await serve(asking, approval_ttl=0.2)
    place = (await send(client, asking.name, headers=ASYNC, order="a")).headers["Location"]

    ended = (await client.get(place)).json()
    while ended["status"] in ("running", "awaiting_approval"):
        await asyncio.sleep(0.05)
        ended = (await client.get(place)).json()

    assert (ended["status"], ended["message"]["content"]) == ("expired", text)
    assert (ended["started_at"] is not None, ended["duration_ms"] is not None) == (has_begun, has_begun)
