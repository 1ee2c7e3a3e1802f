"""An answer becomes a stream when there is something to be said before its end."""

import asyncio
import json
from typing import Any

import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.mcp_server.messages import BEFORE, head, write
from tests.kit.asgi import BOTH_WAYS, Passing, Peer, scope_of, sized
from tests.kit.waiting import until

pytestmark = BOTH_WAYS
# Whether those who walk may arrive.
GO: list[bool] = []
ENDS: list[str] = []


@tool
async def walk(steps: int, context: ToolContext) -> str:
    """Walk, and wait at the end."""
    try:
        for step in (*range(1, steps + 1), 1, float("nan")):
            context.report_progress(step, 10, f"step {step}" if step == 2 else "")
        await until(lambda: bool(GO))
    except asyncio.CancelledError:
        ENDS.append("cancelled")
        raise
    ENDS.append("arrived")
    return "there"


@pytest.fixture(autouse=True)
def _stand_still() -> None:
    ENDS.clear()
    GO.clear()


async def begin(
    is_door_open: bool, token: Any, *, is_modern: bool = True, lifecycle: Lifecycle | None = None
) -> tuple[Peer, asyncio.Task[None]]:
    """Begin a call, with this token for its progress."""
    app = create_app(Settings(), Registry([walk]), lifecycle)
    if not is_door_open:
        app.add_middleware(Passing)
    message = write(
        "tools/call", {"progressToken": token} if token is not None else {}, name="walk", arguments={"steps": 3}
    )
    headers = head(message)
    if not is_modern:
        message["params"]["_meta"] = {"progressToken": token}
        headers = {"MCP-Protocol-Version": BEFORE}
    body = json.dumps(message).encode()
    peer = Peer((body,))
    named = [(name.lower(), value) for name, value in headers.items()]
    task = asyncio.create_task(app(scope_of("POST", "/mcp", sized(body, *named)), peer.receive, peer.send))
    return peer, task


def read(content: bytes) -> list[Any]:
    """Read the messages of a stream."""
    events = content.decode().split("\n\n")
    return [json.loads(event.partition("data: ")[2]) for event in events if event.startswith("event: message")]


@pytest.mark.parametrize("is_modern", [True, False])
async def test_progress_comes_before_the_answer(is_door_open: bool, is_modern: bool) -> None:
    """Under the client's token, as long as it grows; the last message is the answer."""
    peer, task = await begin(is_door_open, "tok", is_modern=is_modern)
    await until(lambda: len(read(peer.content)) == 3)
    GO.append(True)
    await task

    *progress, answer = read(peer.content)

    assert [message["params"] for message in progress] == [
        {"progressToken": "tok", "progress": 1, "total": 10},
        {"progressToken": "tok", "progress": 2, "total": 10, "message": "step 2"},
        {"progressToken": "tok", "progress": 3, "total": 10},
    ]
    assert {message["method"] for message in progress} == {"notifications/progress"}
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (1, "there")
    assert {("content-type", "text/event-stream"), ("x-accel-buffering", "no")} <= set(peer.headers)
    assert "x-request-id" in dict(peer.headers)


@pytest.mark.parametrize("token", [None, True, [1]])
async def test_nobody_is_told_who_does_not_want_to_be(is_door_open: bool, token: Any) -> None:
    """The answer is JSON."""
    peer, task = await begin(is_door_open, token)
    await asyncio.sleep(0)
    GO.append(True)
    await task

    assert ("content-type", "application/json") in peer.headers
    assert json.loads(peer.content)["result"]["content"][0]["text"] == "there"


@pytest.mark.parametrize("token", [None, "tok"])
async def test_a_call_ends_with_its_connection(is_door_open: bool, token: Any) -> None:
    """Closing it is how a client cancels."""
    peer, task = await begin(is_door_open, token)
    await until(lambda: peer.asked > 1)
    peer.gone.set()
    await task

    assert ENDS == ["cancelled"]
    assert b'"result"' not in peer.content


@pytest.mark.parametrize(
    ("is_draining", "code", "said"),
    [(True, 503, "The request was not finished"), (False, -32603, "The server failed")],
)
async def test_a_stream_that_is_broken_off_says_so(is_door_open: bool, is_draining: bool, code: int, said: str) -> None:
    """Its status was sent before: by the end of the server, or by what else cancels it."""
    lifecycle = Lifecycle()
    peer, task = await begin(is_door_open, "tok", lifecycle=lifecycle)
    await until(lambda: len(read(peer.content)) == 3)

    if is_draining:
        lifecycle.drain()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    last = read(peer.content)[-1]
    assert (last["id"], last["error"]["code"]) == (1, code)
    assert said in last["error"]["message"]
    assert ENDS == ["cancelled"]
