"""PHP and Lua write an object without members as `[]`: a call without arguments, at every door."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from sidecall import ToolCall, tool
from tests.features.mcp_server.messages import ask, ask_as_before
from tests.kit.clients import MakeClient

TYPED = {"type": "function_call", "name": "count"}
SENT: dict[str, Any] = {
    "langchain": {"name": "count", "args": []},
    "langchain, with a type": {"type": "tool_call", "name": "count", "args": [], "id": "1"},
    "langchain, text": {"name": "count", "args": "[]"},
    "openai": {"type": "function", "id": "1", "function": {"name": "count", "arguments": []}},
    "openai, text": {"type": "function", "id": "1", "function": {"name": "count", "arguments": " [ ] "}},
    "openai-responses": {**TYPED, "call_id": "1", "arguments": []},
    "openai-responses, text": {**TYPED, "call_id": "1", "arguments": "[]"},
    "gemini, a step": {**TYPED, "id": "1", "arguments": []},
    "anthropic": {"type": "tool_use", "id": "1", "name": "count", "input": []},
    "anthropic, text": {"type": "tool_use", "id": "1", "name": "count", "input": "[]\n"},
    "gemini": {"functionCall": {"name": "count", "args": []}},
    "gemini, of its library": {"function_call": {"name": "count", "args": "[]"}},
}


@tool
async def count(limit: int = 5) -> str:
    """Count.

    Args:
        limit: How far.
    """
    return f"up to {limit}"


@tool(requires_approval=True)
async def delete(order: int = 7) -> str:
    """Delete.

    Args:
        order: Which.
    """
    return f"deleted {order}"


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Serve both."""
    return await make_client(count, delete)


@pytest.mark.parametrize("form", SENT)
async def test_an_empty_array_is_no_arguments(client: httpx.AsyncClient, form: str) -> None:
    """One call, in a batch, as events, as a job and as a question what it would do."""
    call, as_langchain = SENT[form], {"format": "langchain"}

    one = await client.post("/tool_calls", params=as_langchain, json=call)
    batch = await client.post("/tool_calls/batch", params=as_langchain, json={"calls": [call]})
    events = await client.post("/tool_calls", params=as_langchain, json=call, headers={"Accept": "text/event-stream"})
    job = await client.post("/tool_calls", params=as_langchain, json=call, headers={"Prefer": "respond-async, wait=9"})
    plan = await client.post("/tool_calls?dry_run=true", json=call)

    told = json.loads(events.text.partition("event: message\ndata: ")[2].partition("\n")[0])
    assert [it["content"] for it in (one.json(), batch.json()[0], told, job.json())] == ["up to 5"] * 4
    assert (plan.json()["would_run"], plan.json()["args"]) == (True, {"limit": 5})


@pytest.mark.parametrize("wrong", [[1], [{}], [[]], [{"limit": 3}], ["limit", 3]])
@pytest.mark.parametrize("form", [form for form in SENT if "text" not in form and "step" not in form])
async def test_an_array_that_holds_something_is_refused(client: httpx.AsyncClient, form: str, wrong: list[Any]) -> None:
    """Arguments have names."""
    call = json.loads(json.dumps(SENT[form]).replace("[]", json.dumps(wrong)).replace('"[', "[").replace(']"', "]"))

    assert (await client.post("/tool_calls", json=call)).status_code == 422


async def test_so_at_the_other_doors(client: httpx.AsyncClient) -> None:
    """As the body of an operation, over MCP, and as what a person puts in the place of arguments."""
    operation = await client.post("/tools/count/call", json=[])
    refused = await client.post("/tools/count/call", json=[1])
    mcp = [await send(client, "tools/call", name="count", arguments=[]) for send in (ask, ask_as_before)]
    waits = (await client.post("/tool_calls", json={"name": "delete", "args": {"order": 3}})).json()["id"]
    decided = await client.post(f"/approvals/{waits}", json={"decision": "approve", "args": []})

    assert (operation.json(), refused.status_code) == ("up to 5", 422)
    assert [it.json()["result"]["content"][0]["text"] for it in mcp] == ["up to 5"] * 2
    assert decided.json()["message"]["content"] == "deleted 7"


async def test_text_and_object_are_the_same_call(client: httpx.AsyncClient) -> None:
    """A key knows it again."""
    answers = [
        await client.post(
            "/tool_calls", json={"name": "count", "args": args, "id": "1"}, headers={"Idempotency-Key": "k"}
        )
        for args in ({}, [], "[]", "{}")
    ]

    assert [it.status_code for it in answers] == [200] * 4
    assert [it.headers.get("Idempotency-Replayed") for it in answers[1:]] == ["true"] * 3


@pytest.mark.parametrize(
    "call", [[], {"type": "tool_call", "name": "count", "args": []}, ToolCall(name="c", args=[], id="1")]
)
async def test_in_this_process_too(call: Any) -> None:
    """Arguments alone, a dict, an object."""
    said = await count.ainvoke(call)

    assert getattr(said, "content", said) == "up to 5"
    assert await asyncio.to_thread(lambda: getattr(count.invoke(call), "content", said)) == "up to 5"
