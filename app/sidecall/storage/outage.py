"""Startup steps that are postponed while the store is unavailable, and the log and the length of an outage."""

import asyncio
import logging
import math
import random
from collections.abc import Awaitable, Callable

from sidecall.kernel.core.overload import StoreUnavailable

# Different things that are said of one time of trouble.
_MOST = 20


class OutageLog:
    """Logs each change once, however often it is reported.

    The text says that `what`, which is at `name`, cannot be `used`, and what is lost by that.
    """

    def __init__(self, what: str, used: str, loss: str, name: str) -> None:
        self._what = what
        self._used = used
        self._loss = loss
        self._name = name
        self._told: set[str] = set()

    def tell(self, trouble: str) -> None:
        """Log the reason, unless it was logged last."""
        if trouble in self._told or len(self._told) == _MOST:
            return
        if self._told:
            logger.error("%s still cannot be %s: %s", self._what, self._used, trouble)
        else:
            logger.error("%s cannot be %s, so %s: %s", self._what, self._used, self._loss, trouble)
        self._told.add(trouble)

    def run_on_end(self) -> None:
        """Log the end of the outage."""
        self._told.clear()
        logger.warning("%s can be %s again: %s", self._what, self._used, self._name)


class GrowingPauses:
    """The seconds until the first try in an outage: twice as many where it is the one before that comes back.

    It is where nothing was written since that ended, or where it has not been over for as long as was waited for it.
    """

    def __init__(self, shortest: float, longest: float, clock: Callable[[], float]) -> None:
        self._shortest = shortest
        self._longest = longest
        self._clock = clock
        self._pause = 0.0
        self._ended_at = -math.inf
        self.is_used = True  # Whether something was written since the last outage.

    def begin(self) -> float:
        """Return the seconds in an outage that begins now, fewer by chance, so that servers do not try together."""
        is_back = not self.is_used or self._clock() < self._ended_at + self._pause
        self._pause = min(2 * self._pause, self._longest) if is_back else self._shortest
        return self._pause * random.uniform(0.5, 1.0)  # noqa: S311

    def end(self) -> None:
        """Note that the outage has ended."""
        self._ended_at, self.is_used = self._clock(), False


logger = logging.getLogger("sidecall")

# Seconds between two tries.
_PAUSE = 1.0


class LateSteps:
    """Runs steps at once, or when the store is available: a slow or full disk must not prevent the start."""

    def __init__(self, pause: float = _PAUSE) -> None:
        """Retry after so many seconds."""
        self._pause = pause
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def are_left(self) -> bool:
        """Whether a step is still postponed."""
        return any(not task.done() for task in self._tasks)

    async def take(self, step: Callable[[], Awaitable[object]]) -> None:
        """Run a resumable step; return without it while the store is unavailable."""
        try:
            await step()
        except StoreUnavailable:
            self._tasks.append(asyncio.create_task(self._take_late(step)))

    async def close(self) -> None:
        """Cancel the postponed steps."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    async def _take_late(self, step: Callable[[], Awaitable[object]]) -> None:
        while True:
            await asyncio.sleep(self._pause)
            try:
                await step()
                return
            except StoreUnavailable:
                continue
            except Exception:
                logger.exception("what is left of the start could not be done; it is tried again in %g s", self._pause)
