"""Batch writes while more keep coming, since sharing a commit makes each cheaper."""

import asyncio
from collections.abc import Callable


class Gathering:
    """Waits for a turn of the event loop in which nothing was added, or until there are enough.

    An idle loop takes such a turn at once, so a single writer hardly waits.
    """

    def __init__(self, count: Callable[[], int], end: Callable[[], None], enough: int) -> None:
        """Count with `count`; call `end` when the batch is complete or `enough` are waiting."""
        self._count = count
        self._end = end
        self._enough = enough
        self._seen = 0
        self._is_open = False

    def begin(self) -> None:
        """Start the batch timer if it is not running."""
        if not self._is_open:
            self._is_open = True
            self._seen = 0
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        count = self._count()
        if self._seen < count < self._enough:
            self._seen = count
            asyncio.get_running_loop().call_soon(self._look)
        else:
            self._is_open = False
            self._end()
