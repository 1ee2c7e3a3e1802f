"""Wait with what is to be written, as long as more comes at once: what many share costs each of them less."""

import asyncio
from collections.abc import Callable


class Gathering:
    """Wait for a turn of the event loop in which nothing has come to those that wait, or until there are enough.

    A loop that has nothing else to do takes such a turn at once, so whoever is alone hardly waits.
    """

    def __init__(self, count: Callable[[], int], end: Callable[[], None], enough: int) -> None:
        """Begin for those that are counted, and call `end` when they should wait no longer, or `enough` do."""
        self._count = count
        self._end = end
        self._enough = enough
        self._seen = 0
        self._is_open = False

    def begin(self) -> None:
        """Wait, if nobody does; somebody has come."""
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
