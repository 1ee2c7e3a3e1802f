"""Programs are told that their calls have ended, where they say and the operator allows it."""

import asyncio
import base64
import hashlib
import hmac
import time
from typing import Any

import httpx
import pytest

from tests.features.webhooks.listening import SECRET, Heard, Listening, listen
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.remembered import GO, RAN, charge, refund, wait_for
from tests.kit.waiting import until


async def serve_with(serve: MakeClient, receiver: Listening, **settings: Any) -> httpx.AsyncClient:
    """Make a client of a server that may tell this receiver."""
    told = {"webhook_hosts": (receiver.host,), "webhook_secret": SECRET, **settings}
    return await serve(charge, refund, wait_for, **told)


async def send(client: httpx.AsyncClient, url: str, tool: str = "charge", headers: Any = None, **args: Any) -> Any:
    """Send a call."""
    sent = {"name": tool, "args": {"order": "a"} | args, "id": "call_1", "callback_url": url}
    return await client.post("/tool_calls", json=sent, headers=headers)


async def hear(receiver: Listening) -> Heard:
    """Wait for the first message."""
    await until(lambda: bool(receiver.heard))
    return receiver.heard[0]


def verify(message: Heard) -> bool:
    """Return whether a message is signed with our secret, as a receiver would find out."""
    signed = f"{message.headers['webhook-id']}.{message.headers['webhook-timestamp']}.".encode() + message.body
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return message.headers["webhook-signature"] == f"v1,{signature}"


async def test_the_end_of_a_call_is_told(serve: MakeClient) -> None:
    """With the call as GET /tool_calls/{id} shows it, signed; its program need not wait."""
    async with listen() as receiver:
        client = await serve_with(serve, receiver)

        accepted = await send(client, f"{receiver.host}/ended?of=us")
        message = await hear(receiver)

        shown = (await client.get(accepted.headers["Location"])).json()
    assert (accepted.status_code, accepted.headers["Location"]) == (202, f"/tool_calls/{shown['id']}")
    assert (shown["status"], shown["message"]["content"]) == ("succeeded", "charged a for the 1. time")
    assert message.said == {"type": "tool_call.succeeded", "timestamp": shown["ended_at"], "data": shown}
    assert message.path == "/ended?of=us"
    assert message.headers["content-type"] == "application/json"
    assert abs(int(message.headers["webhook-timestamp"]) - time.time()) < 60
    assert verify(message)


async def test_a_host_with_a_dot_at_its_end_is_told(serve: MakeClient) -> None:
    """It is the one that the operator names."""
    async with listen() as receiver:
        named = receiver.host.replace("127.0.0.1", "localhost")
        client = await serve_with(serve, receiver, webhook_hosts=(named,))

        accepted = await send(client, f"{named.replace('localhost', 'localhost.')}/ended")
        message = await hear(receiver)

    assert (accepted.status_code, message.path) == (202, "/ended")
    assert f"http://{message.headers['host']}" == named


async def test_a_failure_is_told(serve: MakeClient) -> None:
    """Its program may wait all the same."""
    async with listen() as receiver:
        client = await serve_with(serve, receiver)

        answer = await send(client, receiver.host, headers={"Prefer": "wait=30"}, fails=True)
        message = await hear(receiver)

    assert (answer.status_code, answer.json()["content"]) == (200, "no money for a")
    assert message.said["type"] == "tool_call.failed"
    assert message.said["data"]["message"] == answer.json()


async def test_a_cancelled_call_is_told(serve: MakeClient) -> None:
    """As any end is."""
    async with listen() as receiver:
        client = await serve_with(serve, receiver)
        accepted = await send(client, receiver.host, "wait_for", name="a")
        await until(lambda: RAN["a"] > 0)
        await client.post(f"{accepted.headers['Location']}/cancel")

        message = await hear(receiver)

    assert message.said["type"] == "tool_call.cancelled"


async def test_a_call_that_a_person_approves_is_told_once_it_has_ended(serve: MakeClient) -> None:
    """Not before."""
    async with listen() as receiver:
        client = await serve_with(serve, receiver)
        waiting = (await send(client, receiver.host, "refund")).json()
        async with asyncio.timeout(30):
            while waiting["status"] != "awaiting_approval":
                waiting = (await client.get(f"/tool_calls/{waiting['id']}")).json()
        assert receiver.heard == []
        await client.post(f"/approvals/{waiting['approval_id']}", json={"decision": "approve"})

        message = await hear(receiver)

    assert (message.said["type"], message.said["data"]["message"]["content"]) == ("tool_call.succeeded", "refunded a")


async def test_the_same_key_is_told_once(serve: MakeClient) -> None:
    """Where the first call says."""
    async with listen() as receiver:
        client = await serve_with(serve, receiver)
        headers = {"Idempotency-Key": "k", "Prefer": "wait=30"}

        for path in ("/first", "/second"):
            await send(client, f"{receiver.host}{path}", headers=headers)
        await send(client, f"{receiver.host}/last", order="b")
        await until(lambda: len(receiver.heard) == 2)

    assert {message.path for message in receiver.heard} == {"/first", "/last"}


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls?dry_run=true"])
async def test_by_default_nobody_is_told(serve: MakeClient, path: str) -> None:
    """The refusal says what to set, and nothing runs."""
    client = await serve(charge)
    sent = {"name": "charge", "args": {"order": "a"}, "callback_url": "https://hooks.example.com/"}

    answer = await client.post(path, json=sent)

    assert (answer.status_code, read_problem(answer)[0]) == (422, "callback-refused")
    assert "SIDECALL_WEBHOOK_HOSTS=hooks.example.com, with SIDECALL_WEBHOOK_SECRET" in read_problem(answer)[1]
    assert RAN["a"] == 0


async def test_only_hosts_of_the_operator_are_told(serve: MakeClient) -> None:
    """In any dialect."""
    client = await serve(charge, webhook_hosts=("hooks.example.com",), webhook_secret=SECRET)
    for call in (
        {"name": "charge", "args": {"order": "a"}},
        {"function": {"name": "charge", "arguments": '{"order": "a"}'}},
        {"type": "function_call", "name": "charge", "arguments": '{"order": "a"}'},
        {"type": "tool_use", "name": "charge", "input": {"order": "a"}},
        {"functionCall": {"name": "charge", "args": {"order": "a"}}},
    ):
        sent = {**call, "callback_url": "https://169.254.169.254/"}
        answer = await client.post("/tool_calls", json=sent)
        assert (answer.status_code, read_problem(answer)[0]) == (422, "callback-refused")
    assert RAN["a"] == 0


@pytest.mark.parametrize("where", ["beside a call", "beside all", "events"])
async def test_what_is_waited_for_is_not_told_elsewhere(serve: MakeClient, where: str) -> None:
    """A batch and a stream answer themselves."""
    client = await serve(charge, webhook_hosts=("hooks.example.com",), webhook_secret=SECRET)
    call, told = {"name": "charge", "args": {"order": "a"}}, {"callback_url": "https://hooks.example.com/"}
    if where == "events":
        answer = await client.post("/tool_calls", json={**call, **told}, headers={"Accept": "text/event-stream"})
    else:
        body: Any = [{**call, **told}] if where == "beside a call" else {"calls": [call], **told}
        answer = await client.post("/tool_calls/batch", json=body)

    assert read_problem(answer)[0] == "callback-refused"
    assert (RAN["a"], GO) == (0, {})
