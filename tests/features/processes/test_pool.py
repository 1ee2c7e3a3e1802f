"""Processes are lent in order, and none is lost on the way."""

import asyncio
import os
import resource
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from sidecall.features.processes.child import pack
from sidecall.features.processes.pool import ProcessPool
from sidecall.loading.collect import TOOLS_OF

GREETING = {"traces": False, "levels": {}, "homes": []}


@pytest.fixture
async def pool() -> AsyncIterator[ProcessPool]:
    """One process."""
    one = ProcessPool(1, lambda: pack("greet", None, GREETING), TOOLS_OF)
    yield one
    await one.close()


async def test_who_leaves_while_waiting_is_passed_over(pool: ProcessPool) -> None:
    """The next in line gets it."""
    child = await pool.acquire()
    first, second = asyncio.ensure_future(pool.acquire()), asyncio.ensure_future(pool.acquire())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    waiting = pool.waiting
    pool.release(child)

    assert waiting == 1
    assert await second is child
    assert first.cancelled()
    pool.release(child)


async def test_callers_take_turns(pool: ProcessPool) -> None:
    """A caller with one call waits for one of a flood."""
    order: list[str] = []

    async def call(name: str) -> None:
        child = await pool.acquire(("default", name[0]))
        order.append(name)
        pool.release(child)

    child = await pool.acquire()
    calls = [asyncio.ensure_future(call(name)) for name in ("a1", "a2", "a3", "b1", "b2")]
    await asyncio.sleep(0)
    pool.release(child)
    await asyncio.gather(*calls)

    assert order == ["a1", "b1", "a2", "b2", "a3"]
    assert pool.waiting == 0


@pytest.mark.parametrize("leaves_now", [True, False], ids=["before it arrives", "as it arrives"])
async def test_who_leaves_does_not_keep_it(pool: ProcessPool, leaves_now: bool) -> None:
    """It is on its way to somebody who is gone, or has come when nobody looks any more."""
    child = await pool.acquire()
    waiting = asyncio.ensure_future(pool.acquire())
    await asyncio.sleep(0)
    pool.release(child)
    if leaves_now:
        waiting.cancel()
    else:
        # Behind the delivery, and before what waits wakes up.
        asyncio.get_running_loop().call_soon(waiting.cancel)

    assert await pool.acquire() is child
    assert waiting.cancelled()
    pool.release(child)


async def test_none_keeps_its_old_code(pool: ProcessPool) -> None:
    """Those that are idle are replaced at once, those that are lent when they come back."""
    idle = await pool.acquire()
    pool.release(idle)
    pool.renew()
    lent = await pool.acquire()
    pool.renew()
    pool.release(lent)
    fresh = await pool.acquire()

    assert [idle.number, lent.number, fresh.number] == [1, 2, 3]
    assert pool.busy == 1
    pool.release(fresh)


@pytest.fixture
def no_more_files() -> Iterator[Callable[[], None]]:
    """Let this process open no more files from now on."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_who_waits_where_none_can_be_made_is_told(
    pool: ProcessPool, no_more_files: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Rather than to wait for ever."""
    child = await pool.acquire()
    waiting = asyncio.ensure_future(pool.acquire())
    await asyncio.sleep(0)
    no_more_files()
    pool.replace(child)

    with pytest.raises(RuntimeError, match="no process can be started"):
        await waiting
    with pytest.raises(RuntimeError, match="no process can be started"):
        await pool.acquire()
    assert "Too many open files" in caplog.text
    assert (pool.busy, pool.waiting) == (0, 0)


async def test_those_that_are_there_serve_although_no_more_can_be_made(no_more_files: Callable[[], None]) -> None:
    """A call needs only one."""
    two = ProcessPool(2, lambda: pack("greet", None, GREETING), TOOLS_OF)
    first, second = await two.acquire(), await two.acquire()
    no_more_files()
    two.replace(first)
    two.release(second)

    assert await two.acquire() is second
    two.release(second)
    await two.close()


async def test_who_comes_back_after_the_end_is_let_go(pool: ProcessPool) -> None:
    """No descriptor stays behind."""
    before = len(os.listdir("/proc/self/fd"))
    child = await pool.acquire()
    await pool.close()
    pool.release(child)
    await asyncio.sleep(0)

    assert len(os.listdir("/proc/self/fd")) == before
    assert pool.busy == 0


async def test_a_killed_one_is_waited_for_and_forgotten(pool: ProcessPool) -> None:
    """Its descriptor as well."""
    gone = asyncio.Event()
    child = await pool.acquire()
    before = len(os.listdir("/proc/self/fd"))
    pool.replace(child, gone.set)
    was_gone = gone.is_set()
    await gone.wait()
    await asyncio.sleep(0)

    assert not was_gone
    assert len(os.listdir("/proc/self/fd")) == before
