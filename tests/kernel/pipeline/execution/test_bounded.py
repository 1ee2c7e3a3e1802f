"""A deadline holds no matter what the code does that runs under it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from sidecall.kernel.pipeline.execution.deadline import DeadlinePassed
from sidecall.kernel.pipeline.execution.eager_start import within
from tests.kernel.pipeline.stubborn import LONG, WAYS, Rest, Work, cleans_up_slowly, fails_when_cancelled, swallows
from tests.kit.virtual_time import now, outcome, running

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def seen() -> list[Any]:
    """Remember what the code under the deadline noticed."""
    return []


async def answer_after(seconds: float) -> str:
    """Wait, and answer."""
    await asyncio.sleep(seconds)
    return "done"


async def noticing(seen: list[Any], seconds: float = LONG) -> None:
    """Wait, and remember how that ended."""
    try:
        await asyncio.sleep(seconds)
    except BaseException as error:
        seen.append(type(error))
        raise
    finally:
        seen.append(now())


async def test_an_answer_without_a_wait_needs_no_timer(rest: Rest) -> None:
    """Most tools never wait, and must not pay for a deadline."""

    async def answer() -> str:
        return "done"

    before = len(running().timers)
    result = await within(answer(), 1, rest)

    assert (result, len(running().timers) - before) == ("done", 0)


async def test_an_answer_in_time_is_returned(rest: Rest) -> None:
    """And nothing of the deadline remains."""
    before = len(running().timers)

    came = await outcome(within(answer_after(0.9), 1, rest))
    timers = running().timers[before:]

    assert came == ("done", 0.9)
    assert [timer.when() for timer in timers if not timer.cancelled() and timer.when() > now()] == []
    assert rest.tasks == []


async def test_a_yield_to_the_loop_is_no_wait(rest: Rest) -> None:
    """As `asyncio.sleep(0)` does."""
    assert await outcome(within(answer_after(0), 1, rest)) == ("done", 0.0)


@pytest.mark.parametrize("error", [ValueError, TimeoutError, SystemExit, asyncio.CancelledError, StopAsyncIteration])
@pytest.mark.parametrize("seconds", [0, 0.5])
async def test_an_error_in_time_is_raised(rest: Rest, error: type[BaseException], seconds: float) -> None:
    """Of any kind, before and after the first wait."""

    async def fail() -> None:
        await asyncio.sleep(seconds)
        raise error

    assert await outcome(within(fail(), 1, rest)) == (error, seconds)


async def test_code_past_its_deadline_is_cancelled(rest: Rest, seen: list[Any]) -> None:
    """Its clean-up runs before the deadline is told of, and nothing is left."""
    started = now()

    came = await outcome(within(noticing(seen), 1, rest))

    assert came == (DeadlinePassed, 1.0)
    assert seen == [asyncio.CancelledError, started + 1]
    assert rest.tasks == []


@pytest.mark.parametrize(("way", "seconds"), WAYS.items())
async def test_a_deadline_holds_against_all_stubbornness(
    rest: Rest, late: asyncio.Event, way: Work, seconds: float
) -> None:
    """A tenth of a second is granted for clean-up, and no more."""
    came = await outcome(within(way(late), 1, rest))
    await rest.end()

    assert came == (DeadlinePassed, seconds)


async def test_a_clean_up_that_is_quick_is_waited_for(rest: Rest, seen: list[Any]) -> None:
    """It has ended when the deadline is told of."""

    async def tidy() -> None:
        try:
            await asyncio.sleep(LONG)
        finally:
            await asyncio.sleep(0.09)
            seen.append("tidied")

    assert await outcome(within(tidy(), 1, rest)) == (DeadlinePassed, 1.09)
    assert (seen, rest.tasks) == (["tidied"], [])


async def test_what_is_abandoned_goes_on(rest: Rest, late: asyncio.Event, seen: list[Any]) -> None:
    """Work that nobody waits for ends when it ends."""
    started = now()

    async def work() -> str:
        answer = await swallows(late)
        seen.append(now() - started)
        return answer

    came = await outcome(within(work(), 1, rest))
    ended = await rest.end()

    assert (came, seen, ended) == ((DeadlinePassed, 1.1), [LONG], [None])


async def test_what_is_abandoned_hears_of_the_errors_of_what_it_waits_for(
    rest: Rest, late: asyncio.Event, seen: list[Any]
) -> None:
    """They reach it as in any other task."""
    lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def work() -> None:
        try:
            await swallows(late)
            await lost
        except ConnectionError as error:
            seen.append(str(error))

    await outcome(within(work(), 1, rest))
    lost.set_exception(ConnectionError("lost"))
    ended = await rest.end()

    assert (seen, ended) == (["lost"], [None])


async def test_slow_clean_up_is_left_to_itself(rest: Rest, late: asyncio.Event, seen: list[Any]) -> None:
    """It is not waited for, and goes on to its end."""

    async def work() -> None:
        try:
            await late.wait()
        finally:
            await asyncio.sleep(3)
            seen.append("put away")

    await outcome(within(work(), 1, rest))
    await rest.end()

    assert seen == ["put away"]


async def test_what_is_abandoned_is_cancelled_once_more(rest: Rest, late: asyncio.Event, seen: list[Any]) -> None:
    """Five seconds after nobody has waited for it any longer."""
    started = now()

    async def work() -> None:
        try:
            await late.wait()
        finally:
            await noticing(seen)

    await outcome(within(work(), 1, rest))
    [ended] = await rest.end()

    assert [seen[0], round(seen[1] - started, 6), type(ended)] == [asyncio.CancelledError, 6.1, asyncio.CancelledError]


async def test_what_is_abandoned_can_be_cancelled_again(rest: Rest, late: asyncio.Event, seen: list[Any]) -> None:
    """By a server that stops, for instance."""

    async def work() -> None:
        try:
            await cleans_up_slowly(late)
        finally:
            await noticing(seen)

    await outcome(within(work(), 1, rest))
    await asyncio.sleep(0)
    rest.tasks[0].cancel()
    [ended] = await rest.end()

    assert (seen[0], type(ended)) == (asyncio.CancelledError, asyncio.CancelledError)


async def test_nothing_of_the_deadline_remains_in_the_task(rest: Rest, late: asyncio.Event) -> None:
    """It has not been cancelled, and its own time limits work as before."""
    task = asyncio.current_task()
    assert task is not None

    passed = await outcome(within(swallows(late), 1, rest))
    slept = await outcome(asyncio.sleep(5))
    limited = await outcome(asyncio.wait_for(asyncio.sleep(5), 2))
    await rest.end()

    assert (passed, slept, limited) == ((DeadlinePassed, 1.1), (None, 5.0), (TimeoutError, 2.0))
    assert task.cancelling() == 0


async def test_an_answer_at_the_very_deadline_is_too_late(rest: Rest) -> None:
    """It is answered by what was planned first, and the tool waits before the deadline is set."""
    assert await outcome(within(answer_after(1), 1, rest)) == (DeadlinePassed, 1.0)


async def test_the_deadline_is_said_with_its_reason(rest: Rest, late: asyncio.Event) -> None:
    """Anyone who debugs a tool sees what it raised when it was stopped."""
    with pytest.raises(DeadlinePassed) as passed:
        await within(fails_when_cancelled(late), 1, rest)

    assert repr(passed.value.__cause__) == "ValueError('lost connection')"


async def test_what_is_closed_before_its_end_closes_its_code(rest: Rest, seen: list[Any]) -> None:
    """As a generator does when nobody goes on with it."""
    waiting = within(noticing(seen), 1, rest).__await__()
    next(waiting)

    waiting.close()
    await asyncio.sleep(2)

    assert seen[0] is GeneratorExit


async def test_what_is_abandoned_and_closed_closes_its_code(late: asyncio.Event, seen: list[Any]) -> None:
    """As a loop does that ends before its tasks."""
    kept: list[Coroutine[Any, Any, Any]] = []

    async def work() -> None:
        try:
            await swallows(late)
        finally:
            seen.append("closed")

    await outcome(within(work(), 1, lambda _, rest: kept.append(rest)))
    waiting = kept[0].__await__()
    next(waiting)

    waiting.close()

    assert seen == ["closed"]


async def test_what_belongs_to_another_loop_is_an_error_as_ever(rest: Rest) -> None:
    """A tool that waited for it would wait for ever."""
    other = asyncio.new_event_loop()

    async def work() -> None:
        await other.create_future()

    with pytest.raises(RuntimeError, match="attached to a different loop"):
        await within(work(), 1, rest)
    other.close()
