"""Clients hear when the list of tools changes."""

import asyncio
import json
from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.mcp_server.endpoint import McpEndpoint
from sidecall.features.mcp_server.listing import ListChanges, ToolPages
from sidecall.features.mcp_server.parts import McpParts
from sidecall.http.authentication import HEADERS
from sidecall.http.body import Bounds
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.lifecycle import Lifecycle
from tests.features.mcp_server.messages import PREFIX, head, write
from tests.features.mcp_server.test_live import read
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.pipelines import make_pipeline
from tests.kit.waiting import until

ID = f"{PREFIX}subscriptionId"


def make_parts(changes: ListChanges, lifecycle: Lifecycle) -> McpParts:
    """Make the parts of a server without tools."""
    registry = Registry()
    pipeline = make_pipeline(registry)
    return McpParts(
        registry=registry,
        pipeline=pipeline,
        approvals=MemoryApprovals(),
        contents=MemoryContents(),
        pages=ToolPages(registry, pipeline),
        changes=changes,
        results=ResultMemory(1000),
        bounds=Bounds(10_000, 1000),
        lifecycle=lifecycle,
    )


def ask_of(method: str, body: bytes, headers: dict[str, str]) -> dict[str, Any]:
    """Make the scope of a request, as what stands in front of the endpoint leaves it."""
    scope = scope_of(method, "/mcp", sized(body, *((name.lower(), value) for name, value in headers.items())))
    return {**scope, HEADERS: dict(scope["headers"]), "state": {"request_id": "1"}}


async def listen(endpoint: McpEndpoint, wanted: Any) -> tuple[Peer, asyncio.Task[None]]:
    """Begin to listen."""
    message = write("subscriptions/listen", notifications=wanted)
    body = json.dumps(message).encode()
    peer = Peer((body,))
    serve = endpoint(ask_of("POST", body, head(message)), peer.receive, peer.send)
    task = asyncio.ensure_future(serve)
    await until(lambda: len(read(peer.content)) == 1)
    return peer, task


async def test_a_client_hears_of_changes_until_the_server_ends() -> None:
    """First what is listened to, at last that it is over; each message names what it belongs to."""
    changes, lifecycle = ListChanges(is_fed=True), Lifecycle()
    peer, task = await listen(
        McpEndpoint(make_parts(changes, lifecycle)), {"toolsListChanged": True, "promptsListChanged": True}
    )

    changes.tell()
    await until(lambda: len(read(peer.content)) == 2)
    lifecycle.drain()
    await task

    assert read(peer.content)[:2] == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": {"_meta": {ID: 1}, "notifications": {"toolsListChanged": True}},
        },
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {ID: 1}}},
    ]
    end = read(peer.content)[2]
    assert (end["id"], end["result"]["resultType"], end["result"]["_meta"][ID]) == (1, "complete", 1)


@pytest.mark.parametrize(
    ("is_fed", "wanted"),
    [(False, {"toolsListChanged": True}), (True, {}), (True, None), (True, {"toolsListChanged": 1})],
)
async def test_a_client_hears_of_nothing_else(is_fed: bool, wanted: Any) -> None:
    """What it does not want, or what never comes, it is told before."""
    changes, lifecycle = ListChanges(is_fed=is_fed), Lifecycle()
    peer, task = await listen(McpEndpoint(make_parts(changes, lifecycle)), wanted)

    changes.tell()
    lifecycle.drain()
    await task

    acknowledged, end = read(peer.content)
    assert acknowledged["params"]["notifications"] == {}
    assert end["id"] == 1


async def test_a_client_may_leave() -> None:
    """Nobody is told of changes then."""
    changes = ListChanges(is_fed=True)
    peer, task = await listen(McpEndpoint(make_parts(changes, Lifecycle())), {"toolsListChanged": True})

    peer.gone.set()
    await task

    assert changes.listeners == 0


async def test_clients_of_before_listen_with_a_get() -> None:
    """They hear of every change, unasked."""
    changes, lifecycle = ListChanges(is_fed=True), Lifecycle()
    peer = Peer()
    scope = ask_of("GET", b"", {"Accept": "text/event-stream"})
    task = asyncio.ensure_future(McpEndpoint(make_parts(changes, lifecycle))(scope, peer.receive, peer.send))
    await until(lambda: changes.listeners == 1)

    changes.tell()
    await until(lambda: len(read(peer.content)) == 1)
    lifecycle.drain()
    await task

    assert read(peer.content) == [{"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}}]
