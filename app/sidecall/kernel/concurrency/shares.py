"""A semaphore that limits the share of each caller, with a bounded wait."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecall.kernel.concurrency.turns import CallerKey, Turns
from sidecall.kernel.core.overload import StoreUnavailable


class Shares:
    """Places for slow database work; callers take turns, and one caller holds at most half of the places.

    So the work of other callers finds a free place soon, however much one caller asks for.
    """

    def __init__(self, most: int, most_waiting: int = 100, patience: float = 10.0) -> None:
        """Bound them.

        Args:
            most: Places.
            most_waiting: How many of one caller may wait.
            patience: Seconds that one takes, with the wait.
        """
        self._most = most
        self._most_each = max(1, most // 2)
        self._most_waiting = most_waiting
        self._patience = patience
        self._waiting: Turns[asyncio.Future[None]] = Turns()
        self._running: Counter[CallerKey] = Counter()

    @asynccontextmanager
    async def take(self, caller: CallerKey) -> AsyncIterator[None]:
        """Hold a place within the body, once it is the caller's turn.

        Raises:
            StoreUnavailable: Too many of this caller wait already, or it takes too long.
        """
        try:
            async with asyncio.timeout(self._patience):
                await self._enter(caller)
                try:
                    yield
                finally:
                    self._leave(caller)
        except TimeoutError:
            raise StoreUnavailable("What was asked of the database takes too long.") from None

    async def _enter(self, caller: CallerKey) -> None:
        if len(self._waiting.callers.get(caller, ())) >= self._most_waiting:
            raise StoreUnavailable("Too much of what you have asked of the database waits already.")
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.join(caller, place)
        self._admit()
        try:
            await place
        except BaseException:
            if not self._waiting.drop(caller, place):
                self._leave(caller)  # The place was granted in the moment of the cancellation.
            raise

    def _leave(self, caller: CallerKey) -> None:
        self._running[caller] -= 1
        if not self._running[caller]:
            del self._running[caller]
        self._admit()

    def _admit(self) -> None:
        while self._running.total() < self._most:
            taken = self._waiting.next_of(lambda it: self._running[it] < self._most_each)
            if taken is None:
                return
            caller, place = taken
            self._running[caller] += 1
            if place.done():  # Its caller has just left, and gives the place back.
                continue
            place.set_result(None)
