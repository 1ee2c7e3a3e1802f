"""Fair queueing: callers take turns, and the calls of each caller keep their order."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.overload import StoreUnavailable

T = TypeVar("T")

# Tenant and subject of a caller.
CallerKey = tuple[str, str]


def key_of(caller: Caller) -> CallerKey:
    """Return the key that identifies a caller."""
    return caller.tenant, caller.subject


class Turns(Generic[T]):
    """Queue of waiting callers.

    A caller with many calls delays its own, and any other caller by one call at a time. `callers` are those with at
    least one waiting call.
    """

    __slots__ = ("_count", "callers")

    def __init__(self) -> None:
        # Ordered by turn: the caller served last is at the end.
        self.callers: OrderedDict[CallerKey, OrderedDict[T, None]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return (place for calls in self.callers.values() for place in calls)

    def join(self, caller: CallerKey, place: T) -> None:
        """Queue a call behind those of its caller; a caller without waiting calls is put last."""
        calls = self.callers.get(caller)
        if calls is None:
            calls = self.callers[caller] = OrderedDict()
        calls[place] = None
        self._count += 1

    def next(self) -> T:
        """Remove and return the call whose turn it is.

        Raises:
            LookupError: No call waits.
        """
        caller = next(iter(self.callers), None)
        if caller is None:
            raise LookupError("nobody waits")
        calls = self.callers[caller]
        place, _ = calls.popitem(last=False)
        self._count -= 1
        if calls:
            self.callers.move_to_end(caller)
        else:
            del self.callers[caller]
        return place

    def next_of(self, may: Callable[[CallerKey], bool]) -> tuple[CallerKey, T] | None:
        """Remove and return the next caller that `may` have a turn, with its call; None if there is none."""
        caller = next((it for it in self.callers if may(it)), None)
        if caller is None:
            return None
        self.callers.move_to_end(caller, last=False)
        return caller, self.next()

    def postpone(self, caller: CallerKey) -> None:
        """Move a caller to the end after a turn that needed no waiting, if any of its calls waits now."""
        if caller in self.callers:
            self.callers.move_to_end(caller)

    def drop(self, caller: CallerKey, place: T) -> bool:
        """Remove a call that no longer waits; return whether it was in the queue."""
        calls = self.callers.get(caller)
        if calls is None or place not in calls:
            return False
        del calls[place]
        self._count -= 1
        if not calls:
            del self.callers[caller]
        return True

    def clear(self) -> None:
        """Remove all calls."""
        self.callers.clear()
        self._count = 0


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
