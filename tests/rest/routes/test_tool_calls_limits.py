"""A server runs so many calls, lets so many wait, and sends the others away in words that programs know."""

import asyncio
from typing import Any

import pytest

from tests.kit.asgi import BOTH_WAYS, Peer, scope_of, sized
from tests.kit.clients import MakeClient, send_together
from tests.kit.tools import make_hang
from tests.kit.virtual_time import now, running

pytestmark = [BOTH_WAYS, pytest.mark.virtual_time]
CALL = {"name": "hang", "args": {}, "id": "call_1"}


async def test_a_call_without_a_place_is_told_when_to_come_again(make_client: MakeClient) -> None:
    """503, as a problem."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=1)

    _, _, refused = await asyncio.gather(*(client.post("/tool_calls", json=CALL) for _ in range(3)))

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json() == {
        "type": "urn:sidecall:problem:overloaded",
        "title": "The server runs as many calls as it may.",
        "status": 503,
        "detail": "Calls that wait already: 1.",
        "instance": refused.headers["X-Request-Id"],
        "retryable": True,
        "retry_after": 1,
    }


async def test_a_caller_with_too_many_calls_is_told_when_to_come_again(make_client: MakeClient) -> None:
    """429, as a problem."""
    client = await make_client(make_hang(), max_concurrency_per_caller=1)

    _, refused = await asyncio.gather(*(client.post("/tool_calls", json=CALL) for _ in range(2)))

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert refused.json() == {
        "type": "urn:sidecall:problem:too-many-calls",
        "title": "You run as many calls as one caller may.",
        "status": 429,
        "detail": "Calls of yours that run already, as many as one caller may: 1.",
        "instance": refused.headers["X-Request-Id"],
        "retryable": True,
        "retry_after": 1,
    }


LIMITS: list[Any] = [
    pytest.param({}, {}, [200] * 5, 1, id="none"),
    pytest.param({}, {"max_concurrency": 5, "max_queue": 0}, [200] * 5, 1, id="enough places"),
    pytest.param({}, {"max_concurrency": 4, "max_queue": 0}, [200] * 4 + [503], 1, id="a place too few"),
    pytest.param({}, {"max_concurrency": 4}, [200] * 5, 2, id="a place too few, but one to wait"),
    pytest.param({}, {"max_concurrency": 1, "max_queue": 3}, [200] * 4 + [503], 4, id="one place, three to wait"),
    pytest.param({}, {"max_concurrency": 1, "queue_timeout": 2.5}, [200] * 3 + [503] * 2, 3, id="some patience"),
    pytest.param({}, {"max_concurrency_per_caller": 3}, [200] * 3 + [429] * 2, 1, id="three for a caller"),
    pytest.param({"max_concurrency": 2}, {}, [200] * 5, 3, id="two of the tool"),
    pytest.param({"max_concurrency": 2}, {"max_queue": 1}, [200] * 3 + [503] * 2, 2, id="two, and one to wait"),
    pytest.param({"sequential": True}, {}, [200] * 5, 5, id="one of the tool"),
    pytest.param({"sequential": True}, {"queue_timeout": 0.5}, [200] + [503] * 4, 1, id="one, and little patience"),
]


@pytest.mark.parametrize(("options", "settings", "statuses", "seconds"), LIMITS)
async def test_every_limit_can_be_set(
    make_client: MakeClient, options: dict[str, Any], settings: dict[str, Any], statuses: list[int], seconds: float
) -> None:
    """For the server, for a caller, for a tool; five calls come at once."""
    client = await make_client(make_hang(**options), **settings)
    started = now()

    assert await send_together(client, CALL, 5) == statuses
    assert now() - started == seconds


async def test_places_are_free_again_afterwards(make_client: MakeClient) -> None:
    """No matter what happened to the calls before."""
    client = await make_client(make_hang(), max_concurrency=2, max_queue=1, queue_timeout=0.5)

    first = await send_together(client, CALL, 10)
    second = await send_together(client, CALL, 2)

    assert (sorted(first), second) == ([200] * 2 + [503] * 8, [200, 200])


async def test_a_client_that_goes_while_its_call_waits_leaves_the_queue(make_client: MakeClient) -> None:
    """And the next moves up."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=1)
    app = client._transport.app  # type: ignore[attr-defined]
    body = b'{"name": "hang", "args": {}, "id": "gone"}'
    peer = Peer([body])
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL))
    await asyncio.sleep(0.1)
    gone = asyncio.ensure_future(app(scope_of("POST", "/tool_calls", sized(body)), peer.receive, peer.send))
    running().call_later(0.2, peer.gone.set)
    await gone

    assert await send_together(client, CALL, 2) == [200, 503]
    assert (await first).status_code == 200


async def test_a_batch_is_answered_in_part(make_client: MakeClient) -> None:
    """What is over the limits says so in its place."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=1)

    response = await client.post("/tool_calls/batch", json=[CALL] * 3)
    errors = [message["response_metadata"].get("error") for message in response.json()]

    assert response.status_code == 200
    assert errors == [
        None,
        None,
        {
            "kind": "overloaded",
            "message": "Calls that wait already: 1.",
            "retryable": True,
            "errors": [],
            "nearest": [],
            "retry_after_ms": 1000,
        },
    ]


async def test_what_is_no_call_of_a_tool_needs_no_place(make_client: MakeClient) -> None:
    """Listings, probes and mistakes are answered at any time."""
    client = await make_client(make_hang(), max_concurrency=1, max_queue=0)
    first = asyncio.ensure_future(client.post("/tool_calls", json=CALL))
    await asyncio.sleep(0.1)

    answers = [
        await client.get("/tools"),
        await client.get("/healthz"),
        await client.post("/tool_calls", json={"name": "nope", "args": {}}),
        await client.post("/tool_calls", json={}),
    ]
    await first

    assert [answer.status_code for answer in answers] == [200, 200, 200, 422]
