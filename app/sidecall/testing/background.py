"""Run what is async for tests that are not, on an event loop in a thread of its own."""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

from sidecall.kernel.executors.steady_loop import run_steadily

T = TypeVar("T")

# Seconds for a loop to end; one that a tool blocks is left behind.
_PATIENCE = 5.0


class BackgroundLoop:
    """An event loop in a thread, as a server has one for all its calls; a tool that stops it does not end it."""

    def __init__(self, name: str = "sidecall-testing") -> None:
        self.loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, in a copy of this thread's context, and return its result.

        Raises:
            RuntimeError: It would wait for itself: the caller runs on this loop.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("A sync call here would wait for itself; await the async form, such as `acall`.")
        running = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs there, and end the thread."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._end.set)
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        run_steadily(self.loop, self.loop.create_task(_wait_and_cancel(self._end)))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


async def _wait_and_cancel(end: asyncio.Event) -> None:
    await end.wait()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    # What ignores its cancellation is left behind.
    await asyncio.wait(left, timeout=1.0) if left else None


def shared_loop() -> BackgroundLoop:
    """Return the loop of all sync calls in this process, so that clients which tools keep open stay usable."""
    return _find_loop(os.getpid())


@cache
def _find_loop(_process: int) -> BackgroundLoop:
    # A forked process has none of its parent's threads.
    background = BackgroundLoop()
    atexit.register(background.close)
    return background
