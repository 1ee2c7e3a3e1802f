"""A call in its usual form is answered in one step, and just as any other message is."""

import asyncio
import json
import re
from typing import Any

import httpx
import pytest

from sidecall import ApprovalRequired, Registry, ToolContext, tool
from sidecall.features.mcp_server.plain_calls import read_plain_call
from sidecall.features.mcp_server.revisions import RpcMessage
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.mcp_server.messages import BEFORE, META, MODERN, PREFIX, head
from tests.kit.asgi import BOTH_WAYS, sized
from tests.kit.clients import MakeClient
from tests.rest.over_a_wire import Server

# What a message may say that is none of ours, and with which it is read like any message.
_BESIDE = {"com.example/beside": 1}
_MADE_ANEW = re.compile(
    r"[0-9a-f]{8}-[0-9a-f-]{27}|call_[0-9a-f]{32}|\"requestState\":\"[^\"]*\"|\"duration_ms\":[0-9.]+"
)
_CAN_ASK = {f"{PREFIX}clientCapabilities": {"elicitation": {}}}


@tool
async def say(text: str = "nothing") -> str:
    """Say a text."""
    return text


@tool
async def count(items: list[str]) -> int:
    """Count items."""
    return len(items)


@tool
async def find(name: str) -> dict[str, str]:
    """Find what has a name."""
    return {"name": name}


@tool
async def wait(text: str) -> str:
    """Wait for a turn."""
    await asyncio.sleep(0)
    return text


@tool
async def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


@tool(requires_approval=True)
async def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool
async def sell(amount: int, context: ToolContext) -> str:
    """Sell, if a person allows it."""
    if not context.approved:
        raise ApprovalRequired("Sell?", payload={"amount": amount})
    return f"sold {amount}"


@tool
async def look(context: ToolContext) -> dict[str, Any]:
    """Return what stands beside the call."""
    sent = {name: value for name, value in context.headers.items() if name != "content-length"}
    return {"headers": sent, "context": dict(context.context), "state": context.state, "who": context.caller.subject}


@tool(rate="100/minute")
async def rarely(text: str) -> str:
    """Say a text, not too often."""
    return text


_TOOLS = (say, count, find, wait, fail, pay, sell, look, rarely)
_CALLS: dict[str, dict[str, Any]] = {
    "a text": {"name": "say", "arguments": {"text": "hi"}},
    "a text in another script": {"name": "say", "arguments": {"text": "\u4f60\u597d \U0001f600"}},
    "a long text": {"name": "say", "arguments": {"text": "x" * 70_000}},
    "no arguments": {"name": "say"},
    "arguments that are null": {"name": "say", "arguments": None},
    "a number": {"name": "count", "arguments": {"items": ["a", "b"]}},
    "an object": {"name": "find", "arguments": {"name": "Ghent"}},
    "a wait": {"name": "wait", "arguments": {"text": "hi"}},
    "a failure": {"name": "fail", "arguments": {"text": "hi"}},
    "wrong arguments": {"name": "count", "arguments": {"items": 1}},
    "an unknown argument": {"name": "say", "arguments": {"text": "hi", "more": 1}},
    "an unknown tool": {"name": "sey", "arguments": {"text": "hi"}},
    "a person's approval": {"name": "pay", "arguments": {"amount": 1}},
    "a tool that asks": {"name": "sell", "arguments": {"amount": 1}},
    "what is beside": {"name": "look", "arguments": {}},
    "a tool with a rate": {"name": "rarely", "arguments": {"text": "hi"}},
}


