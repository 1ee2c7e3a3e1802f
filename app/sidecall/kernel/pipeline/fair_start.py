"""Start the calls of batches a few at a time, so that many batches do not delay other requests."""

import asyncio
from collections.abc import Iterable

from sidecall.kernel.concurrency.turns import CallerKey, Turns

# Calls of a batch that begin at once, and how many such portions begin in one turn of the event loop. A turn costs as
# much as some calls, and its calls hold up all else for some milliseconds.
PORTION = 16
PORTIONS = 8


class BatchThrottle:
    """Starts a limited number of calls per turn of the event loop; callers take turns.

    Everything that has been started runs before the loop looks at anything else. Batches of one caller start one after
    the other, since many half-done ones take more memory and time than a few.
    """

    def __init__(self) -> None:
        self._waiting: Turns[asyncio.Future[None]] = Turns()
        self._left = PORTIONS
        # Where a turn has begun that has let any in; the loop of before may be gone.
        self._loop: asyncio.AbstractEventLoop | None = None

    def join(self, caller: CallerKey, calls: int) -> list[asyncio.Future[None]]:
        """Queue this many calls; each future is done when its calls may start, which may be now."""
        loop = asyncio.get_running_loop()
        places: list[asyncio.Future[None]] = [loop.create_future() for _ in range(0, calls, PORTION)]
        for place in places:
            self._waiting.join(caller, place)
        if self._loop is not loop:
            self._go_on(loop)
        else:
            self._let_in()
        return places

    def leave(self, caller: CallerKey, places: Iterable[asyncio.Future[None]]) -> None:
        """Remove calls that have not started."""
        for place in places:
            if not place.done():
                self._waiting.drop(caller, place)

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        self._left = PORTIONS
        self._let_in()
        if self._left == PORTIONS:
            self._loop = None
        else:
            self._loop = loop
            loop.call_soon(self._go_on, loop)

    def _let_in(self) -> None:
        while self._left and self._waiting.callers:
            place = self._waiting.next()
            if not place.done():
                place.set_result(None)
                self._left -= 1
