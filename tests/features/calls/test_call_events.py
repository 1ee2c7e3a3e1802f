"""`GET /tool_calls/{id}/events` follows a call as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.features.calls.event_stream import write_updates
from sidecall.features.jobs.event_log import EventLog
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Peer, scope_of
from tests.kit.clients import MakeClient
from tests.kit.events import events_in, numbered_events_in
from tests.kit.remembered import ASYNC, GO, RAN, charge, refund, send, wait_for
from tests.kit.waiting import until

LAST = 999_999_999
WAIT = {"Prefer": "wait=30"}


@tool
async def cook(dish: str, context: ToolContext, steps: int = 2) -> AsyncIterator[str]:
    """Cook a dish.

    Args:
        dish: Which.
        context: Hears how far it is.
        steps: How many it takes.
    """
    for step in range(1, steps + 1):
        await context.progress(step, steps, f"step {step}")
    yield "soup"
    await GO.setdefault(dish, asyncio.Event()).wait()
    yield f" of {dish}"


@tool
def boil(pot: str, context: ToolContext) -> Iterator[str]:
    """Boil a pot, in a thread.

    Args:
        pot: Which.
        context: Hears how far it is.
    """
    yield from ("a", "b")


STATUS = {"attempt": 1, "kind": None, "approval_id": None}
RUNNING = {"status": "running", **STATUS}
SUCCEEDED = {"status": "succeeded", **STATUS}


def _said(**members: Any) -> dict[str, Any]:
    return {"tool_call_id": "call_1", **members}


async def _begin(client: httpx.AsyncClient, tool_name: str, **args: Any) -> str:
    return str((await send(client, tool_name, headers=ASYNC, **args)).headers["Location"])


async def test_a_call_is_followed_to_its_end(serve: MakeClient) -> None:
    """How it stands, what its tool says, and its answer in the dialect that was asked for."""
    client = await serve(cook)
    place = await _begin(client, "cook", dish="peas")
    GO.setdefault("peas", asyncio.Event()).set()

    answer = await client.get(f"{place}/events?format=openai")

    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert numbered_events_in(answer.text) == [
        (1, "status", RUNNING),
        (2, "progress", _said(done=1, total=2, message="step 1")),
        (3, "progress", _said(done=2, total=2, message="step 2")),
        (4, "partial", _said(content="soup")),
        (5, "partial", _said(content=" of peas")),
        (6, "status", SUCCEEDED),
        (LAST, "message", {"role": "tool", "tool_call_id": "call_1", "content": "soup of peas"}),
    ]


async def test_parts_from_a_thread_are_heard(serve: MakeClient) -> None:
    """In their order."""
    client = await serve(boil)
    place = await _begin(client, "boil", pot="x")

    events = numbered_events_in((await client.get(f"{place}/events")).text)

    assert [event["content"] for _, kind, event in events if kind == "partial"] == ["a", "b"]
    assert [number for number, _, _ in events] == [1, 2, 3, 4, LAST]


@pytest.mark.parametrize(
    ("last", "numbers"), [("0", [1, 2, 3, 4, 5, 6, LAST]), ("4", [5, 6, LAST]), ("77", [1, 2, 3, 4, 5, 6, LAST])]
)
async def test_a_client_goes_on_where_it_was(serve: MakeClient, last: str, numbers: list[int]) -> None:
    """Also after the end; who comes with a number that was never given hears all."""
    client = await serve(cook)
    place = await _begin(client, "cook", dish="peas")
    GO.setdefault("peas", asyncio.Event()).set()
    await client.get(place, headers=WAIT)
    await client.get(f"{place}/events")

    events = numbered_events_in((await client.get(f"{place}/events", headers={"Last-Event-ID": last})).text)

    assert [number for number, _, _ in events] == numbers


async def test_a_client_that_has_the_answer_is_told_to_stop(serve: MakeClient) -> None:
    """Browsers connect again and again until they get 204."""
    client = await serve(charge)
    place = await _begin(client, "charge", order="a")
    await client.get(f"{place}/events")

    answer = await client.get(f"{place}/events", headers={"Last-Event-ID": str(LAST)})

    assert (answer.status_code, answer.content) == (204, b"")


async def test_of_a_call_whose_events_are_forgotten_the_end_is_told(serve: MakeClient) -> None:
    """Numbered behind what its client has heard."""
    client = await serve(charge)
    place = await _begin(client, "charge", order="a")
    await client.get(place, headers=WAIT)

    events = numbered_events_in((await client.get(f"{place}/events", headers={"Last-Event-ID": "41"})).text)

    assert [(number, kind) for number, kind, _ in events] == [(42, "status"), (LAST, "message")]


async def test_events_come_while_the_call_runs(serve: MakeClient) -> None:
    """And several clients hear them, each from where it came."""
    client = await serve(cook)
    place = await _begin(client, "cook", dish="peas")
    async with _watching(client, place) as first, _watching(client, place) as second:
        await until(lambda: b"soup" in first.content and b"soup" in second.content)
        before = first.content
        GO["peas"].set()
        await until(lambda: b"event: message" in first.content and b"event: message" in second.content)

    assert b"event: message" not in before
    assert first.content == second.content


async def test_a_flood_of_progress_is_bounded(serve: MakeClient) -> None:
    """The oldest is forgotten, what the call has come to never is."""
    client = await serve(cook)
    place = await _begin(client, "cook", dish="peas", steps=10_000)
    GO.setdefault("peas", asyncio.Event()).set()
    await client.get(place, headers=WAIT)

    events = numbered_events_in((await client.get(f"{place}/events")).text)

    kinds = [kind for _, kind, _ in events]
    assert (kinds[0], kinds[-2:]) == ("status", ["status", "message"])
    assert 0 < len(kinds) - 3 <= 256
    assert [event["content"] for _, kind, event in events if kind == "partial"] == ["soup", " of peas"]


async def test_many_events_come_in_few_portions_and_turns() -> None:
    """Each is written once for all who read it, and one reader does not keep the others waiting for all of it."""
    event_log, sent = EventLog(), list[tuple[int, bytes]]()
    for _ in range(250):
        event_log.add("progress", b"x" * 150)
    happenings = event_log.list_after(0)

    async def follow(reader: int) -> None:
        async for portion in write_updates(happenings):
            sent.append((reader, portion))

    await asyncio.gather(follow(1), follow(2))

    assert [reader for reader, _ in sent] == [1, 2, 1, 2, 1, 2]
    assert b"".join(portion for reader, portion in sent if reader == 1) == b"".join(
        b"id: %d\nevent: progress\ndata: %s\n\n" % (number, b"x" * 150) for number in range(1, 251)
    )
    assert all(happening.write(_write_again) for happening in happenings)


async def test_a_queued_call_is_followed_from_its_place(serve: MakeClient) -> None:
    """Each change of its status is an event."""
    client = await serve(wait_for, max_running_jobs=1)
    await _begin(client, "wait_for", name="a")
    place = await _begin(client, "wait_for", name="b")
    async with _watching(client, place) as peer:
        await until(lambda: b"queued" in peer.content)
        GO["a"].set()
        await until(lambda: b"running" in peer.content)
        GO.setdefault("b", asyncio.Event()).set()
        await until(lambda: b"event: message" in peer.content)

    events = numbered_events_in(peer.content.decode())
    assert [event["status"] for _, kind, event in events if kind == "status"] == ["queued", "running", "succeeded"]


async def test_a_call_that_waits_for_a_person_is_followed(serve: MakeClient) -> None:
    """The event names the approval, and the answer comes when it is decided."""
    client = await serve(refund)
    place = await _begin(client, "refund", order="a")
    async with _watching(client, place) as peer:
        await until(lambda: b"awaiting_approval" in peer.content)
        (waiting,) = (await client.get("/approvals")).json()
        await client.post(f"/approvals/{waiting['id']}", json={"decision": "approve"})
        await until(lambda: b"event: message" in peer.content)

    events = numbered_events_in(peer.content.decode())
    statuses = [(event["status"], event["approval_id"]) for _, kind, event in events if kind == "status"]
    assert statuses[-2:] == [("awaiting_approval", waiting["id"]), ("succeeded", waiting["id"])]
    assert events[-1][2]["content"] == "refunded a"


async def test_a_cancelled_call_ends_its_events(serve: MakeClient) -> None:
    """With the answer that says so."""
    client = await serve(wait_for)
    place = await _begin(client, "wait_for", name="a")
    await until(lambda: RAN["a"] > 0)
    async with _watching(client, place) as peer:
        await until(lambda: b"running" in peer.content)
        await client.post(f"{place}/cancel")
        await until(lambda: b"event: message" in peer.content)

    *_, (_, kind, status), (_, _, message) = numbered_events_in(peer.content.decode())
    assert (kind, status["status"], message["status"]) == ("status", "cancelled", "error")


async def test_an_unknown_call_has_no_events(serve: MakeClient) -> None:
    """It is 404."""
    client = await serve(charge)

    assert (await client.get("/tool_calls/01a202d4-8e08-76c8-a6cd-81cabbcf02ac/events")).status_code == 404


async def test_a_server_that_ends_lets_go_of_those_who_watch() -> None:
    """Without waiting for the call, which they ask the next server about."""
    lifecycle = Lifecycle()
    app = create_app(Settings(drain_timeout=0), Registry([wait_for]), lifecycle)
    transport = httpx.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client,
        _watching(client, await _begin(client, "wait_for", name="a")) as peer,
    ):
        await until(lambda: b"running" in peer.content)
        lifecycle.drain()
        await until(lambda: b"event: error" in peer.content)

    _, (kind, problem) = events_in(_unnumbered(peer.content.decode()))
    assert (kind, problem["type"]) == ("error", "urn:sidecall:problem:shutting-down")


def _write_again(kind: str, body: bytes, number: int) -> bytes:
    raise AssertionError(f"event {number} is written again")


def _unnumbered(text: str) -> str:
    return "".join(f"{line}\n" for line in text.split("\n")[:-1] if not line.startswith("id: "))


@asynccontextmanager
async def _watching(client: httpx.AsyncClient, place: str) -> AsyncIterator[Peer]:
    """Watch a call by hand: the client of other tests takes only whole answers."""
    peer, transport = Peer(), client._transport
    assert isinstance(transport, httpx.ASGITransport)
    scope = scope_of("GET", f"{place}/events")
    task = asyncio.ensure_future(transport.app(scope, peer.receive, peer.send))  # type: ignore[arg-type]
    try:
        yield peer
    finally:
        peer.gone.set()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(task, 30)
