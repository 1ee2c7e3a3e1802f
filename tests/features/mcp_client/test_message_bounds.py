"""Messages of MCP servers hold nobody up: large ones are read in threads, and have bounds."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sidecall.features.mcp_client.link import LinkLost
from sidecall.features.mcp_client.sdk import message_bounds
from sidecall.features.mcp_client.sdk.message_bounds import BoundedBody, BoundedEvents, parse_message
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.features.mcp_client.http_server import run_server
from tests.features.mcp_client.test_offered import call, read_status, wait_for_status
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop

_VALUES = "The answer has more than 100,000 values, and is not read. Ask for less."
_BLOCKS = "The answer has more than 2,000 blocks of content, and is not read. Ask for less."


def write_answer(*, values: int = 0, blocks: int = 0) -> dict[str, Any]:
    """Write an answer to a call."""
    result = {"content": [{"type": "text", "text": "x"}] * blocks, "structuredContent": {"v": [1] * values, "id": 5}}
    return {"jsonrpc": "2.0", "id": 7, "result": result}


def write_error(text: str, request_id: object = 7) -> dict[str, Any]:
    """Write what stands in the place of an answer."""
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": text}}


async def parse(message: dict[str, Any]) -> Any:
    """Let a message through that a program has written."""
    read = (await parse_message(json.dumps(message).encode())).message
    return read.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def _flow(*pieces: bytes) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def read_body(message: dict[str, Any]) -> Any:
    """Let it through as the body of an answer, in two pieces."""
    body = json.dumps(message).encode()
    return json.loads(b"".join([piece async for piece in BoundedBody(_flow(body[:999], body[999:]), 10**9)]))


async def read_events(message: dict[str, Any], end: str = "\n") -> Any:
    """Let it through as an event among others, in pieces that end anywhere."""
    sent = [{"method": "before"}, message, {"method": "after"}]
    events = "".join(f"event: message{end}data: {json.dumps(it)}{end}{end}" for it in sent).encode()
    pieces = [events[at : at + 1001] for at in range(0, len(events), 1001)]
    came = b"".join([piece async for piece in BoundedEvents(_flow(*pieces), 10**9)])
    before, read, after, rest = came.decode().replace("\r\n", "\n").split("\n\n")
    assert [json.loads(it.removeprefix("event: message\ndata: ")) for it in (before, after)] == sent[::2]
    assert rest == ""
    return json.loads(read.removeprefix("event: message\ndata: ").removeprefix("event: message\ndata:"))


async def read_windows_events(message: dict[str, Any]) -> Any:
    """The same with other ends of lines."""
    return await read_events(message, "\r\n")


WAYS = [parse, read_body, read_events, read_windows_events]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sent", [{}, {"values": 99_000}, {"blocks": 2_000}], ids=str)
async def test_what_may_be_is_let_through(way: Any, sent: dict[str, int]) -> None:
    """Unchanged, and looked at beside the event loop where it is long."""
    message = write_answer(**sent)
    with listing_calls_on_loop(message_bounds, "_parse_bounded") as on_loop:
        came = await way(message)

    assert came == message
    assert on_loop == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("sent", "text"), [({"values": 100_000}, _VALUES), ({"blocks": 2_001}, _BLOCKS)], ids=["values", "blocks"]
)
async def test_an_answer_that_would_hold_up_others_becomes_an_error(way: Any, sent: dict[str, int], text: str) -> None:
    """Of its own request."""
    assert await way(write_answer(**sent)) == write_error(text)


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ('{"id": "a b", "result": %s}', "a b"),
        (' { "jsonrpc" : "2.0" , "id" : 12 , "result" : %s } ', 12),
        ('{"result": %s, "jsonrpc": "2.0", "id": 13}', 13),
        ('{"jsonrpc": "2.0", "result": %s, "id": 14}\r', 14),
        ('{"result": %s, "id": "é", "jsonrpc": "2.0"}', "é"),
    ],
)
async def test_the_request_is_found_that_is_answered(message: str, request_id: object) -> None:
    """Without a look at all values: it stands at the beginning or the end."""
    values = json.dumps({"id": 5, "v": [1] * 100_000, "w": {"id": 6}})
    read = (await parse_message((message % values).encode())).message

    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == write_error(_VALUES, request_id)


async def test_a_large_message_that_answers_nothing_ends_the_connection() -> None:
    """Nobody could be told."""
    with pytest.raises(LinkLost) as lost:
        await parse({"jsonrpc": "2.0", "method": "notifications/x", "params": {"id": 5, "v": [1] * 100_000}})

    assert str(lost.value) == "It has sent a message of more than 100,000 values."


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_an_event_is_passed_on_when_it_is_whole(end: bytes) -> None:
    """Not only with the next one."""
    pieces = [b"data: 1" + end, end, b"data: 2" + end + end + b"data"]

    assert [piece async for piece in BoundedEvents(_flow(*pieces), 99)] == [
        b"data: 1" + end + end, b"data: 2" + end + end, b"data",
    ]  # fmt: skip


async def test_what_is_no_json_is_left_to_the_client() -> None:
    """It says what is wrong with it."""
    body = b"[" + b"1 " * 50_000

    assert [piece async for piece in BoundedBody(_flow(body), 10**9)] == [body]


@pytest.mark.parametrize("kind", [BoundedBody, BoundedEvents])
async def test_a_message_has_as_many_bytes_as_it_may(kind: Any) -> None:
    """Each event for itself."""
    with pytest.raises(LinkLost, match="larger than SIDECALL_MAX_RESULT_BYTES"):
        _ = [piece async for piece in kind(_flow(b"x" * 10, b"x" * 10), 19)]
    events = [b"data: 1\n\ndata", b": 2\n\n"] * 10

    assert b"".join([piece async for piece in BoundedEvents(_flow(*events), 19)]) == b"".join(events)


@pytest.mark.parametrize(("args", "text"), [({"values": 100_000}, _VALUES), ({"blocks": 2_001}, _BLOCKS)])
async def test_the_call_says_which_bound_its_answer_has_passed(
    make_client: MakeClient, args: dict[str, int], text: str
) -> None:
    """Others are not concerned."""
    client = await make_client(mcp_servers=write_servers(kit=describe_kit()))
    await wait_for_status(client, state="connected")
    message = await call(client, "kit__flood", **args)
    after = await call(client, "kit__flood", blocks=2_000)

    assert (message["status"], message["content"]) == ("error", f"Error: {text}")
    assert after["status"] == "success"
    assert (await read_status(client))["connects"] == 1


async def test_the_same_holds_over_http(make_client: MakeClient) -> None:
    """Whose bodies the official client reads."""
    with run_server("404 text/plain") as (url, _):
        client = await make_client(mcp_servers=write_servers(kit={"url": url}))
        await wait_for_status(client, state="connected")
        message = await call(client, "kit__echo", words="x", blocks=2_001)
        after = await call(client, "kit__echo", words="x", blocks=2_000)
        status = await read_status(client)

    assert (message["content"], after["status"]) == (f"Error: {_BLOCKS}", "success")
    assert status["connects"] == 1
