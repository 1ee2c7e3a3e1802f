"""A stream that the end of the server breaks off says why, and what it owes."""

import asyncio
import json
from typing import Any

import pytest
from starlette.types import ASGIApp

from sidecall import Registry, ToolContext, tool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kernel.pipeline.stubborn import LONG
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.calls import write_call
from tests.kit.events import events_in
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


class Ending:
    """A server that ends after a second, and cancels what it still serves."""

    def __init__(self) -> None:
        self.seen: list[str] = []

        @tool(timeout=1000)
        async def wait(seconds: float) -> str:
            """Wait."""
            try:
                await asyncio.sleep(seconds)
            except asyncio.CancelledError:
                self.seen.append("cancelled")
                raise
            return f"waited {seconds:g}"

        @tool(timeout=1000)
        async def chat(context: ToolContext) -> str:
            """Say two things, and wait."""
            await context.progress(1, message="first")
            await context.progress(2, message="second")
            await asyncio.sleep(LONG)
            return "done"

        @tool(requires_approval=True)
        async def delete() -> str:
            """Wait for a person."""
            return "deleted"

        self.lifecycle = Lifecycle()
        self.app: ASGIApp = create_app(Settings(), Registry([wait, chat, delete]), self.lifecycle)

    async def post(self, peer: Peer, call: Any) -> tuple[Any, float]:
        """Send calls, and end the server while it answers; tell what became of the request, and when."""
        body = json.dumps(call).encode()
        peer.messages[0]["body"] = body
        target = "/tool_calls/batch" if isinstance(call, list) else "/tool_calls"
        headers = sized(body, ("accept", "text/event-stream"), ("x-request-id", "mine-1"))
        scope = scope_of("POST", target, headers)
        request = asyncio.ensure_future(outcome(self.app(scope, peer.receive, peer.send)))
        running().call_later(0.5, self.lifecycle.drain)
        running().call_later(1, request.cancel)
        return await request


@pytest.fixture
async def server() -> Ending:
    """Start it."""
    return Ending()


def _problem(*unanswered: str) -> dict[str, Any]:
    return {
        "type": "urn:sidecall:problem:shutting-down",
        "title": "The server is ending.",
        "status": 503,
        "detail": "The request was not finished, though its tool may have had an effect. Send it again: another "
        "instance, or the next one, will answer.",
        "instance": "mine-1",
        "retryable": True,
        "unanswered": list(unanswered),
    }


async def test_the_last_event_says_that_the_server_ends(server: Ending) -> None:
    """At once, and the answer ends as it should; the tool is cancelled behind it."""
    peer = Peer()

    came = await server.post(peer, write_call("wait", seconds=LONG))

    assert events_in(peer.content.decode()) == [("error", _problem("call_1"))]
    assert peer.sent[-1]["more_body"] is False
    assert (came, server.seen) == ((asyncio.CancelledError, 1.0), ["cancelled"])


async def test_the_last_event_names_the_calls_that_are_not_answered(server: Ending) -> None:
    """Those that are have been answered; a model may have given two calls the same id."""
    peer = Peer()
    naps = [("a", LONG), ("b", 0.1), ("c", LONG), ("b", LONG)]

    await server.post(peer, [write_call("wait", id=name, seconds=seconds) for name, seconds in naps])
    first, last = events_in(peer.content.decode())

    assert (first[0], first[1]["tool_call_id"], first[1]["content"]) == ("message", "b", "waited 0.1")
    assert last == ("error", _problem("a", "c", "b"))


async def test_a_reader_that_was_being_sent_something_gets_it_once(server: Ending) -> None:
    """What was interrupted is sent again, and what waited follows it."""
    peer = Peer(takes=asyncio.Event())
    running().call_later(1.5, peer.takes.set)

    await server.post(peer, write_call("chat"))
    events = events_in(peer.content.decode())

    assert [(name, said.get("message")) for name, said in events] == [
        ("progress", "first"),
        ("progress", "second"),
        ("error", None),
    ]


async def test_an_answer_that_is_there_is_sent_instead(server: Ending) -> None:
    """A slow reader gets what it has waited for, and nothing is owed."""
    peer = Peer(takes=asyncio.Event())
    running().call_later(1.5, peer.takes.set)

    await server.post(peer, write_call("wait", seconds=0.1))

    assert [name for name, _ in events_in(peer.content.decode())] == ["message"]


async def test_a_call_that_waits_for_a_person_is_answered(server: Ending) -> None:
    """Its approval may be asked for elsewhere."""
    peer = Peer(takes=asyncio.Event())
    running().call_later(1.5, peer.takes.set)

    await server.post(peer, write_call("delete"))

    assert [name for name, _ in events_in(peer.content.decode())] == ["approval"]


async def test_a_reader_that_takes_nothing_holds_the_end_up_no_longer_than_its_server_waits(server: Ending) -> None:
    """Who cancels it a second time is obeyed."""
    peer = Peer(takes=asyncio.Event())
    body = json.dumps(write_call("wait", seconds=LONG)).encode()
    peer.messages[0]["body"] = body
    scope = scope_of("POST", "/tool_calls", sized(body, ("accept", "text/event-stream")))
    request = asyncio.ensure_future(outcome(server.app(scope, peer.receive, peer.send)))
    server.lifecycle.drain()
    running().call_later(1, request.cancel)
    running().call_later(2, request.cancel)

    assert await request == (asyncio.CancelledError, 2.0)
    assert server.seen == ["cancelled"]
