"""Those who watch a remembered call get every part that it makes, as long as they read."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.kernel.concurrency import backpressure as reading
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Peer, scope_of
from tests.kit.calls import write_call
from tests.kit.events import numbered_events_in
from tests.kit.remembered import ASYNC
from tests.kit.waiting import until

MANY = 3_000
GO: dict[str, asyncio.Event] = {}


@tool
async def on_the_loop(times: int, size: int = 1) -> AsyncIterator[str]:
    """Yield parts once somebody watches.

    Args:
        times: How many.
        size: How long each is.
    """
    await GO["it"].wait()
    for number in range(times):
        yield f"{number:0{size}d};"


@tool(executor="thread")
async def in_a_thread(times: int, size: int = 1) -> Any:
    """Yield parts once somebody watches, in a thread.

    Args:
        times: How many.
        size: How long each is.
    """
    await until(GO["it"].is_set)

    def yield_all() -> Iterator[str]:
        for number in range(times):
            yield f"{number:0{size}d};"

    return yield_all()


@tool
async def mixed() -> AsyncIterator[Any]:
    """Yield parts of several sizes and kinds once somebody watches."""
    await GO["it"].wait()
    for part in ("a", "é" * 40_000, "b", ["x" * 70_000], "c"):
        yield part


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of a server with these tools."""
    GO["it"] = asyncio.Event()
    app = create_app(Settings(store="memory://"), Registry([on_the_loop, in_a_thread, mixed]))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client,
    ):
        yield client


Watch = Callable[[Peer], "asyncio.Future[None]"]


async def _begin(client: httpx.AsyncClient, name: str, **args: Any) -> Watch:
    """Send a job; return what has a peer watch it."""
    sent = await client.post("/tool_calls", json=write_call(name, **args), headers=ASYNC)
    scope = scope_of("GET", f"{sent.headers['Location']}/events")
    app: Any = client._transport.app  # type: ignore[attr-defined]
    return lambda peer: asyncio.ensure_future(app(scope, peer.receive, peer.send))


def _parts_in(peer: Peer) -> list[str]:
    return [said["content"] for _, kind, said in numbered_events_in(peer.content.decode()) if kind == "partial"]


@pytest.mark.parametrize(("times", "size"), [(MANY, 1), (MANY, 300), (20, 40_000)])
@pytest.mark.parametrize("name", ["on_the_loop", "in_a_thread"])
async def test_all_who_read_get_every_part(client: httpx.AsyncClient, name: str, times: int, size: int) -> None:
    """However fast they are made."""
    watch = await _begin(client, name, times=times, size=size)
    peers = [Peer(), Peer()]
    watching = [watch(peer) for peer in peers]
    await until(lambda: all(b"running" in peer.content for peer in peers))
    GO["it"].set()
    await asyncio.gather(*watching)

    expected = [f"{number:0{size}d};" for number in range(times)]
    assert [_parts_in(peer) == expected for peer in peers] == [True, True]


async def test_one_who_stands_still_takes_nothing_from_another(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And holds the call up for a while only; the gap in its numbers says what it has missed."""
    monkeypatch.setattr(reading, "PATIENCE", 0.2)
    watch = await _begin(client, "on_the_loop", times=MANY)
    reads, still = Peer(), Peer(takes=asyncio.Event())
    watching = watch(reads), watch(still)
    await until(lambda: b"running" in reads.content)
    GO["it"].set()
    await watching[0]
    assert still.takes is not None
    still.takes.set()
    await watching[1]

    numbers = [number for number, _, _ in numbered_events_in(still.content.decode())]
    assert len(_parts_in(reads)) == MANY
    assert len(_parts_in(still)) < MANY
    assert numbers == sorted(numbers)


async def test_who_goes_is_not_waited_for(client: httpx.AsyncClient) -> None:
    """The call ends as if nobody had watched it."""
    watch = await _begin(client, "on_the_loop", times=MANY)
    gone, reads = Peer(takes=asyncio.Event()), Peer()
    leaving, watching = watch(gone), watch(reads)
    await until(lambda: b"running" in reads.content)
    gone.gone.set()
    assert gone.takes is not None
    gone.takes.set()
    await leaving
    GO["it"].set()
    await watching

    assert len(_parts_in(reads)) == MANY


@pytest.mark.parametrize("name", ["on_the_loop", "in_a_thread"])
async def test_a_part_that_is_too_large_is_told_of_in_its_place(client: httpx.AsyncClient, name: str) -> None:
    """Each of them, and the answer has them all."""
    watch = await _begin(client, name, times=300, size=70_000)
    peer = Peer()
    watching = watch(peer)
    await until(lambda: b"running" in peer.content)
    GO["it"].set()
    await watching
    events = numbered_events_in(peer.content.decode())

    missed = [said for _, kind, said in events if kind == "missed"]
    assert [said["count"] for said in missed] == [1] * 300
    assert missed[0].keys() == {"tool_call_id", "count"}
    assert {kind for _, kind, _ in events} == {"status", "missed", "message"}


async def test_smaller_parts_stand_around_one_that_is_too_large(client: httpx.AsyncClient) -> None:
    """In their order."""
    watch = await _begin(client, "mixed")
    peer = Peer()
    watching = watch(peer)
    await until(lambda: b"running" in peer.content)
    GO["it"].set()
    await watching
    events = [
        (kind, said.get("content", said.get("count"))) for _, kind, said in numbered_events_in(peer.content.decode())
    ]

    assert [it for it in events if it[0] in ("partial", "missed")] == [
        ("partial", "a"),
        ("missed", 1),
        ("partial", "b"),
        ("missed", 1),
        ("partial", "c"),
    ]
