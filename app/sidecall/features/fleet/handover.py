"""Work for the event loop of another thread."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class Handover:
    """Has work done on an event loop, in its order, from any thread.

    To wake a loop costs more than most of the work, so it is woken once for all that waits.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take the loop."""
        self._loop = loop
        self._waiting: deque[tuple[Callable[..., object], tuple[Any, ...]]] = deque()
        self._is_woken = False

    def call(self, work: Callable[..., object], *arguments: Any) -> None:
        """Have this done soon; nothing is done once the loop has ended."""
        self._waiting.append((work, arguments))
        if not self._is_woken:
            self._wake()

    def _wake(self) -> None:
        self._is_woken = True
        with suppress(RuntimeError):  # The loop has ended.
            self._loop.call_soon_threadsafe(self._work)

    def _work(self) -> None:
        # Before the first is taken: what comes from now on wakes the loop again.
        self._is_woken = False
        try:
            for _ in range(len(self._waiting)):
                work, arguments = self._waiting.popleft()
                work(*arguments)
        finally:  # After an error, which the loop logs, the others are done.
            if self._waiting and not self._is_woken:
                self._wake()
