"""All parts of a generator reach a reader who reads; one who stands still is told what it has missed."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import pytest
from starlette.types import ASGIApp

from sidecall import Cache, Registry, Secret, tool
from sidecall.kernel.concurrency import backpressure as reading
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.calls import write_call
from tests.kit.events import Event, events_in
from tests.kit.waiting import until

MANY = 4_000
READS: Any = {"read_only": True}


async def _aparts(times: int, size: int = 1) -> AsyncIterator[str]:
    """Yield parts without a pause."""
    for number in range(times):
        yield f"{number:0{size}d};"


def _parts(times: int, size: int = 1) -> Iterator[str]:
    """Yield parts without a pause."""
    for number in range(times):
        yield f"{number:0{size}d};"


@tool
async def with_a_secret(times: int, key: Annotated[str, Secret("KEY")]) -> AsyncIterator[str]:
    """Yield parts of a tool that is given a secret."""
    assert key
    for number in range(times):
        yield f"{number};"


@tool
async def structured(times: int) -> AsyncIterator[dict[str, int]]:
    """Yield parts that are no texts."""
    for number in range(times):
        yield {"number": number}


@tool
async def iterator(times: int) -> Any:
    """Return an iterator that is no generator."""
    return map(str, range(times))


@tool(executor="process")
def in_a_process(times: int) -> Iterator[str]:
    """Yield parts in another process."""
    for number in range(times):
        yield f"{number};"


on_the_loop = tool("on_the_loop")(_aparts)
in_a_thread = tool("in_a_thread")(_parts)
TOOLS = [
    on_the_loop,
    in_a_thread,
    tool("on_the_loop_of_a_thread", executor="thread")(_aparts),
    tool("sync_on_the_loop", executor="inline")(_parts),
    tool("cached", cache=Cache(ttl=60), annotations=READS)(_aparts),
    with_a_secret,
    structured,
    iterator,
    in_a_process,
]


@pytest.fixture(scope="module")
async def app(anyio_backend: Any) -> AsyncIterator[ASGIApp]:
    """Give a server with generators of all kinds."""
    app = create_app(Settings(), Registry([*TOOLS]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEY", "a secret of some length")
        async with app.router.lifespan_context(app):
            yield app


async def _post(app: ASGIApp, peer: Peer, call: Any) -> list[Event]:
    body = json.dumps(call).encode()
    peer.messages[0]["body"] = body
    target = "/tool_calls/batch" if isinstance(call, list) else "/tool_calls"
    await app(scope_of("POST", target, sized(body, ("accept", "text/event-stream"))), peer.receive, peer.send)
    return events_in(peer.content.decode())


def _count(events: list[Event], id: str = "call_1") -> tuple[int, int]:
    """Count the parts of a call that came, and those that it was told of as missed."""
    own = [(name, said) for name, said in events if said.get("tool_call_id") == id]
    return sum(name == "partial" for name, _ in own), sum(said["count"] for name, said in own if name == "missed")


@pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
async def test_a_reader_who_reads_gets_every_part(app: ASGIApp, made: Any) -> None:
    """However fast they are made, in their order, and before the answer."""
    *parts, last = await _post(app, Peer(), write_call(made.name, times=MANY))

    assert {name for name, _ in parts} == {"partial"}
    assert len(parts) == MANY
    assert last[1]["status"] == "success"
    said = [part["content"] for _, part in parts]
    if all(isinstance(part, str) for part in said):
        assert "".join(last[1]["content"])[:1000] == "".join(said)[:1000]


@pytest.mark.parametrize("size", [2_000, 100_000, 2_000_000])
@pytest.mark.parametrize("made", [on_the_loop, in_a_thread], ids=lambda made: made.name)
async def test_parts_of_any_size_reach_a_reader_who_reads(app: ASGIApp, made: Any, size: int) -> None:
    """Also those that are larger than what may wait; only the answer is cut."""
    events = await _post(app, Peer(), write_call(made.name, times=12, size=size))

    assert _count(events) == (12, 0)
    assert {len(said["content"]) for name, said in events if name == "partial"} == {size + 1}


async def test_every_call_of_a_batch_has_all_its_parts(app: ASGIApp) -> None:
    """Though they share one stream."""
    calls = [write_call(made.name, id=made.name, times=2_000) for made in TOOLS]

    events = await _post(app, Peer(), calls)

    assert {made.name: _count(events, made.name) for made in TOOLS} == {made.name: (2_000, 0) for made in TOOLS}


async def test_others_who_stand_still_take_no_part_away() -> None:
    """Though they have filled the room of all: they are who is cut off."""
    app = create_app(Settings(max_unread_bytes=200_000), Registry([on_the_loop]))
    still = Peer(takes=asyncio.Event())
    standing = asyncio.ensure_future(_post(app, still, write_call("on_the_loop", times=90, size=1_000)))
    await asyncio.sleep(0.1)

    events = await _post(app, Peer(), write_call("on_the_loop", times=90, size=1_000))
    assert still.takes is not None
    still.takes.set()
    await standing

    assert _count(events) == (90, 0)


@pytest.mark.parametrize("made", [on_the_loop, in_a_thread, in_a_process], ids=lambda made: made.name)
async def test_a_reader_who_stands_still_is_told_how_much_it_has_missed(
    app: ASGIApp, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And holds no tool up for longer than the patience with it."""
    monkeypatch.setattr(reading, "PATIENCE", 0.2)
    peer = Peer(takes=asyncio.Event())
    asked = asyncio.ensure_future(_post(app, peer, write_call(made.name, times=MANY)))
    assert peer.takes is not None
    asyncio.get_running_loop().call_later(1.5, peer.takes.set)

    events = await asked
    come, missed = _count(events)

    assert events[-1][0] == "message"
    assert missed > 0
    assert come + missed == MANY


@pytest.mark.parametrize("made", [in_a_thread, in_a_process], ids=lambda made: made.name)
async def test_who_reads_misses_nothing_while_the_event_loop_is_held_up(
    app: ASGIApp, made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an async tool that blocks, for instance: then nobody can take anything."""
    monkeypatch.setattr(reading, "PATIENCE", 0.2)
    peer = Peer()
    asked = asyncio.ensure_future(_post(app, peer, write_call(made.name, times=MANY)))
    await until(lambda: peer.content)
    time.sleep(1)  # noqa: ASYNC251  as a tool that blocks

    assert _count(await asked) == (MANY, 0)


async def test_what_was_missed_is_told_where_it_was(app: ASGIApp, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before what came next: the parts on both sides of it are whole."""
    monkeypatch.setattr(reading, "PATIENCE", 0.1)
    go_on = asyncio.Event()

    @tool
    async def halting() -> AsyncIterator[int]:
        """Yield parts, wait, and yield more."""
        for number in range(400):
            yield number
        await go_on.wait()
        for number in range(400, 800):
            yield number

    peer = Peer(takes=asyncio.Event())
    asked = asyncio.ensure_future(_post(create_app(Settings(), Registry([halting])), peer, write_call("halting")))
    await asyncio.sleep(0.5)
    assert peer.takes is not None
    peer.takes.set()
    await asyncio.sleep(0.1)
    go_on.set()
    events = await asked

    names = [name for name, _ in events]
    gap = names.index("missed")
    before = [said["content"] for _, said in events[:gap]]
    after = [said["content"] for _, said in events[gap + 1 : -1]]
    assert names.count("missed") == 1
    assert [*before, *range(len(before), len(before) + events[gap][1]["count"]), *after] == list(range(800))
