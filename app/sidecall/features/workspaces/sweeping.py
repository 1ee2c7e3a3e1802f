"""Remove expired workspaces while a server runs."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.concurrency.pools import CLEARING

_EVERY = 60.0

logger = logging.getLogger("sidecall")


@asynccontextmanager
async def sweeping(places: Workspaces) -> AsyncIterator[None]:
    """Remove expired workspaces now, and every minute while the body runs."""
    task = asyncio.create_task(_sweep_on(places))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _sweep_on(places: Workspaces) -> None:
    while True:
        try:
            if places.root.is_dir():  # Most servers have none, and need no thread for it.
                logger.debug("%s workspaces removed", await CLEARING.run(places.sweep))
        except OSError as error:  # The folder above it may belong to another user, for now.
            logger.warning("workspaces cannot be removed: %s", error)
        await asyncio.sleep(_EVERY)
