"""Readers of events may be slow, silent or gone, and no tool has to care."""

import asyncio
import json
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.types import ASGIApp

from sidecall import Registry, ToolContext, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kernel.pipeline.stubborn import LONG
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.calls import write_call
from tests.kit.events import events_in
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def seen() -> list[str]:
    """Remember what tools did."""
    return []


@pytest.fixture
def app(seen: list[str]) -> ASGIApp:
    """Give a server with tools that take their time."""

    @tool(timeout=1000)
    async def wait(seconds: float) -> str:
        """Wait."""
        try:
            await asyncio.sleep(seconds)
            return "waited"
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        finally:
            seen.append("cleaned up")

    @tool
    async def chat(times: int, words: str, pause: bool, context: ToolContext) -> str:
        """Say much on the way."""
        for number in range(times):
            await context.progress(number, times, words)
            if pause:
                await asyncio.sleep(0)
        seen.append("said all")
        return "done"

    @tool
    async def yield_much(times: int) -> AsyncIterator[str]:
        """Yield many parts."""
        for number in range(times):
            yield f"{number} "

    return create_app(Settings(), Registry([wait, chat, yield_much]))


async def _post(app: ASGIApp, peer: Peer, call: Any) -> None:
    body = json.dumps(call).encode()
    peer.messages[0]["body"] = body
    target = "/tool_calls/batch" if isinstance(call, list) else "/tool_calls"
    await app(scope_of("POST", target, sized(body, ("accept", "text/event-stream"))), peer.receive, peer.send)


async def test_silence_is_broken_by_comments(app: ASGIApp) -> None:
    """Every 15 seconds, so that no proxy closes the connection; readers of events skip them."""
    peer = Peer()

    _, seconds = await outcome(_post(app, peer, write_call("wait", seconds=40)))
    text = peer.content.decode()

    assert seconds == 40
    assert text.startswith(": still working\n\n: still working\n\nevent: message\n")
    assert [name for name, _ in events_in(text)] == ["message"]


async def test_the_headers_come_before_the_first_event(app: ASGIApp) -> None:
    """The client knows that it is being served."""
    peer = Peer()
    request = asyncio.ensure_future(_post(app, peer, write_call("wait", seconds=5)))
    await asyncio.sleep(1)

    assert (peer.status, len(peer.sent)) == (200, 1)
    await request


async def test_events_come_as_they_happen(app: ASGIApp) -> None:
    """Not all at the end."""
    peer = Peer()
    calls = [write_call("wait", id=str(seconds), seconds=seconds) for seconds in (3, 1, 2)]
    request = asyncio.ensure_future(_post(app, peer, calls))
    await asyncio.sleep(2.5)
    so_far = events_in(peer.content.decode())
    await request

    assert [message["tool_call_id"] for _, message in so_far] == ["1", "2"]
    assert len(events_in(peer.content.decode())) == 3


async def test_an_answer_ends_with_the_last_event(app: ASGIApp) -> None:
    """So that the client can close the connection, or use it again."""
    peer = Peer()

    await _post(app, peer, write_call("wait", seconds=0))

    assert [message["more_body"] for message in peer.sent[1:]] == [False]


@pytest.mark.parametrize("pause", [True, False])
async def test_a_slow_reader_holds_no_tool_up(app: ASGIApp, seen: list[str], pause: bool) -> None:
    """It is told less of the progress, but never less than the answer."""
    peer = Peer(takes=asyncio.Event())
    request = asyncio.ensure_future(_post(app, peer, write_call("chat", times=2000, words="x", pause=pause)))
    await asyncio.sleep(1)
    before = (seen[:], len(peer.sent))
    peer.takes.set()
    await request
    *progress, last = events_in(peer.content.decode())

    assert before == (["said all"], 1)
    assert (last[0], last[1]["content"]) == ("message", "done")
    assert 200 < len(progress) < 300
    assert [said["done"] for _, said in progress[:200]] == list(range(200))


