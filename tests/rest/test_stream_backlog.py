"""What waits for all readers of events together is bounded, and the slowest of them pay for it."""

import asyncio
import json
import logging
from typing import Any

import pytest
from starlette.types import ASGIApp

from sidecall import Registry, ToolContext, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kernel.pipeline.stubborn import LONG
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.calls import write_call
from tests.kit.events import Event, events_in

pytestmark = pytest.mark.virtual_time

ROOM = 400_000


class Readers:
    """A server in which little may wait, and readers that take their time."""

    def __init__(self, **settings: Any) -> None:
        self.seen: list[str] = []
        self.requests: list[asyncio.Future[None]] = []
        self.app: ASGIApp = create_app(Settings(**{"max_unread_bytes": ROOM, **settings}), Registry([*self._tools()]))

    def _tools(self) -> list[Any]:
        @tool(timeout=1000)
        async def say(size: int, seconds: float = 0) -> str:
            """Say much after a while."""
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                self.seen.append("cancelled")
                raise
            return "x" * size

        @tool
        async def chat(times: int, context: ToolContext) -> str:
            """Say much on the way."""
            for number in range(times):
                await context.progress(number, message="x" * 10_000)
                await asyncio.sleep(0)
            return "done"

        return [say, chat]

    async def read(self, *calls: Any, is_slow: bool = True) -> Peer:
        """Ask for a call's events, or those of a batch, and take what comes unless the reader is slow."""
        peer = Peer(takes=asyncio.Event())
        if not is_slow:
            peer.takes.set()  # type: ignore[union-attr]
        body = json.dumps(calls[0] if len(calls) == 1 else calls).encode()
        peer.messages[0]["body"] = body
        scope = scope_of(
            "POST", "/tool_calls" + "/batch" * (len(calls) > 1), sized(body, ("accept", "text/event-stream"))
        )
        self.requests.append(asyncio.ensure_future(self.app(scope, peer.receive, peer.send)))  # type: ignore[arg-type]
        await asyncio.sleep(1)
        return peer

    async def wake(self, *peers: Peer) -> list[list[str]]:
        """Let readers take all there is, and name the events that each has got."""
        for peer in peers:
            peer.takes.set()  # type: ignore[union-attr]
        await asyncio.gather(*self.requests)
        return [[name for name, _ in whole_events_in(peer)] for peer in peers]


def whole_events_in(peer: Peer) -> list[Event]:
    """Read what has come as a browser does, which forgets an event that is not whole."""
    whole, end, _ = peer.content.decode().rpartition("\n\n")
    return events_in(whole + end)


def say(size: int, id: str = "a", seconds: float = 0) -> dict[str, Any]:
    """Write a call that is answered with so many bytes."""
    return write_call("say", id=id, size=size, seconds=seconds)


async def test_the_stream_that_has_stood_still_for_longest_ends() -> None:
    """With an event that says so, instead of what waited; the others get theirs."""
    readers = Readers()
    slow = await readers.read(say(50_000, "a"), say(50_000, "b"), say(50_000, "c"))
    others = [await readers.read(say(150_000)) for _ in range(2)]

    got = await readers.wake(slow, *others)

    # The first event was on its way already.
    assert got == [["message", "error"], ["message"], ["message"]]
    problem = whole_events_in(slow)[-1][1]
    assert (problem["type"], problem["status"], problem["retryable"]) == ("urn:sidecall:problem:slow-reader", 503, True)
    assert slow.sent[-1]["more_body"] is False


async def test_an_event_that_is_half_sent_is_not_followed_by_another() -> None:
    """Its reader sees the end of the stream, and takes the part for no event."""
    readers = Readers()
    slow = await readers.read(say(300_000))
    other = await readers.read(say(300_000))

    got = await readers.wake(slow, other)

    assert got[1] == ["message"]
    assert slow.content.startswith(b"event: message\n")
    assert len(slow.content) == 65536
    assert b"\n\n" not in slow.content
    assert slow.sent[-1] == {"type": "http.response.body", "body": b""}


async def test_calls_of_a_reader_that_is_cut_off_are_cancelled() -> None:
    """At once, though it takes nothing."""
    readers = Readers()
    slow = await readers.read(say(300_000, "a"), say(10, "b", LONG))
    before = readers.seen[:]
    other = await readers.read(say(300_000))

    assert (before, readers.seen) == ([], ["cancelled"])
    assert (await readers.wake(slow, other))[1] == ["message"]


async def test_whoever_reads_is_not_cut_off_for_those_who_do_not() -> None:
    """However many they are."""
    readers = Readers()
    slow = [await readers.read(say(100_000)) for _ in range(10)]

    calls = [say(100_000, str(number), number / 10) for number in range(20)]
    quick = await readers.read(*calls, is_slow=False)
    got = await readers.wake(quick, *slow)

    assert got[0] == ["message"] * 20
    assert got[-1] == ["message"]


async def test_an_event_of_any_size_passes_when_nothing_else_waits() -> None:
    """The bound is for what accumulates."""
    readers = Readers()
    alone = await readers.read(say(ROOM * 2))

    assert await readers.wake(alone) == [["message"]]


async def test_who_has_gone_takes_no_room() -> None:
    """Nor has who has read all."""
    readers = Readers()
    for _ in range(5):
        gone = await readers.read(say(150_000))
        gone.gone.set()
        await readers.wake(gone)
        await readers.wake(await readers.read(say(150_000)))
    others = [await readers.read(say(150_000)) for _ in range(2)]

    assert await readers.wake(*others) == [["message"], ["message"]]


async def test_progress_is_dropped_rather_than_anybody_cut_off() -> None:
    """It is told within the bound of all, and of the reader."""
    readers = Readers()
    slow = await readers.read(say(300_000))
    chatty = await readers.read(write_call("chat", times=100))

    got = await readers.wake(slow, chatty)

    assert got[0] == ["message"]
    assert got[1][-1] == "message"
    assert 5 < len(got[1]) < 12


@pytest.mark.parametrize(("most", "events"), [(100_000, ["error"]), (1_000_000, ["message", "message"])])
async def test_so_many_bytes_may_wait(most: int, events: list[str]) -> None:
    """The setting `max_unread_bytes`."""
    readers = Readers(max_unread_bytes=most)
    slow = await readers.read(say(60_000, "a"), say(60_000, "b"))

    assert (await readers.wake(slow))[0][-len(events) :] == events


async def test_the_log_says_how_many_streams_ended(caplog: pytest.LogCaptureFixture) -> None:
    """Once in ten seconds, with the setting."""
    caplog.set_level(logging.WARNING, "sidecall")
    readers = Readers()
    peers = [await readers.read(say(150_000)) for _ in range(6)]
    await readers.wake(*peers)

    assert caplog.messages == [
        "more than 400000 bytes wait for their readers (SIDECALL_MAX_UNREAD_BYTES); slow readers that were cut off: 1"
    ]
