"""A stream has a place before its status is sent, and gives it back however it ends."""

import asyncio
from typing import Any

import pytest

from sidecall import Caller
from tests.kit.asgi import BOTH_WAYS, Peer, scope_of, sized
from tests.kit.clients import MakeClient, send_together
from tests.kit.events import events_in
from tests.kit.tools import make_hang
from tests.kit.virtual_time import now, running

pytestmark = [BOTH_WAYS, pytest.mark.virtual_time]
CALL = {"name": "hang", "args": {}, "id": "call_1"}


@pytest.mark.parametrize(
    ("settings", "status", "slug"),
    [
        pytest.param({"max_concurrency": 1, "max_queue": 0}, 503, "overloaded", id="of the server"),
        pytest.param({"max_concurrency_per_caller": 1}, 429, "too-many-calls", id="of its caller"),
    ],
)
async def test_a_stream_without_a_place_does_not_begin(
    make_client: MakeClient, settings: dict[str, Any], status: int, slug: str
) -> None:
    """Its client is told by the status, as anybody else."""
    client = await make_client(make_hang(), **settings)
    events = {"Accept": "text/event-stream"}
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL, headers=events))
    await asyncio.sleep(0.1)

    refused = await client.post("/tool_calls", json=CALL, headers=events)

    assert (refused.status_code, refused.headers["Retry-After"]) == (status, "1")
    assert refused.json()["type"] == f"urn:sidecall:problem:{slug}"
    assert (await first).status_code == 200


async def test_a_stream_that_waited_in_vain_does_not_begin(make_client: MakeClient) -> None:
    """It is told by its status, too, since that is sent once the call has a place."""
    client = await make_client(make_hang(), max_concurrency=1, queue_timeout=0.5)
    events = {"Accept": "text/event-stream"}

    first, refused = await asyncio.gather(*(client.post("/tool_calls", json=CALL, headers=events) for _ in range(2)))

    assert (first.status_code, [name for name, _ in events_in(first.text)]) == (200, ["message"])
    assert (refused.status_code, refused.headers["Content-Type"]) == (503, "application/problem+json")
    assert refused.headers["Retry-After"] == "1"
    assert (refused.json()["type"], refused.json()["detail"]) == (
        "urn:sidecall:problem:overloaded",
        "The call waited 0.5 seconds in vain.",
    )


async def test_a_stream_waits_for_a_place_no_longer_than_its_client(make_client: MakeClient) -> None:
    """Who says how long it waits is told by then."""
    client = await make_client(make_hang(), max_concurrency=1)
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL))
    await asyncio.sleep(0.1)

    refused = await client.post("/tool_calls?timeout=0.3", json=CALL, headers={"Accept": "text/event-stream"})

    assert (refused.status_code, (await first).status_code) == (503, 200)


async def test_a_stream_that_waited_is_served(make_client: MakeClient) -> None:
    """Its status is sent when the call before it has ended."""
    client = await make_client(make_hang(), max_concurrency=1)
    app = client._transport.app  # type: ignore[attr-defined]
    body = b'{"name": "hang", "args": {}, "id": "call_2"}'
    peer = Peer([body])
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL))
    await asyncio.sleep(0.1)
    scope = scope_of("POST", "/tool_calls", sized(body, ("accept", "text/event-stream")))
    second = asyncio.ensure_future(app(scope, peer.receive, peer.send))
    await asyncio.sleep(0.5)
    before = len(peer.sent)
    await first
    await asyncio.sleep(0.1)

    assert (before, peer.status) == (0, 200)
    await second
    assert [name for name, _ in events_in(peer.content.decode())] == ["message"]


async def test_a_client_that_goes_while_its_stream_waits_leaves_the_queue(make_client: MakeClient) -> None:
    """And the next moves up; nothing is sent to who has gone."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=1, max_concurrency_per_caller=2)
    began = now()
    app = client._transport.app  # type: ignore[attr-defined]
    body = b'{"name": "hang", "args": {}, "id": "gone"}'
    peer = Peer([body])
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL))
    await asyncio.sleep(0.1)
    scope = scope_of("POST", "/tool_calls", sized(body, ("accept", "text/event-stream")))
    gone = asyncio.ensure_future(app(scope, peer.receive, peer.send))
    running().call_later(0.2, peer.gone.set)
    await gone

    assert (now() - began, 200 in [message.get("status") for message in peer.sent]) == (pytest.approx(0.3), False)
    second = await client.post("/tool_calls", json=CALL, headers={"Accept": "text/event-stream"})
    assert (second.status_code, (await first).status_code) == (200, 200)
    assert await send_together(client, CALL, 2) == [200, 200]


async def test_a_place_comes_back_from_a_stream_that_cannot_begin(make_client: MakeClient) -> None:
    """Its server ends, or its connection breaks, while the status is being sent."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=0)
    app = client._transport.app  # type: ignore[attr-defined]
    body = b'{"name": "hang", "args": {}, "id": "gone"}'

    async def send(_message: Any) -> None:
        await asyncio.Event().wait()

    scope = scope_of("POST", "/tool_calls", sized(body, ("accept", "text/event-stream")))
    begins = asyncio.ensure_future(app(scope, Peer([body]).receive, send))
    await asyncio.sleep(0.1)
    during = await send_together(client, CALL, 1)
    begins.cancel()
    await asyncio.gather(begins, return_exceptions=True)

    assert (during, await send_together(client, CALL, 1)) == ([503], [200])


@pytest.mark.parametrize("headers", [{}, {"Accept": "text/event-stream"}], ids=["plain", "events"])
@pytest.mark.parametrize("subject", ["ann", "bob"])
async def test_a_predicate_is_asked_once(make_client: MakeClient, headers: dict[str, str], subject: str) -> None:
    """Whether it shows the tool or not, and no matter which way the answer comes."""
    asked: list[str] = []

    def is_shown(caller: Caller) -> bool:
        asked.append(caller.subject)
        return caller.subject == "ann"

    client = await make_client(make_hang(is_enabled=is_shown), caller_header="X-User")

    answer = await client.post("/tool_calls", json=CALL, headers={"X-User": subject, **headers})

    assert (answer.status_code, asked) == (200, [subject])


async def test_a_stream_of_a_hidden_tool_is_answered_like_any_other(make_client: MakeClient) -> None:
    """That it is full would tell that it is there."""
    client = await make_client(
        make_hang(is_enabled=lambda caller: caller.subject == "ann"),
        caller_header="X-User",
        max_concurrency=1,
        max_queue=0,
    )
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL, headers={"X-User": "ann"}))
    await asyncio.sleep(0.1)

    answer = await client.post("/tool_calls", json=CALL, headers={"Accept": "text/event-stream"})
    [(name, message)] = events_in(answer.text)

    assert (name, message["response_metadata"]["error"]["kind"]) == ("message", "unknown_tool")
    assert (await first).status_code == 200
