"""A semaphore with a fair queue of callers."""

import asyncio

from sidecall.kernel.concurrency.turns import CallerKey, Turns


class Semaphore:
    """Count what runs against a limit; the callers of the others take turns."""

    __slots__ = ("most", "running", "waiting")

    def __init__(self, most: int) -> None:
        self.most = most
        self.waiting: Turns[asyncio.Future[None]] = Turns()
        self.running = 0

    @property
    def is_free(self) -> bool:
        """Whether a place is free and no caller waits for it."""
        return self.running < self.most and not self.waiting.callers

    async def enter(self, caller: CallerKey) -> None:
        """Take a place, waiting for one if necessary."""
        if self.is_free:
            self.running += 1
        else:
            await self._wait(caller)

    def leave(self) -> None:
        """Return a place and hand it to the next caller in turn."""
        self.running -= 1
        while self.waiting.callers and self.running < self.most:
            place = self.waiting.next()
            if not place.done():
                self.running += 1
                place.set_result(None)

    async def _wait(self, caller: CallerKey) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.join(caller, place)
        try:
            await place
        except BaseException:
            if place.done() and not place.cancelled():
                self.leave()  # The place was granted in the moment of the cancellation.
            else:  # A waiter that left may have been passed over already.
                self.waiting.drop(caller, place)
            raise
