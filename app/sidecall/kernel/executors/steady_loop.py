"""Run an event loop that stops only when its main task is done.

asyncio raises SystemExit and KeyboardInterrupt of a callback out of the loop, and ends everything on it. Callbacks that
a tool schedules (`call_soon`, `call_later`, `add_done_callback`) run outside of its call and its tasks, so they can
only be contained here.
"""

import asyncio
import logging
from typing import Any, TypeVar

logger = logging.getLogger("sidecall")

T = TypeVar("T")


def run_steadily(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[T]") -> T:
    """Run a loop until a task is done; return its result or raise its error."""
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
