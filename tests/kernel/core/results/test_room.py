"""Large results count from being made until they are written, and beyond the bound others wait."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from sidecall.kernel.core.result_memory import ResultMemory, ResultReservation, estimate_size

KIB = 1024
LARGE = 300 * KIB


async def _begin(*waits: Awaitable[None]) -> list[asyncio.Future[None]]:
    """Let them begin to wait."""
    begun = [asyncio.ensure_future(wait) for wait in waits]
    await asyncio.sleep(0)
    return begun


async def _done(futures: list[asyncio.Future[None]]) -> list[bool]:
    """Say who goes on, once those who are woken have been."""
    for _ in range(3):
        await asyncio.sleep(0)
    return [future.done() for future in futures]


def _shares(room: ResultMemory, *sizes: int) -> list[ResultReservation]:
    shares = [room.open(number, "draw") for number in range(len(sizes))]
    for share, size in zip(shares, sizes, strict=True):
        share.grow_to(size)
    return shares


async def test_nobody_waits_within_the_bound() -> None:
    """Exactly the bound is within it."""
    room = ResultMemory(LARGE)
    first, second = _shares(room, LARGE - 1, 1)

    await first.wait()
    await second.wait()

    assert (room.used, room.is_full) == (LARGE, False)


async def test_one_goes_on_beyond_the_bound_and_the_others_wait_for_it() -> None:
    """Then the next of them does."""
    room = ResultMemory(LARGE)
    ahead, *others = _shares(room, LARGE, LARGE, LARGE)
    await ahead.wait()
    waiting = await _begin(*(share.wait() for share in others))

    before = await _done(waiting)
    room.release(0)
    between = await _done(waiting)
    room.release(1)
    after = await _done(waiting)

    assert (before, between, after) == ([False, False], [True, False], [True, True])
    assert room.used == LARGE


async def test_of_the_one_beyond_the_bound_one_call_at_a_time_goes_on() -> None:
    """A batch holds all its results until the last is there."""
    room = ResultMemory(LARGE)
    first, second = (room.open("batch", "draw") for _ in range(2))
    first.grow_to(LARGE + 1)
    await first.wait()
    waiting = await _begin(second.wait())

    before = await _done(waiting)
    first.finish(is_kept=True)
    after = await _done(waiting)

    assert (before, after) == ([False], [True])
    assert room.used == LARGE + 1


async def test_who_is_let_in_counts_with_what_it_is_about_to_make() -> None:
    """So that not all go on at once when one leaves."""
    room = ResultMemory(LARGE)
    ahead, *others = _shares(room, LARGE + 1, 0, 0, 0)
    await ahead.wait()
    waiting = await _begin(*(share.wait(LARGE) for share in others))

    room.release(0)

    assert await _done(waiting) == [True, True, False]  # One within the bound, and one beyond it.
    assert room.used == 2 * LARGE


@pytest.mark.parametrize("end", [lambda room: room.release(0), lambda room: room.shares[0][0].finish(is_kept=False)])
def test_what_is_not_kept_counts_no_more(end: Callable[[ResultMemory], None]) -> None:
    """The call that made it may have failed, or have handed it on."""
    room = ResultMemory(LARGE)
    [share] = _shares(room, LARGE)

    end(room)
    room.release(0)
    share.grow_to(2 * LARGE)  # A thread that nobody waits for any more.

    assert (room.used, dict(room.shares)) == (0, {})


def test_a_tool_is_known_by_its_last_result() -> None:
    """Only those of large ones wait before they run."""
    room = ResultMemory(LARGE)
    [share] = _shares(room, LARGE)
    known = dict(room.large)
    share.settle(KIB)
    share.finish(is_kept=True)

    assert (known, room.large) == ({"draw": LARGE}, {})


async def test_who_does_not_wait_any_more_holds_nobody_up() -> None:
    """A client that has gone, or a deadline that has passed."""
    room = ResultMemory(LARGE)
    ahead, gone, after = _shares(room, LARGE, 1, 1)
    await ahead.wait()
    assert ahead.grow_to(LARGE + 1)
    waiting = await _begin(gone.wait(), after.wait())
    waiting[0].cancel()
    await asyncio.gather(waiting[0], return_exceptions=True)
    room.release(0)

    assert await _done(waiting) == [True, True]
    assert room.waiting == 0


async def test_a_thread_waits_as_others_do() -> None:
    """And asks now and then whether it should."""
    room = ResultMemory(LARGE)
    ahead, other = _shares(room, LARGE, 1)
    await ahead.wait()
    looked = threading.Event()
    thread = threading.Thread(target=other.wait_here, args=(0, looked.set))
    thread.start()
    assert await asyncio.to_thread(looked.wait, 60)
    room.release(0)
    await asyncio.to_thread(thread.join, 60)

    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        pytest.param("x" * 1000, 1000, 1000, id="a text"),
        pytest.param({"a": ["x" * 1000, b"y" * 1000]}, 2000, 2300, id="texts within"),
        pytest.param([1] * 100_000, 800_000, 8_000_000, id="more items than are looked at"),
        pytest.param(None, 0, 0, id="nothing"),
    ],
)
def test_a_size_is_estimated(value: object, least: int, most: int) -> None:
    """Quickly, however much there is."""
    assert least <= estimate_size(value) <= most
