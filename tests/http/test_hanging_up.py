"""Tools learn that their client has gone, and end."""

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Passing, Peer, scope_of, sized
from tests.kit.calls import run, write_call
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


Call = Callable[..., Any]


def _tools(seen: list[Any]) -> list[Any]:
    @tool
    async def slow() -> None:
        """Take long."""
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        finally:
            seen.append("cleaned up")

    @tool
    async def stubborn(context: ToolContext) -> None:
        """Look now and then whether anybody waits."""
        while not context.cancelled:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                seen.append("ignored")
        seen.append("saw it")

    return [slow, stubborn]


@pytest.fixture(params=[True, False], ids=["in front", "framework"])
def call(request: pytest.FixtureRequest, seen: list[Any]) -> Call:
    """Give a function that posts calls of a slow tool to a server and hangs up after 0.2 seconds."""
    app = create_app(Settings(), Registry(_tools(seen)))
    if not request.param:
        app.add_middleware(Passing)

    async def post(target: str, body: Any) -> Peer:
        content = json.dumps(body).encode()
        peer = Peer([content])
        running().call_later(0.2, peer.gone.set)
        await app(scope_of("POST", target, sized(content)), peer.receive, peer.send)
        return peer

    return post


@pytest.fixture
def seen() -> list[Any]:
    """Remember what tools noticed."""
    return []


@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls?format=openai"])
async def test_a_tool_is_cancelled_when_its_client_goes(call: Call, seen: list[Any], target: str) -> None:
    """On every way; its clean-up has run, and the request has ended."""
    _, seconds = await outcome(call(target, write_call("slow")))

    assert (seconds, seen) == (0.2, ["cancelled", "cleaned up"])


async def test_the_tools_of_a_batch_are_cancelled_when_its_client_goes(call: Call, seen: list[Any]) -> None:
    """All of them."""
    _, seconds = await outcome(call("/tool_calls/batch", [write_call("slow")] * 3))

    assert (seconds, sorted(seen)) == (0.2, ["cancelled"] * 3 + ["cleaned up"] * 3)


async def test_a_client_that_has_gone_is_no_defect(
    call: Call, seen: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is logged that an operator would have to look at."""
    await call("/tool_calls", write_call("slow"))

    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_a_tool_that_ignores_cancellation_sees_that_nobody_waits(call: Call, seen: list[Any]) -> None:
    """It need not wait for its deadline to know."""
    _, seconds = await outcome(call("/tool_calls", write_call("stubborn")))

    assert (seen, seconds) == (["ignored", "saw it"], 0.2)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_sync_tool_sees_that_nobody_waits() -> None:
    """It cannot be cancelled, but it may ask."""
    begun, ended = threading.Event(), threading.Event()

    @tool
    def slow(context: ToolContext) -> None:
        """Work until nobody waits."""
        begun.set()
        while not context.cancelled:
            ended.wait(0.001)
        ended.set()

    app = create_app(Settings(), Registry([slow]))
    body = json.dumps(write_call("slow")).encode()
    peer = Peer([body])
    request = asyncio.ensure_future(app(scope_of("POST", "/tool_calls", sized(body)), peer.receive, peer.send))
    await asyncio.to_thread(begun.wait)
    before = ended.is_set()
    peer.gone.set()
    await request

    assert (before, await asyncio.to_thread(ended.wait, 60), peer.sent) == (False, True, [])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_sync_tool_sees_that_its_time_is_up() -> None:
    """The same, at its deadline."""
    ended = threading.Event()

    @tool(timeout=0.01)
    def slow(context: ToolContext) -> None:
        """Work until nobody waits."""
        while not context.cancelled:
            ended.wait(0.001)
        ended.set()

    message = await run(slow)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert await asyncio.to_thread(ended.wait, 60)
