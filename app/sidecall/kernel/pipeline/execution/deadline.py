"""Run a coroutine up to a deadline that it cannot avoid."""

import asyncio
import types
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context
from threading import get_ident
from typing import Any, Generic, Protocol, TypeVar

from sidecall.kernel.concurrency.coroutines import await_rest
from sidecall.kernel.core.origin import CALL


class CurrentTask:
    """Find the current task of an event loop at the cost of a function call.

    In Python 3.11 asking for the running loop is a system call. A loop that was seen in this thread before and has a
    running task must be the one, since only one loop runs in a thread at a time.
    """

    def __init__(self) -> None:
        """Begin without a known loop."""
        self._met: tuple[int, asyncio.AbstractEventLoop] | None = None

    def find(self) -> asyncio.Task[Any]:
        """Return the current task."""
        met = self._met
        task = None if met is None or met[0] != get_ident() else asyncio.current_task(met[1])
        if task is None:
            task = asyncio.current_task()
            assert task is not None
            self._met = get_ident(), task.get_loop()
        return task


class Waking(asyncio.Future[None]):
    """A future that a task awaits; cancelling the task cancels it first, in the canceller's context."""

    def __init__(self, loop: asyncio.AbstractEventLoop, on_cancel: Callable[[], object]) -> None:
        """Call `on_cancel` whenever the waiting task is cancelled."""
        super().__init__(loop=loop)
        self._on_cancel = on_cancel

    def cancel(self, msg: Any | None = None) -> bool:
        """Report the cancellation, and cancel like any future."""
        self._on_cancel()
        return super().cancel(msg)

    def wake(self, _: object) -> None:
        """End the wait, unless it has ended."""
        if not self.done():
            self.set_result(None)


