"""Run an event loop that tools cannot end, and end it though they ignore their cancellation."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sidecall.kernel.concurrency.coroutines import TO_CANCEL

T = TypeVar("T")

logger = logging.getLogger("sidecall")


def run_steadily(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[T]") -> T:
    """Run a loop until a task is done, and no callback of a tool ends it; return its result or raise its error.

    asyncio raises SystemExit and KeyboardInterrupt of a callback out of the loop, and ends everything on it. Callbacks
    that a tool schedules (`call_soon`, `call_later`, `add_done_callback`) run outside of its call and its tasks, so
    they can only be contained here.
    """
    task.add_done_callback(_end)
    while not task.done():
        error: BaseException | None = None
        try:
            loop.run_forever()
        except (SystemExit, KeyboardInterrupt) as raised:
            error = raised
        if not task.done():
            culprit = "a tool stopped it" if error is None else f"a callback raised {type(error).__name__}"
            logger.error("the event loop goes on, though %s", culprit, exc_info=error)
    return task.result()


def _end(task: asyncio.Task[Any]) -> None:
    # With an exit of its own the loop has ended already; a stop would end the next run on it.
    if task.cancelled() or not isinstance(task.exception(), (SystemExit, KeyboardInterrupt)):
        task.get_loop().stop()


def run_main(work: Coroutine[Any, Any, T], loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None) -> T:
    """Run a command's coroutine like `asyncio.run`, which would wait for ever for a task that ignores its end."""
    with closing_runner(loop_factory) as runner:
        return runner.run(work)


@contextmanager
def closing_runner(loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None) -> Iterator[asyncio.Runner]:
    """Open a runner, and close it without waiting for ever."""
    runner = asyncio.Runner(loop_factory=loop_factory)
    try:
        yield runner
    finally:
        close_runner(runner)


def close_runner(runner: asyncio.Runner) -> None:
    """Cancel all tasks of a loop, wait a second for them, and close it."""
    loop = runner.get_loop()
    left = run_steadily(loop, loop.create_task(cancel_all()))
    if not left:
        runner.close()
        return
    for task in left:
        task._log_destroy_pending = False  # type: ignore[attr-defined]  # as asyncio does where it has said more
    run_steadily(loop, loop.create_task(loop.shutdown_asyncgens()))
    asyncio.set_event_loop(None)
    loop.close()


async def cancel_all() -> set[asyncio.Task[Any]]:
    """Cancel all other tasks; return those that are not done a second later."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    return (await asyncio.wait(tasks, timeout=TO_CANCEL))[1] if tasks else set()
