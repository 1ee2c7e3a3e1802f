"""What waits for a slow reader of events is bounded, no matter what has been read before."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from sidecall.http.backlog import Backlog
from sidecall.http.server_sent_events import Events

_PIECE = "x" * 10_000


async def _read(reader: AsyncIterator[bytes]) -> bytes:
    """Take the pieces of one event."""
    event = b""
    while not event.endswith(b"\n\n"):
        event += await anext(reader)
    return event


def _told(events: Events, count: int) -> None:
    [events.tell("progress", "call_1", {"message": _PIECE}) for _ in range(count)]


async def test_an_answer_that_was_read_makes_no_room_that_it_did_not_take() -> None:
    """Progress waits within a megabyte, before a large answer and after it."""
    events = Events(Backlog(), bytes)
    reader = aiter(events)
    events.answer("message", b"y" * 600_000)
    await asyncio.sleep(0)
    _told(events, 40)
    await asyncio.sleep(0)
    answer = await _read(reader)
    _told(events, 100)
    await asyncio.sleep(0)
    events.end()
    waiting = b"".join([piece async for piece in reader])

    assert answer.startswith(b"event: message\n")
    assert 40 < waiting.count(b"event: progress\n") < 105
    assert len(waiting) <= 1024 * 1024


async def test_what_waits_goes_out_in_one_piece() -> None:
    """As far as the network takes it at once; no event is torn for that."""
    events = Events(Backlog(), bytes)
    reader = aiter(events)
    _told(events, 14)
    events.answer("message", b"{}")
    events.end()

    pieces = [piece async for piece in reader]

    assert [piece.count(b"event: ") for piece in pieces] == [6, 6, 3]
    assert [piece.endswith(b"\n\n") for piece in pieces] == [True] * 3


async def test_the_loop_is_woken_once_for_all_that_comes_in_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many events that are."""
    woken = []
    events = Events(Backlog(), bytes)
    monkeypatch.setattr(asyncio.get_running_loop(), "call_soon_threadsafe", woken.append)

    _told(events, 20)

    assert len(woken) == 1


async def test_progress_finds_room_again_when_events_are_read() -> None:
    """A large answer takes its own with it."""
    events = Events(Backlog(), bytes)
    reader = aiter(events)
    events.answer("message", b"y" * 2_000_000)
    await asyncio.sleep(0)
    _told(events, 1)
    await asyncio.sleep(0)
    await _read(reader)
    _told(events, 1)
    await asyncio.sleep(0)
    events.end()

    assert len([piece async for piece in reader]) == 1


async def test_a_queue_without_events_takes_up_little() -> None:
    """Thousands of streams may wait; counted in what they allocate."""
    backlog = Backlog()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        waiting = [Events(backlog, bytes) for _ in range(100)]
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(waiting) == 100
    assert (after - before) / 100 < 800