def _write(params: dict[str, Any], meta: dict[str, Any], call_id: Any = 1) -> dict[str, Any]:
    said = {**params, "_meta": meta} if meta else params
    return {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": said}


async def _send(client: httpx.AsyncClient, message: dict[str, Any], version: str) -> tuple[int, list[str], str]:
    headers = {**head(message), "MCP-Protocol-Version": version}
    answer = await client.post("/mcp", json=message, headers=headers)
    return answer.status_code, sorted(answer.headers), _MADE_ANEW.sub("-", answer.text)


@BOTH_WAYS
@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize(
    ("version", "meta"),
    [
        pytest.param(MODERN, META, id="2026-07-28"),
        pytest.param(MODERN, {**META, f"{PREFIX}clientInfo": {"name": "x", "version": "1"}}, id="a client with a name"),
        pytest.param(MODERN, {**META, **_CAN_ASK}, id="a client with forms"),
        pytest.param(BEFORE, {}, id="2025-11-25"),
    ],
)
async def test_the_answer_is_that_to_any_message(
    make_client: MakeClient, version: str, meta: dict[str, Any], call: str
) -> None:
    """To the byte, but for what is made anew for each call."""
    client = await make_client(*_TOOLS)

    usual, other = [await _send(client, _write(_CALLS[call], said), version) for said in (meta, meta | _BESIDE)]

    assert usual == other


@pytest.mark.parametrize("call_id", ["a", "", 0, -1, 2**70])
async def test_an_id_is_repeated(make_client: MakeClient, call_id: Any) -> None:
    """Of any kind and size."""
    client = await make_client(say)
    message = _write(_CALLS["a text"], META, call_id)

    answer = (await client.post("/mcp", json=message, headers=head(message))).json()

    assert (answer["id"], answer["result"]["content"]) == (call_id, [{"type": "text", "text": "hi"}])


@pytest.mark.parametrize("beside", [{}, _BESIDE])
@pytest.mark.parametrize(("items", "status"), [(50, 200), (200, 413)])
async def test_a_call_has_no_more_values_than_any_body(items: int, status: int, beside: dict[str, Any]) -> None:
    """Also where its bytes have come at once."""
    app = create_app(Settings(store="memory://", history="off", max_json_values=100), Registry([count]))
    message = _write({"name": "count", "arguments": {"items": ["a"] * items}}, META | beside)
    body = json.dumps(message).encode()
    headers = [(name.lower(), value) for name, value in head(message).items()]

    answer = await Server(app).ask(("POST", "/mcp", sized(body, *headers), body))

    assert answer.status == status


_HEADERS = {b"mcp-protocol-version": b"2026-07-28", b"mcp-method": b"tools/call", b"mcp-name": b"say"}
_USUAL = _write(_CALLS["a text"], META)


def _without(name: bytes) -> dict[bytes, bytes]:
    return {key: value for key, value in _HEADERS.items() if key != name}


@pytest.mark.parametrize(
    ("message", "headers"),
    [
        (_USUAL, _without(b"mcp-name")),
        (_USUAL, _without(b"mcp-method")),
        (_USUAL, _without(b"mcp-protocol-version")),
        (_USUAL, {**_HEADERS, b"mcp-name": b"=?base64?c2F5?="}),
        (_USUAL, {**_HEADERS, b"mcp-protocol-version": b"2025-11-25"}),
        (_USUAL, {**_HEADERS, b"traceparent": b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}),
        (_USUAL, {**_HEADERS, b"sidecall-conversation": b"c1"}),
        (_USUAL, {**_HEADERS, b"mcp-session-id": b"s1"}),
        ({**_USUAL, "id": None}, _HEADERS),
        ({**_USUAL, "id": True}, _HEADERS),
        ({**_USUAL, "id": 1.5}, _HEADERS),
        ({**_USUAL, "more": 1}, _HEADERS),
        ({**_USUAL, "method": "tools/list"}, _HEADERS),
        ({**_USUAL, "jsonrpc": "1.0"}, _HEADERS),
        (_write({**_CALLS["a text"], "task": {}}, META), _HEADERS),
        (_write({**_CALLS["a text"], "requestState": "x"}, META), _HEADERS),
        (_write({"name": "say", "arguments": "{}"}, META), _HEADERS),
        (_write(_CALLS["a text"], {**META, "progressToken": 1}), _HEADERS),
        (_write(_CALLS["a text"], {**META, f"{PREFIX}protocolVersion": "2027-01-01"}), _HEADERS),
        (_write(_CALLS["a text"], {f"{PREFIX}protocolVersion": MODERN}), _HEADERS),
        (_write({**_CALLS["a text"], "_meta": None}, {}), {}),
        (_write(_CALLS["a text"], {}), _HEADERS),
        ([_USUAL], _HEADERS),
    ],
)
def test_all_else_is_left_to_be_read_like_any_message(message: Any, headers: dict[bytes, bytes]) -> None:
    """It may mean more, or be wrong."""
    assert read_plain_call(json.dumps(message).encode(), headers) is None


@pytest.mark.parametrize(
    ("params", "meta"),
    [
        ({"name": "say", "arguments": {"text": "hi"}}, META),
        ({"name": "say", "arguments": {}}, {**META, f"{PREFIX}clientInfo": {"name": "x"}}),
    ],
)
def test_a_call_is_the_message_that_it_came_as(params: dict[str, Any], meta: dict[str, Any]) -> None:
    """For what has to be said of it later."""
    read = read_plain_call(json.dumps(_write(params, meta)).encode(), _HEADERS)

    assert read is not None
    assert read.to_message() == RpcMessage(1, "tools/call", {**params, "_meta": meta}, meta)
