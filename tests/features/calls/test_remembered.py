"""Calls that are remembered: by a key they run once, and without a waiting client they go on."""

import asyncio
from typing import Any

import pytest

from sidecall import tool as make_tool
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, GO, RAN, charge, index, key, refund, send, wait_for
from tests.kit.waiting import until


async def test_a_call_with_a_key_runs_once(serve: MakeClient) -> None:
    """However often it is sent, with the answer of the first time, byte by byte."""
    client = await serve(charge)

    answers = [await send(client, "charge", headers=key("k"), order="a") for _ in range(3)]

    assert RAN["a"] == 1
    assert {answer.content for answer in answers} == {answers[0].content}
    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, "true", "true"]


async def test_duplicates_wait_for_the_first(serve: MakeClient) -> None:
    """Of fifty at once one runs."""
    client = await serve(wait_for)
    sent = [asyncio.ensure_future(send(client, "wait_for", headers=key("k"), name="a")) for _ in range(50)]
    await until(lambda: RAN["a"] > 0)

    GO["a"].set()
    answers = await asyncio.gather(*sent)

    assert RAN["a"] == 1
    assert {(answer.status_code, answer.json()["content"]) for answer in answers} == {(200, "a went")}


async def test_nothing_beside_a_call_is_what_is_empty(serve: MakeClient) -> None:
    """State and context may be left out, empty or null; with anything in them it is another call."""
    client = await serve(charge)
    call = {"name": "charge", "args": {"order": "a"}, "id": "call_1"}
    ways: list[dict[str, Any]] = [{}, {"state": {}}, {"state": None}, {"context": {}}, {"state": {}, "context": {}}]

    answers = [await client.post("/tool_calls", json={**call, **way}, headers=key("k")) for way in ways]
    others = [
        await client.post("/tool_calls", json={**call, **way}, headers=key("k"))
        for way in ({"state": {"a": 1}}, {"state": []}, {"context": {"a": 1}})
    ]

    assert [answer.headers.get("Idempotency-Replayed") for answer in answers] == [None, *("true",) * 4]
    assert [answer.status_code for answer in others] == [422] * 3
    assert RAN["a"] == 1


@pytest.mark.parametrize("again", [{"order": "b"}, {"order": "a", "fails": True}])
async def test_a_key_stands_for_one_call(serve: MakeClient, again: Any) -> None:
    """With another call it is refused, and its own answer stays."""
    client = await serve(charge)
    first = await send(client, "charge", headers=key("k"), order="a")

    refused = await send(client, "charge", headers=key("k"), **again)

    assert (refused.status_code, refused.json()["type"]) == (422, "urn:sidecall:problem:key-reused")
    assert (await send(client, "charge", headers=key("k"), order="a")).content == first.content


async def test_a_key_is_its_callers_own(serve: MakeClient) -> None:
    """The same text of two callers stands for two calls."""
    client = await serve(charge, caller_header="X-User")

    answers = [
        await send(client, "charge", headers={**key("k"), "X-User": user}, order="a") for user in ("ann", "bob", "ann")
    ]

    assert [answer.json()["content"][-7:] for answer in answers] == ["1. time", "2. time", "1. time"]


async def test_a_failure_of_the_tool_is_an_answer(serve: MakeClient) -> None:
    """It is given again, and the tool does not run again."""
    client = await serve(charge)

    answers = [await send(client, "charge", headers=key("k"), order="a", fails=True) for _ in range(2)]

    assert [answer.json()["content"] for answer in answers] == ["no money for a"] * 2
    assert RAN["a"] == 1


async def test_a_refusal_is_no_answer(serve: MakeClient) -> None:
    """A call that there was no room for may come again with its key."""
    client = await serve(wait_for, max_concurrency=1, max_queue=0)
    first = asyncio.ensure_future(send(client, "wait_for", headers=key("1"), name="a"))
    await until(lambda: RAN["a"] > 0)
    refused = await send(client, "wait_for", headers=key("2"), name="b")
    GO["a"].set()
    GO["b"] = asyncio.Event()
    GO["b"].set()
    await first

    accepted = await send(client, "wait_for", headers=key("2"), name="b")

    assert (refused.status_code, accepted.status_code, RAN["b"]) == (503, 200, 1)
    assert "Idempotency-Replayed" not in accepted.headers


@pytest.mark.parametrize(
    ("headers", "slug"),
    [
        (key(""), "invalid-key"),
        (key("x" * 256), "invalid-key"),
        (key('"open'), "invalid-key"),
        ([*key("a").items(), *key("b").items()], "invalid-key"),
        ({"Prefer": "wait=soon"}, "invalid-preference"),
        ({"Prefer": "wait=-1"}, "invalid-preference"),
        ({**ASYNC, "Accept": "text/event-stream"}, "invalid-preference"),
    ],
)
async def test_headers_that_cannot_be_heeded_are_refused(serve: MakeClient, headers: Any, slug: str) -> None:
    """Before anything runs."""
    client = await serve(charge)

    refused = await send(client, "charge", headers=headers, order="a")

    assert (refused.status_code, refused.json()["type"]) == (400, f"urn:sidecall:problem:{slug}")
    assert RAN["a"] == 0


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        (key("a"), "`Idempotency-Key` does"),
        (ASYNC, "`Prefer` does"),
        ({**ASYNC, **key("a")}, "`Prefer` and `Idempotency-Key` do"),
    ],
)
async def test_of_headers_that_do_not_fit_those_that_came_are_named(
    serve: MakeClient, headers: dict[str, str], named: str
) -> None:
    """A caller who sent a key looks for nothing that is wrong with another header."""
    client = await serve(charge)

    refused = (await send(client, "charge", headers={**headers, "Accept": "text/event-stream"}, order="a")).json()

    assert refused["title"] == "What `Prefer` or `Idempotency-Key` asks for cannot be had, or not for this request."
    assert refused["detail"].startswith(f"{named} not go with `Accept: text/event-stream`.")


