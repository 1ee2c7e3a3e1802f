"""Some tools know their calls again by the ids that the model gives them."""

import asyncio

from sidecall import tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import RAN, charge, key, send, ship
from tests.kit.waiting import until


async def test_a_tool_may_know_its_calls_by_their_ids(serve: MakeClient) -> None:
    """For agents that send no key; another id is another call."""
    client = await serve(ship)

    for call_id in ("1", "1", "2"):
        await send(client, "ship", id=call_id, order="a")

    assert RAN["a"] == 2


async def test_ids_are_those_of_their_conversation(serve: MakeClient) -> None:
    """Models count anew in the next; with the header or the context it is the same one."""
    client = await serve(ship)
    body = {"name": "ship", "args": {"order": "a"}, "id": "1"}
    ways: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"Sidecall-Conversation": "one"}, {}),
        ({}, {"conversation_id": "one"}),
        ({}, {"conversation_id": "two"}),
        ({}, {}),
    ]

    ran = []
    for headers, context in ways:
        await client.post("/tool_calls", json={**body, "context": context}, headers=headers)
        ran.append(RAN["a"])

    assert ran == [1, 2, 2, 3, 3]


async def test_so_many_wait_for_a_call_that_was_sent_before(make_client: MakeClient) -> None:
    """In any form in which it was sent again; more are told to come later, and of all of them it runs once."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(idempotency="tool_call_id")
    async def ship_slowly() -> str:
        """Ship, after a while."""
        begun.set()
        await go_on.wait()
        return "shipped"

    client = await make_client(ship_slowly, max_queue=2, drain_timeout=0)
    body = {"name": "ship_slowly", "args": {}, "id": "1"}
    first = asyncio.create_task(client.post("/tool_calls", json=body))
    await begun.wait()

    batch = asyncio.create_task(client.post("/tool_calls/batch", json=[body]))
    again = [asyncio.create_task(client.post("/tool_calls", json=body)) for _ in range(3)]
    await until(lambda: sum(task.done() for task in (batch, *again)) == 2)
    go_on.set()
    answers = await asyncio.gather(*again)
    answers += [await first, await batch, await client.post("/tool_calls", json=body)]

    texts = [answer.text for answer in answers]
    assert sum('"content":"shipped"' in text for text in texts) == 4
    assert sum("Requests that wait already for earlier calls: 2." in text for text in texts) == 2
    assert {answer.headers["Retry-After"] for answer in answers if answer.status_code == 503} == {"1"}


async def test_no_call_is_known_by_an_empty_id(serve: MakeClient) -> None:
    """It says nothing of which call it is."""
    client = await serve(ship)

    answers = [await send(client, "ship", id="", order=order) for order in ("a", "a", "b")]

    assert [(answer.status_code, answer.json()["content"]) for answer in answers] == [
        (200, "shipped a"), (200, "shipped a"), (200, "shipped b"),
    ]  # fmt: skip
    assert (RAN["a"], RAN["b"]) == (2, 1)


async def test_a_key_that_stands_for_another_call_is_named_as_what_it_is(serve: MakeClient) -> None:
    """A header where one came; else the call's id, which nobody has sent as a header."""
    client = await serve(charge, ship)
    await send(client, "charge", headers=key("k"), order="a")
    await send(client, "ship", id="call_7", order="a")

    by_key = (await send(client, "charge", headers=key("k"), order="b")).json()["detail"]
    by_id = (await send(client, "ship", id="call_7", order="b")).json()["detail"]
    [in_batch] = (
        await client.post("/tool_calls/batch", json=[{"name": "ship", "args": {"order": "b"}, "id": "call_7"}])
    ).json()

    assert by_key == (
        "The `Idempotency-Key` came before with another call: another tool, other arguments, state, context or "
        "conversation. Send this call with another key."
    )
    assert by_id == (
        "The id `call_7` was used before, for a call of ship with other arguments, and stands for that. Nothing was "
        "run. Send this call with another id."
    )
    assert (by_id in in_batch["content"], RAN["b"]) == (True, 0)
    assert in_batch["response_metadata"]["error"]["kind"] == "key_reused"
