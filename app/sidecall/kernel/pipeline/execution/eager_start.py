"""Run the first step of a coroutine, which for most tools is the only one."""

import asyncio
import time
import types
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from sidecall.kernel.core.errors import ToolTimeout
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.pipeline.execution.deadline import Abandon, Bounded, CurrentTask, Interruptible, Waiter, take_back

T = TypeVar("T")


class EagerStart:
    """Runs coroutines up to their first wait; most tools never wait, and so need neither a timer nor a second step.

    A coroutine reports its end to a manual driver by an exception, which takes as long as a short tool; an `await` gets
    it without one. So each coroutine is awaited inside a generator that is reused.
    """

    def __init__(self, seconds_left: Callable[[Any], float | None], abandon: Abandon) -> None:
        """Bound coroutines that wait.

        Args:
            seconds_left: Asked with what a coroutine runs for, once it waits; None for no bound.
            abandon: Goes on with what does not end in time.
        """
        self._seconds_left = seconds_left
        self._abandon = abandon
        self._current = CurrentTask()
        self._idle: list[Waiter] = []

    def take(self, coroutine: Any, call: Interruptible | None = None) -> tuple[bool, Any]:
        """Begin a coroutine in the current task.

        Returns:
            Whether it is done, and what it returns; or else what has to be awaited for that.
        """
        task = self._current.find()
        before = task.cancelling()
        try:
            waiter = self._idle.pop()
        except IndexError:
            waiter = _make_waiter()
        try:
            came = waiter.send(coroutine)
        except BaseException as end:
            own = task.cancelling() - before
            if own > 0:
                return False, _end_uncancelled(task, own, end)
            raise
        own = task.cancelling() - before
        if coroutine.cr_await is not None:
            bounded: Bounded[Any] = Bounded(task, coroutine, came, self._seconds_left(call), self._abandon, call)
            bounded.go_on_with(waiter, self._idle, own)
            return False, bounded
        self._idle.append(waiter)
        return (True, came) if own <= 0 else (False, _end_uncancelled(task, own, StopIteration(came)))


def _make_waiter() -> Waiter:
    waiter = _await_each()
    waiter.send(None)
    return waiter


@types.coroutine
def _await_each() -> Waiter:
    """Await each coroutine that is sent, and yield its result; what it waits for is yielded as well."""
    coroutine = yield
    while True:
        coroutine = yield (yield from coroutine)


async def within(
    coroutine: Coroutine[Any, Any, T], seconds: float, abandon: Abandon, call: Interruptible | None = None
) -> T:
    """Run a coroutine, bounded as soon as it waits.

    Raises:
        DeadlinePassed: It was not done in time.
    """
    is_done, came = EagerStart(lambda _: seconds, abandon).take(coroutine, call)
    result: T = came if is_done else await came
    return result


async def _end_uncancelled(task: asyncio.Task[Any], own: int, end: BaseException) -> Any:
    """Undo the cancellation by code that cancelled its own task, and end as it did."""
    if isinstance(end, StopIteration):
        await take_back(task, own)
        return end.value
    with suppress(asyncio.CancelledError):
        await take_back(task, own)
    raise end


def seconds_left(invocation: Invocation) -> float | None:
    """Return the seconds until the deadline, at least 0; None without a deadline."""
    return None if invocation.deadline is None else max(0.0, invocation.deadline - time.monotonic())


def is_late(invocation: Invocation) -> bool:
    """Return whether the deadline has passed, as after code that blocked the event loop."""
    return invocation.deadline is not None and time.monotonic() > invocation.deadline


def make_timeout(invocation: Invocation) -> ToolTimeout:
    """Build the timeout failure of a call."""
    given = invocation.request.sender.deadline
    if given is not None and given.moment == invocation.deadline:
        return ToolTimeout(invocation.tool.name, given.seconds)
    allowed = round(max(0.0, (invocation.deadline or 0.0) - invocation.started), 6)
    return ToolTimeout(invocation.tool.name, allowed)
