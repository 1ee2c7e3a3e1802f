"""Delete ended calls in small steps, so that there is room for others."""

import asyncio
import logging
import time

from sidecall.features.calls.stores import EndedCalls
from sidecall.kernel.core.overload import StoreUnavailable

logger = logging.getLogger("sidecall")

# Seconds between two checks, and between two steps of one.
_LOOK = 2.0
_REST = 0.05
# Seconds before the next attempt when nothing could be deleted, and between two log lines about it.
_IN_VAIN = 1.0
_QUIET = 60.0


class Retention:
    """Deletes ended calls of a ledger."""

    def __init__(self, calls: EndedCalls) -> None:
        self._calls = calls
        self._turn = asyncio.Lock()
        self._again_at = self._told_at = 0.0
        self._loop: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Count the calls, and from then on delete those that are too old or too many."""
        await self._forget()
        self._loop = asyncio.get_running_loop().create_task(self._go_round())

    async def close(self) -> None:
        """Forget nothing more."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
            self._loop = None

    async def has_room(self) -> bool:
        """Return whether there is room for another call, after deleting some if necessary."""
        if not self._calls.is_full:
            return True
        async with self._turn:
            if self._calls.is_full and time.monotonic() >= self._again_at:
                await self._calls.forget(1)
                if self._calls.is_full:
                    self._refuse()
        return not self._calls.is_full

    def _refuse(self) -> None:
        now = time.monotonic()
        self._again_at = now + _IN_VAIN
        if now >= self._told_at:
            self._told_at = now + _QUIET
            logger.warning("calls that have to be remembered are refused: none of those that are kept may be forgotten")

    async def _go_round(self) -> None:
        more = False
        while True:
            await asyncio.sleep(_REST if more else _LOOK)
            more = await self._forget()

    async def _forget(self) -> bool:
        try:
            async with self._turn:
                return await self._calls.forget()
        except StoreUnavailable:
            return False
        except Exception:
            logger.exception("the remembered calls could not be looked through for what is too old")
            return False
