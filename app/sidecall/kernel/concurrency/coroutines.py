"""Take coroutines over that have begun, and end them."""

import asyncio
import types
from collections.abc import Awaitable, Coroutine, Generator, Iterable
from contextvars import Context
from threading import get_ident
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def await_rest(coroutine: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Await the rest of a coroutine whose last step came to wait for `awaited`."""
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
    """Await several at once to the end of each, and then raise the first error, if there is one."""
    for outcome in await asyncio.gather(*awaitables, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


def cancel_from_outside(task: "asyncio.Future[Any]") -> None:
    """Cancel a task for a reason that lies outside of what it runs, whose own tasks and timers may do the same.

    They are told apart by their context variables, which reach everywhere, so here there are none.
    """
    Context().run(task.cancel)


class CurrentTask:
    """Find the task that runs, on one event loop in the time of a function call.

    To learn which loop is running is a system call in Python 3.11. A loop that was met before in this thread and has a
    task under way is the one, since no two run in one thread at a time.
    """

    def __init__(self) -> None:
        """Begin without a loop that was met."""
        self._met: tuple[int, asyncio.AbstractEventLoop] | None = None

    def find(self) -> asyncio.Task[Any]:
        """Return the task in which this is called."""
        met = self._met
        task = None if met is None or met[0] != get_ident() else asyncio.current_task(met[1])
        if task is None:
            task = asyncio.current_task()
            assert task is not None
            self._met = get_ident(), task.get_loop()
        return task


class WouldWait(RuntimeError):
    """A coroutine would have to wait where nobody can."""


async def await_on(loop: asyncio.AbstractEventLoop | None, coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine on the event loop that it belongs to; None stands for any."""
    if loop is None or loop is asyncio.get_running_loop():
        return await coroutine
    # An async tool that blocks has a loop of its own, in a thread.
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))


def finish_on(loop: asyncio.AbstractEventLoop | None, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on the event loop that it belongs to, from any thread.

    On that loop itself it serves as long as nothing has to be waited for.

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
    """Do work in tasks of its own."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin it, on the running loop."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self, patience: float) -> None:
        """Wait so many seconds for what runs, then break it off."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        for task in self._tasks:
            cancel_from_outside(task)
        await asyncio.gather(*self._tasks, return_exceptions=True)
