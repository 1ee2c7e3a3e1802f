"""Wait for what happens elsewhere in this process."""

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: It does not, for so long.
    """
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
