"""Reload tools when their files change, and keep the last working set when they are broken."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from watchfiles import Change, PythonFilter, awatch

from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import hand_over
from sidecall.kernel.registry import Registry
from sidecall.loading.discovery import discover, resolve_place, watched_folders
from sidecall.loading.modules.loading import load_afresh

# Milliseconds after which it is seen that a folder is there again.
_LOOK = 500

T = TypeVar("T")

logger = logging.getLogger("sidecall")


@asynccontextmanager
async def follow_files(
    registry: Registry,
    places: Sequence[str],
    use_entry_points: bool,
    on_loaded: Callable[[], object] = lambda: None,
    *,
    enabled: bool,
) -> AsyncIterator[None]:
    """Reload the registry when the tools' files change, within the body; `on_loaded` is called after each reload."""
    if not enabled:
        yield
        return
    task = asyncio.create_task(_watch(registry, settle_places(places), use_entry_points, on_loaded))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def settle_places(places: Iterable[str]) -> list[str]:
    """Resolve the places once, so that none changes its meaning while its folder is missing."""
    found = [resolve_place(place) for place in places]
    return [str(Path(place).resolve()) if Path(place).exists() else place for place in found]


async def _watch(
    registry: Registry, places: Sequence[str], use_entry_points: bool, on_loaded: Callable[[], object]
) -> None:
    folders = watched_folders(places)
    # Said in the loop's next turn, in which they are watched: who reads it may change a file at once.
    names = ", ".join(str(folder) for folder in folders)
    asyncio.get_running_loop().call_soon(logger.info, "watching %s", names)
    async for _ in _follow(folders):
        found = await _call_aside(lambda: load_generation(places, folders, use_entry_points))
        if offer(registry, found):
            on_loaded()


async def _call_aside(load: Callable[[], T]) -> T:
    """Run a slow function in a new thread.

    A file that hangs then blocks neither other threads nor shutdown.
    """
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    thread = threading.Thread(target=lambda: hand_over(future, load()), name="sidecall-reload", daemon=True)
    thread.start()
    return await future


async def _follow(folders: Sequence[Path]) -> AsyncIterator[None]:
    """Yield at each change, and when a removed folder is back, since its old watcher sees nothing."""
    wanted = _PythonFiles(folders)
    watched, returned = _number(folders), False
    while True:
        gone: set[Path] = set()
        with suppress(FileNotFoundError):  # One has gone in this moment.
            async for changes in awatch(
                *watched, watch_filter=wanted, debounce=200, step=50, rust_timeout=_LOOK, yield_on_timeout=True
            ):
                # What came back may hold more than was told, now that it is watched.
                if changes or returned:
                    returned = False
                    yield
                gone = {Path(path) for _, path in changes} & watched.keys()
                if gone or _number(folders) != watched:
                    break
        before, watched = watched, _number(folders)
        returned = any(number != before.get(folder) or folder in gone for folder, number in watched.items())


def _number(folders: Iterable[Path]) -> dict[Path, int]:
    """Return the existing folders, with an identity that distinguishes a new folder of the same name."""
    found = {}
    for folder in folders:
        with suppress(OSError):
            found[folder] = folder.stat().st_ino
    return found


class _PythonFiles(PythonFilter):
    """Passes changes of Python files, new folders, and of the watched folders themselves."""

    def __init__(self, folders: Iterable[Path]) -> None:
        super().__init__()
        self._folders = frozenset(map(str, folders))

    def __call__(self, change: Change, path: str) -> bool:
        """Return whether a change is relevant."""
        is_new_folder = change is Change.added and Path(path).is_dir() and "__pycache__" not in path
        return path in self._folders or is_new_folder or super().__call__(change, path)


def reload_tools(registry: Registry, places: Sequence[str], folders: list[Path], use_entry_points: bool) -> bool:
    """Discover the tools again and offer them, or log why not and change nothing; return True if they are new."""
    return offer(registry, load_generation(places, folders, use_entry_points))


class Discarded(Exception):
    """What was loaded is not taken; the modules of before are back."""


def load_generation(
    places: Sequence[str],
    folders: list[Path],
    use_entry_points: bool,
    keep: Callable[[list[CompiledTool]], object] = Registry,
) -> list[CompiledTool] | str:
    """Discover the tools again, in any thread; or return why they cannot be offered.

    `keep` raises what speaks against them, while the old modules can still come back. The default is that they cannot
    be offered together.

    Raises:
        Discarded: `keep` has raised it.
    """
    try:
        with load_afresh(folders):
            found = discover(places, use_entry_points=use_entry_points)
            keep(found)
    except Discarded:
        raise
    except DefinitionError as error:
        return str(error)
    except BaseException as error:  # From code of the tools' authors, which may raise all that there is.
        return f"{type(error).__name__}: {error}"
    return found


def offer(registry: Registry, found: list[CompiledTool] | str) -> bool:
    """Replace the tools in one step, or log why not and change nothing; return True if they are new."""
    if isinstance(found, str):
        registry.load_errors = (found,)
        logger.error("the tools were not reloaded, the last good ones still serve: %s", found)
        return False
    registry.replace(found)
    registry.load_errors = ()
    logger.info("reloaded: %s", ", ".join(registry.names) or "no tools")
    return True