@pytest.mark.parametrize("pause", [True, False])
async def test_what_waits_for_a_slow_reader_is_bounded(app: ASGIApp, pause: bool) -> None:
    """However much a tool says, and however fast."""
    peer = Peer(takes=asyncio.Event())
    call = write_call("chat", times=5_000, words="x" * 1000, pause=pause)

    tracemalloc.start()
    request = asyncio.ensure_future(_post(app, peer, call))
    await asyncio.sleep(1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    peer.takes.set()
    await request

    assert peak < 3_000_000


async def test_every_answer_of_a_batch_reaches_a_slow_reader(app: ASGIApp) -> None:
    """Between any amount of progress."""
    peer = Peer(takes=asyncio.Event())
    calls = [write_call("chat", id=str(number), times=50, words="x", pause=True) for number in range(100)]
    running().call_later(5, peer.takes.set)

    await _post(app, peer, calls)
    told = [message["tool_call_id"] for name, message in events_in(peer.content.decode()) if name == "message"]

    assert sorted(told, key=int) == [str(number) for number in range(100)]


async def test_the_answer_is_whole_when_its_parts_are_not(app: ASGIApp) -> None:
    """A slow reader of a generator's parts loses nothing in the end."""
    peer = Peer(takes=asyncio.Event())
    running().call_later(15, peer.takes.set)  # Longer than parts wait for a reader.

    await _post(app, peer, write_call("yield_much", times=1000))
    *parts, last = events_in(peer.content.decode())

    assert len(parts) < 300
    assert last[1]["content"] == "".join(f"{number} " for number in range(1000))


@pytest.mark.parametrize("many", [False, True])
async def test_tools_are_cancelled_when_the_reader_goes(app: ASGIApp, seen: list[str], many: bool) -> None:
    """And the request ends."""
    peer = Peer()
    running().call_later(0.2, peer.gone.set)
    call = write_call("wait", seconds=LONG)

    _, seconds = await outcome(_post(app, peer, [call, call] if many else call))

    assert (seconds, seen) == (0.2, ["cancelled", "cleaned up"] * (2 if many else 1))


async def test_tools_are_cancelled_when_a_reader_goes_that_takes_nothing(app: ASGIApp, seen: list[str]) -> None:
    """The server is in the middle of sending then, which ends when the connection does."""
    peer = Peer(takes=asyncio.Event())
    calls = [write_call("wait", id="quick", seconds=0), write_call("wait", id="slow", seconds=LONG)]
    running().call_later(0.2, peer.gone.set)
    running().call_later(0.3, peer.takes.set)

    _, seconds = await outcome(_post(app, peer, calls))

    assert (seconds, seen) == (0.3, ["cleaned up", "cancelled", "cleaned up"])


async def test_only_the_going_of_the_reader_counts(app: ASGIApp, seen: list[str]) -> None:
    """With all other events of the server."""
    peer = Peer([b"", b""])
    peer.messages[1:] = [{"type": "http.request", "body": b"", "more_body": False}] * 3
    peer.messages[0]["more_body"] = False

    _, seconds = await outcome(_post(app, peer, write_call("wait", seconds=1)))

    assert (seconds, seen, peer.asked > 3) == (1, ["cleaned up"], True)


async def test_a_server_that_stops_cancels_the_tools(app: ASGIApp, seen: list[str]) -> None:
    """And says so to the client that stopped it."""
    peer = Peer()
    request = asyncio.ensure_future(outcome(_post(app, peer, write_call("wait", seconds=LONG))))
    running().call_later(0.2, request.cancel)

    assert await request == (asyncio.CancelledError, 0.2)
    assert seen == ["cancelled", "cleaned up"]


async def test_nothing_remains_of_a_stream(app: ASGIApp) -> None:
    """However it ended."""
    before = asyncio.all_tasks()
    gone = Peer()
    gone.gone.set()

    await _post(app, Peer(), write_call("wait", seconds=0))
    await _post(app, gone, write_call("wait", seconds=LONG))
    await asyncio.sleep(0)

    assert asyncio.all_tasks() == before


async def test_progress_that_comes_too_late_is_told_to_nobody(app: ASGIApp) -> None:
    """A task that a tool has left behind may go on talking."""
    left: list[asyncio.Task[None]] = []

    @tool
    async def hasty(context: ToolContext) -> str:
        """Answer before the work is done."""

        async def go_on() -> None:
            await asyncio.sleep(1)
            await context.progress(1)

        left.append(asyncio.ensure_future(go_on()))
        return "done"

    peer = Peer()
    await _post(create_app(Settings(), Registry([hasty])), peer, write_call("hasty"))
    await asyncio.gather(*left)

    assert [name for name, _ in events_in(peer.content.decode())] == ["message"]