class StandIn:
    """Stands in for an awaited future, so that cancellation is detected without a second future."""

    __slots__ = ("_asyncio_future_blocking", "_context", "_stands_for", "_wake")

    _stands_for: asyncio.Future[Any]

    def stand_for(self, future: asyncio.Future[Any]) -> None:
        """Stand in for this future when it is yielded to the task."""
        self._stands_for = future
        self._asyncio_future_blocking = True  # As an awaited future is told.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the future's loop."""
        return self._stands_for.get_loop()

    def add_done_callback(self, wake: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Let the future wake the task."""
        self._wake, self._context = wake, context
        self._stands_for.add_done_callback(wake, context=context)

    def cancel(self, msg: Any | None = None) -> bool:
        """Cancel the future for its task."""
        return self._stands_for.cancel(msg)

    def leave(self, msg: Any | None = None) -> bool:
        """Wake the task as if it were cancelled, but leave the future; return whether that was pending."""
        if not self._stands_for.remove_done_callback(self._wake):
            return False
        cancelled = self.get_loop().create_future()
        cancelled.cancel(msg)
        cancelled.add_done_callback(self._wake, context=self._context)
        return True


def works_for(call: object) -> bool:
    """Return whether the running code was started by this call's tool: its tasks, timers and callbacks."""
    return call is not None and CALL.get() is call


T = TypeVar("T")

# Seconds that interrupted code has for its clean-up before the call is answered without it, and after that, before it
# is interrupted once more.
GRACE = 0.1

LATE_GRACE = 5.0
# Of what awaits coroutines: to make a new one costs little, and many calls may have waited at once.
_MOST_IDLE = 64


class DeadlinePassed(Exception):
    """The coroutine was not done in time."""


class Interruptible(Protocol):
    """The call, or other work, for which the coroutine runs."""

    def give_up(self) -> None:
        """Handle the timeout before the coroutine sees it."""


# What awaits a coroutine, and would end it with itself.
Waiter = Generator[Any, Any, None]
# Goes on with the rest of a coroutine, which was run for this.
Abandon = Callable[[Any, Coroutine[Any, Any, Any]], None]


class Bounded(StandIn, Generic[T]):
    """Await the rest of a coroutine in the current task, for at most `seconds` (None: no limit).

    Most tools never wait, so a coroutine is bounded only once it waits for something. At the deadline it is cancelled;
    if it is not done `GRACE` seconds later, because it swallows cancellation or cleans up slowly, it is handed to
    `abandon` and no longer awaited. Timers that the abandoned code has set still belong to the current task, which
    should therefore end soon: every call has a task of its own.

    The code may also cancel the current task, directly or from its own tasks and timers. That is its own failure and
    not a request to stop: such cancellations, counted from `own`, are undone at the end.

    Raises:
        CancelledError: From `await`: the coroutine or its task is cancelled.
        DeadlinePassed: From `await`.
    """

    __slots__ = (
        "_abandon",
        "_awaited",
        "_before",
        "_call",
        "_coroutine",
        "_idle",
        "_is_striking",
        "_loop",
        "_own",
        "_seconds",
        "_strikes",
        "_task",
        "_timer",
        "_waiter",
    )

    def __init__(
        self,
        task: asyncio.Task[Any],
        coroutine: Any,
        awaited: Any,
        seconds: float | None,
        abandon: Abandon,
        call: Interruptible | None = None,
    ) -> None:
        """Bound a coroutine that has begun in this task and now waits for `awaited`."""
        self._task = task
        self._coroutine = coroutine
        self._awaited = awaited
        self._seconds = seconds
        self._abandon = abandon
        self._call = call
        self._own = self._strikes = self._before = 0
        self._is_striking = False

    def go_on_with(self, waiter: Waiter, idle: list[Waiter], own: int) -> None:
        """Continue with an awaiter of the coroutine; `own` are cancellations of its first step."""
        self._waiter, self._idle, self._own = waiter, idle, own

    def __await__(self) -> Generator[Any, Any, T]:
        # Asked of the task, since asyncio's own way costs a system call in Python 3.11.
        self._loop = self._task.get_loop()
        self._timer: asyncio.TimerHandle | None = None
        if self._seconds is not None:
            # Of no context: a timer that is cancelled keeps its own until its time comes, with all that hangs on it.
            self._timer = self._loop.call_later(self._seconds, self._strike, context=Context())
        try:
            result = yield from self._go_on(self._awaited)
            yield from self._take_back()
            return result
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                yield from self._settle()
            if not self._strikes:
                raise
            if self._is_cancelled_by_others():
                raise asyncio.CancelledError from error
            raise DeadlinePassed from error
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _take_back(self) -> Generator[Any, Any, None]:
        own, self._own = self._own, 0
        if own > 0:
            yield from take_back(self._task, own)

    def _settle(self) -> Generator[Any, Any, None]:
        """Undo the code's own cancellations once it has failed, those included that are still to come.

        Scopes of anyio cancel in each turn of the event loop for as long as their task goes on.
        """
        if self._own > 0:
            woken = Waking(self._loop, self._note_cancellation)
            self._loop.call_soon(woken.wake, None)
            with suppress(asyncio.CancelledError):
                yield from woken
            for _ in range(self._own):
                self._task.uncancel()
            self._own = 0

    def _go_on(self, awaited: Any) -> Generator[Any, Any, T]:
        while True:
            try:
                is_plain = type(awaited) is asyncio.Future and awaited.get_loop() is self._loop
                cancelled = yield from self._wait_plainly(awaited) if is_plain else self._wait_for(awaited)
            except GeneratorExit:
                self._coroutine.close()
                raise
            if self._strikes > 1:
                self._abandon(self._call, outlive(self._coroutine, awaited, self._waiter))
                raise DeadlinePassed
            before = self._task.cancelling()
            try:
                awaited = self._waiter.send(None) if cancelled is None else self._waiter.throw(cancelled)
                if self._coroutine.cr_await is None:
                    if len(self._idle) < _MOST_IDLE:
                        self._idle.append(self._waiter)
                    if self._strikes:
                        raise DeadlinePassed
                    result: T = awaited
                    return result
            finally:
                self._own = max(0, self._own + self._task.cancelling() - before)
                cancelled = None  # Its traceback holds this frame, and would so hold itself.

    def _wait_plainly(self, awaited: asyncio.Future[Any]) -> Generator[Any, Any, BaseException | None]:
        """Wait like a task for a future that always accepts cancellation and may wake the task itself.

        Returns what to throw into the coroutine, or None.
        """
        awaited._asyncio_future_blocking = False
        self.stand_for(awaited)
        try:
            yield self
        except GeneratorExit:
            raise
        except BaseException as error:
            return error
        return None

    def _wait_for(self, awaited: Any) -> Generator[Any, Any, BaseException | None]:
        """Wait like a task, but through our own future, since the awaited object may refuse cancellation.

        Returns the cancellation to throw into the coroutine, or None.
        """
        if not asyncio.isfuture(awaited) or awaited.get_loop() is not self._loop:
            try:
                yield awaited  # None, as asyncio.sleep(0) waits, or what the task itself has to refuse.
            except (Exception, asyncio.CancelledError) as error:
                return error
            return None
        awaited._asyncio_future_blocking = False
        while not awaited.done():
            woken = Waking(self._loop, self._note_cancellation)
            wake = woken.wake
            awaited.add_done_callback(wake)
            try:
                yield from woken
            except asyncio.CancelledError as error:
                # With its message, by which anyio knows its own cancellations.
                if self._strikes > 1 or not awaited.cancel(*error.args):
                    return error
                if awaited.done():
                    # What else hangs on it, such as the event loop's watch on a socket, is told before the coroutine.
                    with suppress(asyncio.CancelledError):
                        yield None
            finally:
                awaited.remove_done_callback(wake)
        return None

    def cancel(self, msg: Any | None = None) -> bool:
        """Handle a cancellation of the task; the awaited operation is left to continue."""
        self._note_cancellation()
        return self.leave(msg) if self._strikes > 1 else super().cancel(msg)

    def _note_cancellation(self) -> None:
        if not self._is_striking and works_for(self._call):
            self._own += 1

    def _strike(self) -> None:
        if not self._strikes:
            if self._call is not None:
                self._call.give_up()
            self._before = self._task.cancelling()
            self._timer = self._loop.call_later(GRACE, self._strike, context=Context())
        self._strikes += 1
        self._is_striking = True
        self._task.cancel()
        self._is_striking = False

    def _is_cancelled_by_others(self) -> bool:
        """Undo our own cancellations, and return whether there was another since the deadline.

        Earlier ones cannot be told from those that task groups inside the coroutine leave behind in Python 3.11.
        """
        for _ in range(self._strikes):
            self._task.uncancel()
        return self._task.cancelling() > self._before


@types.coroutine
def take_back(task: asyncio.Task[Any], count: int) -> Generator[Any, Any, None]:
    """Undo cancellations that code has requested of its own task.

    Raises:
        CancelledError: They were still to come, so that the code has not ended otherwise.
    """
    try:
        yield  # Here comes what is still to come.
    finally:
        for _ in range(count):
            task.uncancel()


async def outlive(coroutine: Coroutine[Any, Any, Any], awaited: Any, _waiter: Waiter) -> None:
    """Drive an abandoned coroutine until it ends, without letting it end the process.

    It was cancelled before and may be cleaning up. If it is not done `LATE_GRACE` seconds later, it is cancelled again.
    """
    task = CurrentTask().find()
    timer = asyncio.get_running_loop().call_later(LATE_GRACE, task.cancel)
    try:
        if asyncio.isfuture(awaited):
            awaited._asyncio_future_blocking = True  # As an awaiting task is told.
        await await_rest(coroutine, awaited)
    except (SystemExit, KeyboardInterrupt):
        pass
    finally:
        timer.cancel()
