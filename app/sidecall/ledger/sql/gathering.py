"""Wait with what is to be written, as long as more comes at once: what many share costs each of them less."""

import asyncio
from collections.abc import Callable

# So many are waited for, or as many as are being written just now. Where all were, this process and whoever writes for
# it would take turns, and each would wait for the other.
_ENOUGH = 5


class Gathering:
    """Wait for a turn of the event loop in which nothing has come to those that wait, or until there are enough.

    A loop that has nothing else to do takes such a turn at once, so whoever is alone hardly waits.
    """

    def __init__(self, count: Callable[[], int], end: Callable[[], None], enough: int = _ENOUGH) -> None:
        """Begin for those that are counted, and call `end` when they should wait no longer."""
        self._count = count
        self._end = end
        self._enough = enough
        self._seen = 0
        self._looking: asyncio.Handle | None = None

    def begin(self, under_way: int = 0) -> None:
        """Let somebody wait who has come, with those that wait already; so many are being written."""
        if self._count() >= max(self._enough, under_way):
            if self._looking is not None:
                self._looking.cancel()
                self._looking = None
            self._end()
        elif self._looking is None:
            self._seen = 0
            self._looking = asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        count = self._count()
        if self._seen < count:
            self._seen = count
            self._looking = asyncio.get_running_loop().call_soon(self._look)
        else:
            self._looking = None
            self._end()
