"""Plain calls that run are listed, and end when they are cancelled."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from sidecall import BaseTool, ToolContext, tool
from tests.kit.clients import MakeClient


class Stage:
    """Tools that go on until they are let go, and what became of them."""

    def __init__(self) -> None:
        """Let none go."""
        self.going, self.gone = asyncio.Event(), asyncio.Event()
        self.was_cancelled = False

    async def hold(self) -> None:
        """Go on until all are let go."""
        self.going.set()
        try:
            await self.gone.wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise

    def make(self) -> list[BaseTool]:
        """Make a polite tool, one that takes no cancellation, and one that fails because of it."""

        @tool(tags=["slow"])
        async def wait(text: str, context: ToolContext) -> str:
            """Wait."""
            context.report_progress(1, 4, "a quarter")
            await self.hold()
            return text

        @tool
        async def insist() -> str:
            """Go on."""
            with suppress(asyncio.CancelledError):
                await self.hold()
            return "went on"

        @tool
        async def break_down() -> str:
            """Fail."""
            try:
                await self.hold()
            except asyncio.CancelledError:
                raise ValueError from None
            return "was let go"

        return [wait, insist, break_down]


@tool(executor="process")
def count(context: ToolContext) -> str:
    """Count for ever."""
    context.report_progress(3, None, "three")
    threading.Event().wait(60)
    return "done"


WAIT: dict[str, Any] = {"name": "wait", "args": {"text": "hi"}, "id": "c1"}
FORMS: dict[str, dict[str, Any]] = {
    "langchain": WAIT,
    "openai": {"id": "c1", "type": "function", "function": {"name": "wait", "arguments": '{"text": "hi"}'}},
    "anthropic": {"type": "tool_use", "id": "c1", "name": "wait", "input": {"text": "hi"}},
    "gemini": {"functionCall": {"id": "c1", "name": "wait", "args": {"text": "hi"}}},
}


@asynccontextmanager
async def running(
    client: httpx.AsyncClient, stage: Stage, body: Any = WAIT, path: str = "/tool_calls", **headers: str
) -> AsyncIterator[tuple[dict[str, Any], asyncio.Task[httpx.Response]]]:
    """Send a call, and give its entry while it runs."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = asyncio.create_task(client.post(path, json=body, headers=named))
    await stage.going.wait()
    [entry] = (await client.get("/tool_calls?status=running", headers=named)).json()
    yield entry, sent
    stage.gone.set()
    await sent


async def test_a_running_call_is_listed(make_client: MakeClient) -> None:
    """With its tool, caller, time and progress, and the process that runs it; it is gone once it has ended."""
    stage = Stage()
    client = await make_client(*stage.make(), caller_header="X-User")

    async with running(client, stage, X_User="ann", Sidecall_Conversation="chat") as (entry, _):
        shown = (await client.get(f"/tool_calls/{entry['id']}", headers={"X-User": "ann"})).json()

    assert {name: entry[name] for name in ("name", "caller", "status", "tool_call_id", "tags", "conversation_id")} == {
        "name": "wait",
        "caller": "ann",
        "status": "running",
        "tool_call_id": "c1",
        "tags": ["slow"],
        "conversation_id": "chat",
    }
    assert entry["progress"] == {"done": 1, "total": 4, "message": "a quarter"}
    assert entry["started_at"] is not None
    assert isinstance(entry["worker"], int)
    assert (shown["id"], shown["status"]) == (entry["id"], "running")
    assert (await client.get("/tool_calls?status=running", headers={"X-User": "ann"})).json() == []


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 1),
        ("&name=wait", 1),
        ("&name=insist", 0),
        ("&tag=slow", 1),
        ("&tag=fast", 0),
        ("&caller=anonymous", 1),
        ("&caller=ann", 0),
        ("&conversation=chat", 1),
        ("&conversation=other", 0),
        ("&kind=timeout", 0),
        ("&since=2020-01-01T00:00:00Z", 1),
        ("&until=2020-01-01T00:00:00Z", 0),
        ("&request_id=r1", 1),
        ("&request_id=r2", 0),
        ("&trace_id=11111111111111111111111111111111", 0),
        ("&limit=1", 1),
    ],
)
async def test_running_calls_are_filtered_as_others(make_client: MakeClient, query: str, count: int) -> None:
    """By all that is known of them."""
    stage = Stage()
    client = await make_client(*stage.make())

    async with running(client, stage, Sidecall_Conversation="chat", X_Request_Id="r1"):
        assert len((await client.get(f"/tool_calls?status=running{query}")).json()) == count


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", ["/tool_calls", "/tool_calls/batch", "stream"])
async def test_a_cancelled_call_is_answered(make_client: MakeClient, form: str, way: str) -> None:
    """Its client gets an error of its own form, alone, in a batch and as a stream."""
    stage = Stage()
    client = await make_client(*stage.make())
    path = "/tool_calls" if way == "stream" else way
    headers = {"Accept": "text/event-stream"} if way == "stream" else {}

    async with running(client, stage, [FORMS[form]] if path.endswith("batch") else FORMS[form], path, **headers) as it:
        entry, sent = it
        ended = await client.post(f"/tool_calls/{entry['id']}/cancel")
        answer = await sent

    assert (ended.status_code, ended.json()["status"], ended.json()["kind"]) == (200, "cancelled", "cancelled")
    assert answer.status_code == 200
    assert "the call was cancelled; it may have had effects if it had begun" in answer.text
    assert stage.was_cancelled
    [kept] = (await client.get("/tool_calls")).json()
    assert (kept["id"], kept["status"], kept["kind"]) == (entry["id"], "cancelled", "cancelled")


