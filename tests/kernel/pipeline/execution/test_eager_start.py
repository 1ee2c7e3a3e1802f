"""Most coroutines end with their first step; the others go on as if they had been awaited."""

import asyncio
import gc
import weakref
from collections.abc import Coroutine
from types import GeneratorType
from typing import Any

import pytest

from sidecall.kernel.pipeline.execution.eager_start import EagerStart


def make_steps(seconds: float | None = None) -> EagerStart:
    """Take first steps of what has so many seconds."""

    def abandon(_call: Any, rest: Coroutine[Any, Any, Any]) -> None:
        rest.close()

    return EagerStart(lambda _: seconds, abandon)


class Result:
    """Something to which weak references can be made."""


async def make() -> Result:
    """Never wait."""
    return Result()


async def wait_for(future: asyncio.Future[int]) -> int:
    """Wait once."""
    return await future + 1


async def test_what_never_waits_is_done_at_once() -> None:
    """No matter how often, and what came before it."""
    steps = make_steps()

    assert [type(came) for is_done, came in (steps.take(make()) for _ in range(3)) if is_done] == [Result] * 3


async def test_nothing_of_a_result_is_kept() -> None:
    """It may be large, and the next coroutine may never come."""
    steps = make_steps()
    seen = weakref.ref(steps.take(make())[1])
    gc.collect()

    assert seen() is None


async def test_one_may_begin_another() -> None:
    """As a tool does that calls a tool."""
    steps = make_steps()

    async def begin(depth: int) -> tuple[bool, Any]:
        return steps.take(begin(depth - 1)) if depth else (True, "deep")

    assert steps.take(begin(1)) == (True, (True, (True, "deep")))


async def test_an_error_comes_out_and_others_go_on() -> None:
    """The next one is none the worse for it."""
    steps = make_steps()

    async def fail() -> None:
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        steps.take(fail())

    assert steps.take(make())[0]


async def test_what_waits_goes_on_when_it_is_awaited() -> None:
    """Others begin and end in the meantime."""
    steps = make_steps(5)
    futures: list[asyncio.Future[int]] = [asyncio.get_running_loop().create_future() for _ in range(2)]
    first, second = (steps.take(wait_for(future)) for future in futures)
    between = steps.take(make())
    for number, future in enumerate(futures):
        future.set_result(number)

    assert (first[0], second[0], between[0]) == (False, False, True)
    assert (await second[1], await first[1]) == (2, 1)


async def test_what_is_given_up_is_closed() -> None:
    """Its clean-up runs, and nothing waits for ever."""
    closed: list[str] = []

    async def careful() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            closed.append("closed")

    waiting = make_steps(5).take(careful())
    assert (waiting[0], closed) == (False, [])
    del waiting
    gc.collect()

    assert closed == ["closed"]


def count_waiters() -> int:
    """Count what awaits coroutines in this process."""
    return sum(isinstance(it, GeneratorType) and it.__name__ == "_await_each" for it in gc.get_objects())


async def test_many_that_have_waited_leave_little_behind() -> None:
    """What awaited them is used again, but not all of it kept."""
    before, steps = count_waiters(), make_steps(5)
    futures: list[asyncio.Future[int]] = [asyncio.get_running_loop().create_future() for _ in range(100)]
    waiting = [steps.take(wait_for(future))[1] for future in futures]
    for future in futures:
        future.set_result(1)

    assert [await rest for rest in waiting] == [2] * 100
    del waiting
    assert count_waiters() - before <= 64
