"""Take over started coroutines, and end them; await work that goes on when its waiter is cancelled."""

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator, Iterable
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")

# Seconds that a cancelled task has to end, where something waits for it.
TO_CANCEL = 1.0


@types.coroutine
def await_rest(coroutine: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Await the rest of a coroutine whose last step began to wait for `awaited`."""
    # No error outlives its `except` in a variable here: its traceback would hold the variable, and so itself.
    try:
        while True:
            try:
                sent = yield awaited
            except GeneratorExit:
                coroutine.close()
                raise
            except BaseException as error:
                awaited = coroutine.throw(error)
            else:
                awaited = coroutine.send(sent)
    except StopIteration as done:
        result: T = done.value
        return result


async def await_all(awaitables: Iterable[Awaitable[Any]]) -> None:
    """Await all of these to the end, then raise the first error, if any."""
    for outcome in await asyncio.gather(*awaitables, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def cancel_from_outside(task: asyncio.Future[Any]) -> None:
    """Cancel a task for a reason outside of the code it runs.

    Code inside may cancel tasks too; the two are told apart by their context variables, so this runs with none.
    """
    Context().run(task.cancel)


class WouldWait(RuntimeError):
    """A coroutine would have to wait in a place that cannot wait."""


async def await_on(loop: asyncio.AbstractEventLoop | None, coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine on the event loop that it belongs to; None means any loop."""
    if loop is None or loop is asyncio.get_running_loop():
        return await coroutine
    # An async tool that blocks has a loop of its own, in a thread.
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


def finish_on(loop: asyncio.AbstractEventLoop | None, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the event loop that it belongs to, from any thread.

    Called on that loop itself, it works only if the coroutine never has to wait.

    Raises:
        WouldWait: Something has.
    """
    if loop is not None and loop is not _find_running_loop():
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise WouldWait


def _find_running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class BegunWork:
    """Run work in background tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin it, on the running loop."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, patience: float) -> None:
        """Wait up to `patience` seconds for running tasks, then cancel them; what ignores that is left."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        for task in self._tasks:
            cancel_from_outside(task)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=TO_CANCEL)


def outlast(work: "asyncio.Future[T] | Coroutine[Any, Any, T]") -> "asyncio.Future[T]":
    """Return an awaitable for the work; cancelling it does not stop the work.

    An error is raised in the waiter that is still there, if any.
    """
    future = asyncio.ensure_future(work)
    future.add_done_callback(read_error)
    return asyncio.shield(future)


def settle(future: asyncio.Future[Any], value: Any = None) -> None:
    """Set a future's result, unless it has one or is no longer awaited."""
    if not future.done():
        future.set_result(value)


def read_error(work: asyncio.Future[Any]) -> None:
    """Mark the error as retrieved, so that asyncio does not log it."""
    if not work.cancelled():
        work.exception()