@pytest.mark.parametrize(
    ("name", "status", "content"),
    [("insist", "succeeded", "went on"), ("break_down", "failed", "failed unexpectedly")],
)
async def test_a_tool_may_end_otherwise(make_client: MakeClient, name: str, status: str, content: str) -> None:
    """What it says in spite of its cancellation is the answer, and the connection goes on."""
    stage = Stage()
    client = await make_client(*stage.make())

    async with running(client, stage, {"name": name, "args": {}, "id": "c1"}) as (entry, sent):
        ended = (await client.post(f"/tool_calls/{entry['id']}/cancel")).json()
        answer = (await sent).json()

    assert ended["status"] == status
    assert content in answer["content"]
    assert (await client.get("/healthz")).status_code == 200


async def test_a_call_is_cancelled_once(make_client: MakeClient) -> None:
    """Who asks at the same time is told the same; later it has ended."""
    stage = Stage()
    client = await make_client(*stage.make())

    async with running(client, stage) as (entry, _):
        path = f"/tool_calls/{entry['id']}/cancel"
        both = await asyncio.gather(client.post(path), client.post(path))

    assert {answer.json().get("status") for answer in both} <= {"cancelled", 409}
    assert (await client.post(path)).status_code == 409


async def test_a_call_is_waited_for(make_client: MakeClient) -> None:
    """By another client, as a remembered one."""
    stage = Stage()
    client = await make_client(*stage.make())

    async with running(client, stage) as (entry, _):
        waiting = asyncio.create_task(client.get(f"/tool_calls/{entry['id']}", headers={"Prefer": "wait=10"}))
        await asyncio.sleep(0)
        stage.gone.set()
        shown = (await waiting).json()

    assert (shown["status"], shown["message"]["content"]) == ("succeeded", "hi")


async def test_callers_see_their_own_tenant(make_client: MakeClient) -> None:
    """A call of another tenant is neither listed, shown nor cancelled."""
    stage = Stage()
    client = await make_client(*stage.make(), caller_header="X-User", tenant_header="X-Tenant")
    eve = {"X-User": "eve", "X-Tenant": "b"}

    async with running(client, stage, X_User="ann", X_Tenant="a") as (entry, sent):
        path = f"/tool_calls/{entry['id']}"
        answers = [await client.get(path, headers=eve), await client.post(f"{path}/cancel", headers=eve)]
        listed = await client.get("/tool_calls?status=running", headers=eve)
        assert not sent.done()

    assert ([it.status_code for it in answers], listed.json()) == ([404, 404], [])


async def test_progress_of_a_tool_in_a_process_is_shown(make_client: MakeClient) -> None:
    """Though its client does not listen; cancelling ends its process's work."""
    client = await make_client(count)
    sent = asyncio.create_task(client.post("/tool_calls", json={"name": "count", "args": {}, "id": "c1"}))
    entry: dict[str, Any] = {}
    while entry.get("progress") is None:
        entry = next(iter((await client.get("/tool_calls?status=running")).json()), {})
        await asyncio.sleep(0.01)

    ended = (await client.post(f"/tool_calls/{entry['id']}/cancel")).json()

    assert entry["progress"] == {"done": 3, "total": None, "message": "three"}
    assert ended["status"] == "cancelled"
    assert (await sent).json()["response_metadata"]["error"]["kind"] == "cancelled"


async def test_calls_over_mcp_and_as_operations_end_too(make_client: MakeClient) -> None:
    """Each in the words of its protocol."""
    stage = Stage()
    client = await make_client(*stage.make())
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait", "arguments": {"text": "hi"}}}
    mcp = {"Accept": "application/json, text/event-stream"}

    async with running(client, stage, call, "/mcp", **mcp) as (entry, sent):
        await client.post(f"/tool_calls/{entry['id']}/cancel")
        over_mcp = await sent
    stage.going.clear()
    stage.gone.clear()
    async with running(client, stage, {"text": "hi"}, "/tools/wait/call") as (entry, sent):
        await client.post(f"/tool_calls/{entry['id']}/cancel")
        as_operation = await sent

    assert '"isError":true' in over_mcp.text
    assert "the call was cancelled" in over_mcp.text
    assert as_operation.status_code >= 400
    assert "the call was cancelled" in as_operation.text
