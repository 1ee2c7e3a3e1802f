"""The rest of a coroutine goes on as if it had been awaited from the start."""

import asyncio
from typing import Any

import pytest

from sidecall.kernel.concurrency.coroutines import await_rest
from sidecall.kernel.pipeline.execution.deadline import CurrentTask


async def twice(first: asyncio.Future[int], second: asyncio.Future[int]) -> Any:
    """Wait for two things, and say what went wrong with the first."""
    try:
        seen: Any = await first
    except (ValueError, asyncio.CancelledError) as error:
        seen = repr(error)
    return seen, await second


def begun(first: asyncio.Future[int], second: asyncio.Future[int]) -> Any:
    """Take the first step, and leave the others to somebody else."""
    coroutine = twice(first, second)
    return await_rest(coroutine, coroutine.send(None))


def futures() -> tuple[asyncio.Future[int], asyncio.Future[int]]:
    """Make two things to wait for."""
    loop = asyncio.get_running_loop()
    return loop.create_future(), loop.create_future()


async def test_what_it_waits_for_comes_back() -> None:
    """Step after step."""
    first, second = futures()
    going = asyncio.ensure_future(asyncio.wait_for(begun(first, second), None))
    first.set_result(1)
    second.set_result(2)

    assert await going == (1, 2)


async def test_what_is_raised_into_it_can_be_caught_there() -> None:
    """An error of what it waits for is its own affair."""
    first, second = futures()
    going = begun(first, second)
    first.set_exception(ValueError("no"))
    second.set_result(2)

    assert await going == ("ValueError('no')", 2)


async def test_it_is_cancelled_with_its_task() -> None:
    """It may clean up, and even go on."""
    first, second = futures()
    second.set_result(2)
    going = asyncio.ensure_future(asyncio.wait_for(begun(first, second), None))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    first.cancel()

    assert await going == ("CancelledError()", 2)


async def test_what_it_raises_comes_out() -> None:
    """At any step."""
    first, second = futures()
    going = begun(first, second)
    first.set_result(1)
    second.set_exception(OSError("gone"))

    with pytest.raises(OSError, match="gone"):
        await going


async def test_it_is_closed_with_whoever_awaits_it() -> None:
    """Its own clean-up runs, too."""
    closed: list[str] = []

    async def careful() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append("closed")

    coroutine = careful()
    going: Any = await_rest(coroutine, coroutine.send(None))
    going.send(None)
    going.close()

    assert closed == ["closed"]


async def _find(current: CurrentTask) -> bool:
    return current.find() is asyncio.current_task()


async def test_the_task_that_runs_is_found_in_each_task() -> None:
    """No matter which was found before."""
    current = CurrentTask()

    assert [await asyncio.create_task(_find(current)) for _ in range(3)] == [True] * 3


async def test_the_task_that_runs_is_found_on_each_loop() -> None:
    """In another thread, too, while the loop that was met before has a task under way; and back on the first."""
    current = CurrentTask()
    here = [await _find(current)]
    elsewhere = await asyncio.to_thread(lambda: [asyncio.run(_find(current)) for _ in range(2)])
    here.append(await _find(current))

    assert (here, elsewhere) == ([True, True], [True, True])


def test_the_task_that_runs_is_found_on_a_loop_after_another() -> None:
    """In the same thread, once the first is closed."""
    current = CurrentTask()

    assert [asyncio.run(_find(current)) for _ in range(2)] == [True, True]
