"""Startup steps that are postponed because the store is unavailable."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from sidecall.kernel.core.overload import StoreUnavailable

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
