"""Calls, approvals and files of a conversation are found again as one story."""

import asyncio
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from sidecall import ToolException, tool
from tests.kit.clients import MakeClient

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@tool(tags=["speech"])
async def say(text: str) -> str:
    """Say something.

    Args:
        text: What.
    """
    if text == "bad":
        raise ToolException("not a nice word")
    return text


@tool(requires_approval=True)
async def pay(cents: int) -> str:
    """Pay.

    Args:
        cents: How much.
    """
    return f"paid {cents}"


def _call(id: str, text: str = "hi") -> dict[str, Any]:
    return {"name": "say", "args": {"text": text}, "id": id}


def _in(conversation: str, **headers: str) -> dict[str, str]:
    return {"Sidecall-Conversation": conversation, **{name.replace("_", "-"): it for name, it in headers.items()}}


async def _list(client: httpx.AsyncClient, **query: Any) -> list[str]:
    return [it["tool_call_id"] for it in (await client.get("/tool_calls", params=query)).json()]


async def _read(client: httpx.AsyncClient, path: str, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
    pages, next_path = [], path
    while next_path:
        page = await client.get(next_path, headers=headers)
        pages.append(page.json())
        next_path = page.links.get("next", {}).get("url", "")
    return pages


async def test_a_conversation_is_told_in_order(make_client: MakeClient, store: str) -> None:
    """Plain calls, jobs, failures and what waited for a person."""
    client = await make_client(say, pay, store=store)
    chat = _in("chat 7", **PARENT, X_Request_Id="req/1")
    await client.post("/tool_calls", json=_call("1"), headers=chat)
    await client.post("/tool_calls", json=_call("2", "bad"), headers=chat)
    await client.post("/tool_calls", json=_call("3"), headers={**chat, "Prefer": "respond-async, wait=5"})
    held = await client.post("/tool_calls", json={"name": "pay", "args": {"cents": 4}, "id": "4"}, headers=chat)
    sent = await client.put("/workspaces/chat%207/files/a.txt", content=b"a")
    listed = (await client.get("/conversations")).json()
    await client.post(f"/approvals/{held.json()['id']}", json={"decision": "approve"})

    story = (await client.get("/conversations/chat%207")).json()

    assert [(it["id"], it["calls"], it["errors"], it["waiting"]) for it in listed] == [("chat 7", 3, 1, 1)]
    assert listed[0]["first"] < listed[0]["last"]
    assert [it["tool_call_id"] for it in story["calls"]] == ["1", "2", "3", "4"]
    assert {(it["conversation_id"], it["trace_id"], it["request_id"]) for it in story["calls"]} == {
        ("chat 7", TRACE, "req/1")
    }
    assert [(it["status"], it["conversation_id"], it["trace_id"], it["request_id"]) for it in story["approvals"]] == [
        ("approved", "chat 7", TRACE, "req/1")
    ]
    assert [it["path"] for it in story["files"]] == (["a.txt"] if sent.status_code < 300 else [])
    assert sorted(it["at"] for it in story["timeline"]) == [it["at"] for it in story["timeline"]]
    assert {it["type"] for it in story["timeline"]} >= {"call", "approval"}
    assert (story["errors"], story["waiting"]) == (1, 0)


FOUND: list[tuple[dict[str, str], list[str]]] = [
    ({"conversation": "one"}, ["j1", "b2", "b1", "1"]),
    ({"conversation": "two ü ✓"}, ["2"]),
    ({"conversation": "one", "status": "failed"}, ["b2"]),
    ({"conversation": "on"}, []),
    ({"trace_id": TRACE}, ["j1", "1"]),
    ({"trace_id": "1" * 32}, []),
    ({"request_id": "batch"}, ["b2", "b1"]),
    ({"request_id": "bat"}, []),
    ({"request_id": "first", "trace_id": TRACE, "conversation": "one", "name": "say"}, ["1"]),
    ({"request_id": "first", "conversation": "two ü ✓"}, []),
]


async def test_calls_are_filtered_by_what_they_belong_to(client_with_calls: httpx.AsyncClient) -> None:
    """Plain ones, those of a batch, and jobs."""
    for query, found in FOUND:
        assert (query, await _list(client_with_calls, **query)) == (query, found)


@pytest.fixture
async def client_with_calls(make_client: MakeClient, store: str) -> httpx.AsyncClient:
    """Give a client that has sent some calls."""
    client = await make_client(say, store=store)
    await client.post("/tool_calls", json=_call("1"), headers=_in("one", **PARENT, X_Request_Id="first"))
    beside = {"context": {"conversation_id": "two ü ✓"}}
    await client.post("/tool_calls", json={**_call("2"), **beside})
    batch = [_call("b1"), _call("b2", "bad")]
    for one in batch:
        await client.post("/tool_calls/batch", json=[one], headers=_in("one", X_Request_Id="batch"))
    job = {**_in("one", **PARENT), "Prefer": "respond-async, wait=5"}
    await client.post("/tool_calls", json=_call("j1"), headers=job)
    await client.post("/tool_calls", json=_call("none"))
    return client


@pytest.mark.parametrize(
    "query",
    [
        {"trace_id": "short"},
        {"trace_id": "A" * 32},
        {"request_id": "a b"},
        {"request_id": "x" * 129},
        {"conversation": "a\x00b"},
        {"conversation": "a/b"},
        {"conversation": "x" * 257},
        {"conversation": ""},
        {"trace": TRACE},
    ],
)
async def test_what_names_nothing_is_refused(make_client: MakeClient, query: dict[str, str]) -> None:
    """422, where calls are listed and where they are exported."""
    client = await make_client(say)

    answers = [(await client.get(path, params=query)).status_code for path in ("/tool_calls", "/tool_calls/export")]

    assert answers == [422, 422]


NAMES = ["a", "é ✓ 漢字", "x" * 256, "a?b=c&d#e", "100%", "..a", "<script>", "'; DROP TABLE calls"]


async def test_any_name_is_found_again(make_client: MakeClient, store: str) -> None:
    """As the program wrote it, in the list, by its address and as a filter."""
    client = await make_client(say, store=store)
    for number, name in enumerate(NAMES):
        await client.post("/tool_calls", json={**_call(str(number)), "context": {"conversation_id": name}})

    assert [it["id"] for it in (await client.get("/conversations")).json()] == NAMES[::-1]
    for number, name in enumerate(NAMES):
        story = await client.get(f"/conversations/{quote(name, safe='')}")
        assert (story.status_code, story.json()["id"], len(story.json()["calls"])) == (200, name, 1)
        assert await _list(client, conversation=name) == [str(number)]


@pytest.mark.parametrize("path", ["none", "%00", "%ff", "a%2Fb", "x" * 257])
async def test_there_is_no_such_conversation(make_client: MakeClient, path: str) -> None:
    """404, or 422 where it is too long, and nothing of the server's own."""
    client = await make_client(say)

    assert (await client.get(f"/conversations/{path}")).status_code == (422 if len(path) > 256 else 404)


async def test_lists_and_stories_come_in_pages(make_client: MakeClient, store: str) -> None:
    """Each conversation and call once; the latest first, and within a page of calls the oldest."""
    client = await make_client(say, store=store)
    for number in range(5):
        await client.post("/tool_calls", json=_call(str(number)), headers=_in(f"chat {number}"))
        await client.post("/tool_calls", json=_call(f"main {number}"), headers=_in("main"))

    listed = await _read(client, "/conversations?limit=2")
    story = await _read(client, "/conversations/main?limit=2")

    assert [[it["id"] for it in page] for page in listed] == [
        ["main", "chat 4"],
        ["chat 3", "chat 2"],
        ["chat 1", "chat 0"],
    ]
    assert [[it["tool_call_id"] for it in page["calls"]] for page in story] == [
        ["main 3", "main 4"],
        ["main 1", "main 2"],
        ["main 0"],
    ]


async def test_a_caller_sees_its_own_tenant_only(make_client: MakeClient) -> None:
    """Of the same name another tenant has another conversation, or none."""
    client = await make_client(say, pay, caller_header="X-User", tenant_header="X-Tenant")
    ann, eve = {"X-User": "ann", "X-Tenant": "a"}, {"X-User": "eve", "X-Tenant": "b"}
    await client.post("/tool_calls", json=_call("1"), headers={**_in("chat"), **ann})

    by_eve = [await client.get(path, headers=eve) for path in ("/conversations", "/conversations/chat")]

    assert (by_eve[0].json(), by_eve[1].status_code) == ([], 404)
    assert [it["id"] for it in (await client.get("/conversations", headers=ann)).json()] == ["chat"]


async def test_without_a_history_what_is_remembered_is_told(make_client: MakeClient) -> None:
    """There is no list then."""
    client = await make_client(say, history="off")
    await client.post("/tool_calls", json=_call("1"), headers={**_in("chat"), "Prefer": "respond-async, wait=5"})

    listed, story = await client.get("/conversations"), await client.get("/conversations/chat")

    assert listed.status_code == 404
    assert [it["tool_call_id"] for it in story.json()["calls"]] == ["1"]


async def test_a_conversation_is_listed_while_its_first_call_runs(make_client: MakeClient) -> None:
    """Its count is that of ended calls."""
    going, gone = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        going.set()
        await gone.wait()
        return "done"

    client = await make_client(wait)
    sent = {"name": "wait", "args": {}, "id": "1"}
    async with asyncio.TaskGroup() as group:
        group.create_task(client.post("/tool_calls", json=sent, headers=_in("chat")))
        await going.wait()
        [listed] = (await client.get("/conversations")).json()
        story = (await client.get("/conversations/chat")).json()
        gone.set()

    assert (listed["id"], listed["calls"]) == ("chat", 0)
    assert [(it["name"], it["status"]) for it in story["calls"]] == [("wait", "running")]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "say", "args": {"text": "hi"}, "id": "c"},
        {"id": "c", "type": "function", "function": {"name": "say", "arguments": '{"text": "hi"}'}},
        {"type": "function_call", "call_id": "c", "name": "say", "arguments": '{"text": "hi"}'},
        {"type": "tool_use", "id": "c", "name": "say", "input": {"text": "hi"}},
        {"functionCall": {"id": "c", "name": "say", "args": {"text": "hi"}}},
    ],
    ids=["langchain", "openai", "openai-responses", "anthropic", "gemini"],
)
@pytest.mark.parametrize("way", ["/tool_calls", "/tool_calls/batch", "stream", "job"])
async def test_every_door_keeps_what_a_call_belongs_to(make_client: MakeClient, body: Any, way: str) -> None:
    """Each provider's form, alone, in a batch, as a stream and as a job."""
    client = await make_client(say)
    headers = _in("chat", **PARENT, X_Request_Id="req-1")
    headers |= {"stream": {"Accept": "text/event-stream"}, "job": {"Prefer": "respond-async, wait=5"}}.get(way, {})
    path = way if way.startswith("/") else "/tool_calls"

    await client.post(path, json=[body] if path.endswith("batch") else body, headers=headers)
    [kept] = (await client.get("/tool_calls")).json()

    assert (kept["conversation_id"], kept["trace_id"], kept["request_id"]) == ("chat", TRACE, "req-1")


async def test_operations_and_mcp_keep_it_too(make_client: MakeClient) -> None:
    """The other two ways to call a tool."""
    client = await make_client(say)
    headers = _in("chat", **PARENT, X_Request_Id="req-1")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "say", "arguments": {"text": "hi"}}}

    await client.post("/tools/say/call", json={"text": "hi"}, headers=headers)
    await client.post("/mcp", json=call, headers={**headers, "Accept": "application/json, text/event-stream"})
    kept = (await client.get("/tool_calls")).json()

    assert [(it["conversation_id"], it["trace_id"], it["request_id"]) for it in kept] == [("chat", TRACE, "req-1")] * 2


async def test_a_trace_that_is_none_is_not_kept(make_client: MakeClient) -> None:
    """Zeros, a forbidden version, or another text."""
    client = await make_client(say)
    for text in (
        "no",
        f"ff-{TRACE}-b7ad6b7169203331-01",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-{TRACE}-{'0' * 16}-01",
    ):
        await client.post("/tool_calls", json=_call(text[:4]), headers={"traceparent": text})

    assert {it["trace_id"] for it in (await client.get("/tool_calls")).json()} == {None}