@pytest.mark.parametrize("text", ["k", '"k"', " k "])
async def test_a_key_is_quoted_or_bare(serve: MakeClient, text: str) -> None:
    """Both are the same key."""
    client = await serve(charge)

    await send(client, "charge", headers=key("k"), order="a")
    again = await send(client, "charge", headers=key(text), order="a")

    assert again.headers["Idempotency-Replayed"] == "true"


async def test_a_call_goes_on_without_its_client(serve: MakeClient) -> None:
    """It is accepted, and asked for where `Location` says, in any dialect."""
    client = await serve(wait_for)

    accepted = await send(client, "wait_for", headers=ASYNC, name="a")
    running = await client.get(accepted.headers["Location"])
    await until(lambda: RAN["a"] > 0)
    GO["a"].set()
    ended = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=10"}, params={"format": "openai"})

    assert (accepted.status_code, accepted.headers["Preference-Applied"]) == (202, "respond-async")
    assert accepted.headers["Retry-After"] == "1"
    assert running.json()["status"] == "running"
    assert ended.json()["status"] == "succeeded"
    assert ended.json()["message"] == {"role": "tool", "tool_call_id": "call_1", "content": "a went"}


async def test_a_client_may_wait_for_a_while(serve: MakeClient) -> None:
    """It gets the answer if that comes in time, and where to ask for it if not."""
    client = await serve(wait_for, charge)

    quick = await send(client, "charge", headers={"Prefer": "wait=5"}, order="a")
    other = await send(client, "charge", headers={"Prefer": 'foo, bar; baz="q, wait=soon"'}, order="a")
    slow = await send(client, "wait_for", headers={"Prefer": "respond-async, wait=0"}, name="a")

    assert (quick.status_code, quick.json()["content"]) == (200, "charged a for the 1. time")
    assert (slow.status_code, slow.headers["Preference-Applied"]) == (202, "respond-async, wait=0")
    assert (other.status_code, "Preference-Applied" in other.headers) == (200, False)


async def test_nobody_waits_longer_than_the_server_lets_them(serve: MakeClient) -> None:
    """The setting `max_wait`."""
    client = await serve(wait_for, max_wait=0.05)

    answer = await send(client, "wait_for", headers={"Prefer": "wait=100"}, name="a")

    assert (answer.status_code, answer.headers["Preference-Applied"]) == (202, "wait=0.05")


async def test_a_background_tool_is_never_waited_for(serve: MakeClient) -> None:
    """Unless its client says how long."""
    client = await serve(index)

    at_once = await send(client, "index", name="a")
    waited = await send(client, "index", headers={"Prefer": "wait=5"}, name="a")

    assert (at_once.status_code, at_once.json()["status"]) == (202, "running")
    assert (waited.status_code, waited.json()["content"]) == (200, "indexed a")


async def test_a_call_that_waits_for_a_person_is_remembered_with_its_key(serve: MakeClient) -> None:
    """While it waits it is the same approval, and then the same answer."""
    client = await serve(refund)
    first = await send(client, "refund", headers=key("k"), order="a")
    again = await send(client, "refund", headers=key("k"), order="a")

    await client.post(first.headers["Location"], json={"decision": "approve"})
    answers = [await send(client, "refund", headers=key("k"), order="a") for _ in range(2)]
    listed = (await client.get("/tool_calls")).json()

    assert (first.status_code, again.json()["id"]) == (202, first.json()["id"])
    assert [answer.json()["content"] for answer in answers] == ["refunded a"] * 2
    assert RAN["a"] == 1
    assert [(call["status"], call["approval_id"]) for call in listed] == [("succeeded", first.json()["id"])]


async def test_a_call_whose_approval_expires_has_ended(serve: MakeClient) -> None:
    """It did not run."""
    client = await serve(refund, approval_ttl=0.05)
    accepted = await send(client, "refund", headers={"Prefer": "respond-async, wait=0"}, order="a")
    await asyncio.sleep(0.2)

    (call,) = (await client.get("/tool_calls")).json()
    ended = (await client.get(f"/tool_calls/{call['id']}")).json()

    assert accepted.status_code == 202
    assert (ended["status"], ended["message"]["status"], RAN["a"]) == ("expired", "error", 0)


async def test_a_hidden_tool_is_an_unknown_one(serve: MakeClient) -> None:
    """A caller who may not see it learns nothing from how its call would be run."""
    hidden = make_tool(is_enabled=False)(charge.func or charge.coroutine)
    client = await serve(hidden)

    answer = await send(client, "charge", headers=ASYNC, order="a")

    assert (answer.status_code, answer.json()["response_metadata"]["error"]["kind"]) == (200, "unknown_tool")


async def test_a_call_of_no_tool_is_not_accepted(serve: MakeClient) -> None:
    """It is answered at once, and the headers say that nothing was heeded."""
    client = await serve(charge)

    answer = await send(client, "nope", headers={**ASYNC, **key("k")})

    assert (answer.status_code, answer.json()["content"]) == (
        200,
        "Error: nope is not a valid tool, try one of [charge].",
    )
    assert {"Preference-Applied", "Location"} & answer.headers.keys() == set()
    assert (await client.get(f"/tool_calls/{answer.json()['id']}")).status_code == 404
