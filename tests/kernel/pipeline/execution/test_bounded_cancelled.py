"""A deadline and cancellation from outside or inside never pass for one another."""

import asyncio
from typing import Any

import anyio
import pytest

from sidecall.kernel.pipeline.execution.deadline import DeadlinePassed
from sidecall.kernel.pipeline.execution.eager_start import within
from tests.kernel.pipeline.stubborn import LONG, Rest, Work, gives_in, swallows
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


async def test_what_cancels_from_outside_is_no_deadline(rest: Rest) -> None:
    """The code is told, and the task is cancelled."""
    seen: list[Any] = []

    async def work() -> None:
        seen.append(await outcome(asyncio.sleep(LONG)))
        raise asyncio.CancelledError

    task = asyncio.ensure_future(outcome(within(work(), 1, rest)))
    running().call_later(0.5, task.cancel)

    assert await task == (asyncio.CancelledError, 0.5)
    assert task.cancelling() == 1
    assert seen == [(asyncio.CancelledError, 0.5)]


async def test_a_time_limit_around_it_is_no_deadline(rest: Rest) -> None:
    """The code that set it hears of it."""

    async def limited() -> None:
        async with asyncio.timeout(0.5):
            await within(asyncio.sleep(LONG), 1, rest)

    assert await outcome(limited()) == (TimeoutError, 0.5)


@pytest.mark.parametrize(
    ("work", "at", "seconds"),
    [
        pytest.param(gives_in, 0.99, 0.99, id="right before the deadline"),
        pytest.param(swallows, 1.05, 1.1, id="during the clean-up"),
        pytest.param(swallows, 1.1, 1.1, id="at the very end of the clean-up"),
    ],
)
async def test_cancellation_from_outside_stays_cancellation(
    rest: Rest, late: asyncio.Event, work: Work, at: float, seconds: float
) -> None:
    """When the deadline passes too."""
    task = asyncio.ensure_future(outcome(within(work(late), 1, rest)))
    running().call_later(at, task.cancel)

    came = await task
    await rest.end()

    assert came == (asyncio.CancelledError, seconds)
    assert task.cancelling() == 1


async def _own_timeout(_: asyncio.Event) -> str:
    try:
        async with asyncio.timeout(0.5):
            await asyncio.sleep(LONG)
    except TimeoutError:
        return "own limit"
    return "none"


async def _own_scope(_: asyncio.Event) -> str:
    with anyio.move_on_after(0.5) as scope:
        await anyio.sleep(LONG)
    return "own limit" if scope.cancelled_caught else "none"


async def _own_group(_: asyncio.Event) -> str:
    async with asyncio.TaskGroup() as group:
        group.create_task(asyncio.sleep(0.2))
        group.create_task(asyncio.sleep(0.5))
    return "own limit"


async def _own_failing_group(_: asyncio.Event) -> str:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.wait_for(asyncio.sleep(LONG), 0.5))
            group.create_task(asyncio.sleep(LONG))
    except* TimeoutError:
        pass
    return "own limit"


OWN = [_own_timeout, _own_scope, _own_group, _own_failing_group]


@pytest.mark.parametrize("work", OWN)
async def test_limits_and_groups_inside_work_as_ever(rest: Rest, late: asyncio.Event, work: Work) -> None:
    """They cancel the task that they are in, and take it back."""
    assert await outcome(within(work(late), 1, rest)) == ("own limit", 0.5)


@pytest.mark.parametrize("work", OWN)
async def test_a_deadline_after_limits_and_groups_inside_is_a_deadline(
    rest: Rest, late: asyncio.Event, work: Work
) -> None:
    """What they cancelled and have dealt with is no cancellation from outside."""

    async def then_wait() -> None:
        await work(late)
        await late.wait()

    assert await outcome(within(then_wait(), 1, rest)) == (DeadlinePassed, 1.0)


@pytest.mark.parametrize("work", OWN)
async def test_limits_and_groups_inside_are_under_the_deadline(rest: Rest, late: asyncio.Event, work: Work) -> None:
    """When they end at the same moment, too, since the deadline was set first."""
    assert await outcome(within(work(late), 0.5, rest)) == (DeadlinePassed, 0.5)
