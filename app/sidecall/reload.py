"""Load tools again when their files change, and keep the last good set when they are broken."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from watchfiles import PythonFilter, awatch

from sidecall.core.errors import DefinitionError
from sidecall.discovery import discover, watched_folders
from sidecall.loading import load_afresh
from sidecall.registry import Registry

logger = logging.getLogger("sidecall")


@asynccontextmanager
async def follow_files(
    registry: Registry, places: Sequence[str], use_entry_points: bool, *, enabled: bool
) -> AsyncIterator[None]:
    """Keep the registry in step with the tools' files while the body runs."""
    if not enabled:
        yield
        return
    task = asyncio.create_task(_watch(registry, places, use_entry_points))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _watch(registry: Registry, places: Sequence[str], use_entry_points: bool) -> None:
    folders = watched_folders(places)
    logger.info("watching %s", ", ".join(str(folder) for folder in folders))
    async for _ in awatch(*folders, watch_filter=PythonFilter(), debounce=200, step=50):
        reload_tools(registry, places, folders, use_entry_points)


def reload_tools(registry: Registry, places: Sequence[str], folders: list[Path], use_entry_points: bool) -> bool:
    """Discover the tools afresh and offer them, or log why not and change nothing; True when they are new."""
    try:
        with load_afresh(folders):
            registry.replace(discover(places, use_entry_points=use_entry_points))
    except DefinitionError as error:
        logger.error("the tools were not reloaded, the last good ones still serve: %s", error)
        return False
    logger.info("reloaded: %s", ", ".join(registry.names) or "no tools")
    return True
