"""Wait for what happens elsewhere in this process."""

import asyncio
from collections.abc import Callable

# Seconds for what takes a moment, on a machine that may be busy with much else.
PATIENCE = 180.0


async def until(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not, for so long.
    """
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
