"""One client speaks over two pipes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sidecall import BaseTool, Registry, ToolContext, tool
from sidecall.features.mcp_server.stdio import PipeServer
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.mcp_server.messages import PREFIX, write
from tests.kit.waiting import until

ENDS: list[str] = []


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
async def wait(*, context: ToolContext) -> None:
    """Wait until somebody cancels."""
    context.report_progress(1, 2)
    try:
        await asyncio.sleep(60)
    finally:
        ENDS.append("ended")


class Client:
    """The other end of both pipes."""

    def __init__(self, sink: int, source: int) -> None:
        self._sink = sink
        self._source = os.fdopen(source, "rb")

    def send(self, line: Any) -> None:
        """Send a line, or a message as one."""
        os.write(self._sink, (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")

    async def read(self) -> Any:
        """Read the next message."""
        return json.loads(await asyncio.to_thread(self._source.readline))

    def close(self) -> None:
        """Close one end, as a client does that has done."""
        os.close(self._sink)


@asynccontextmanager
async def speaking(*tools: BaseTool, **settings: Any) -> AsyncIterator[Client]:
    """Serve these tools to a client, until it closes its end."""
    ENDS.clear()
    app = create_app(Settings(**settings), Registry(tools))
    (source, sent), (read, sink) = os.pipe(), os.pipe()
    client = Client(sent, read)
    async with app.router.lifespan_context(app):
        with os.fdopen(source, "rb") as here, os.fdopen(sink, "wb") as there:
            task = asyncio.create_task(PipeServer(app.state.mcp.parts, here, there).serve())
            try:
                yield client
            finally:
                client.close()
                await task
    client._source.close()


async def test_both_revisions_are_spoken() -> None:
    """The modern one without a handshake."""
    async with speaking(add) as client:
        client.send(write("tools/call", name="add", arguments={"a": 1, "b": 2}))
        modern = await client.read()
        client.send({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {"protocolVersion": "2025-06-18"}})
        initialized = await client.read()
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        client.send(b"")
        client.send({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        listed = await client.read()

    assert (modern["id"], modern["result"]["structuredContent"]) == (1, {"result": 3})
    assert (initialized["id"], initialized["result"]["protocolVersion"]) == ("i", "2025-06-18")
    assert [item["name"] for item in listed["result"]["tools"]] == ["add"]


async def test_a_client_cancels_and_another_call_goes_on() -> None:
    """It is told of progress before, and nothing of the call afterwards."""
    async with speaking(add, wait) as client:
        client.send(write("tools/call", {"progressToken": "t"}, name="wait"))
        progress = await client.read()
        client.send(write("tools/call", name="add", arguments={"a": 1, "b": 2}))
        twice = await client.read()
        for call_id in ("unknown", [1], 1):
            cancelled = {"requestId": call_id}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled})
        await until(lambda: ENDS == ["ended"])
        client.send(write("tools/call", name="add", arguments={"a": 1, "b": 2}))
        answer = await client.read()

    assert progress["params"] == {"progressToken": "t", "progress": 1, "total": 2}
    assert twice["error"] == {"code": -32600, "message": "This id is that of a running request."}
    assert answer["result"]["structuredContent"] == {"result": 3}


async def test_what_runs_ends_with_its_client() -> None:
    """Who closes its end waits for nothing."""
    async with speaking(wait) as client:
        client.send(write("tools/call", {"progressToken": "t"}, name="wait"))
        await client.read()

    assert ENDS == ["ended"]


async def test_what_is_no_message_is_refused() -> None:
    """And the next one is answered."""
    bad = [b"{", b"[]", b'{"jsonrpc": "2.0", "method": 1}', b'"' + b"x" * 3000 + b'"']
    async with speaking(add, max_body_bytes=2048) as client:
        codes = []
        for line in bad[:3]:
            client.send(line)
            codes.append((await client.read())["error"]["code"])
        client.send(write("tools/list", {f"{PREFIX}protocolVersion": "1999-01-01"}))
        codes.append((await client.read())["error"]["code"])
        client.send({"jsonrpc": "2.0", "id": 1, "method": "nope"})
        codes.append((await client.read())["error"]["code"])
        client.send(bad[3])
        client.send(write("nope"))
        codes += [(await client.read())["error"]["code"] for _ in range(2)]

    assert codes == [-32700, -32600, -32600, -32022, -32601, -32700, -32601]


async def test_a_client_listens_to_changes() -> None:
    """First it is told what it listens to."""
    async with speaking(add) as client:
        client.send(write("subscriptions/listen", notifications={"toolsListChanged": True}))
        acknowledged = await client.read()

    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {}
