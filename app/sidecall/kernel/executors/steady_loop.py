"""Run an event loop that nothing ends but what it is run for.

SystemExit or KeyboardInterrupt that leaves a callback is raised by asyncio out of the loop itself, with whatever else
runs on it. What a tool schedules (`call_soon`, `call_later`, `add_done_callback`) runs outside of its call and its
tasks, and only here can it be kept from ending them all.
"""

import asyncio
import logging
from typing import Any, TypeVar

logger = logging.getLogger("sidecall")

T = TypeVar("T")


def run_steadily(loop: asyncio.AbstractEventLoop, task: "asyncio.Task[T]") -> T:
    """Run a loop until a task is done, and return what that returned or raise what it raised."""
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


def _end(task: "asyncio.Task[Any]") -> None:
    # With an exit of its own the loop has ended already, and a stop would end whatever runs on it next.
    if task.cancelled() or not isinstance(task.exception(), (SystemExit, KeyboardInterrupt)):
        task.get_loop().stop()
