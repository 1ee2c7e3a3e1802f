"""Load tools beside those that serve, and hold them until it is decided whether they are taken."""

import asyncio
import threading
from collections.abc import Callable, Sequence

from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import hand_over
from sidecall.loading.discovery import watched_folders
from sidecall.loading.reload import Discarded, load_generation

_Tools = list[CompiledTool]


class Generation:
    """The tools of one reload: loaded in a thread of their own, which keeps the modules until a decision.

    A file that hangs blocks neither other threads nor the shutdown.
    """

    def __init__(self, places: Sequence[str], use_entry_points: bool) -> None:
        """Name the places of tools, whose folders are loaded again."""
        self._places, self._use_entry_points = places, use_entry_points
        self._decided = threading.Event()
        self._is_taken = False
        self.tools: _Tools = []

    async def load(self, check: Callable[[_Tools], object]) -> str | None:
        """Load the tools, and return why they cannot be offered; None where they can.

        Args:
            check: Raises what speaks against them.
        """
        loaded: asyncio.Future[_Tools | str] = asyncio.get_running_loop().create_future()

        def keep(found: _Tools) -> None:
            check(found)
            hand_over(loaded, found)
            self._decided.wait()
            if not self._is_taken:
                raise Discarded

        threading.Thread(target=self._run, args=(keep, loaded), name="sidecall-reload", daemon=True).start()
        found = await loaded
        if isinstance(found, str):
            return found
        self.tools = found
        return None

    def _run(self, keep: Callable[[_Tools], object], loaded: "asyncio.Future[_Tools | str]") -> None:
        try:
            folders = watched_folders(self._places)
            found = load_generation(self._places, folders, self._use_entry_points, keep)
        except Discarded:
            return
        except DefinitionError as error:  # Of a module that has come into a package.
            found = error.message
        if isinstance(found, str):
            hand_over(loaded, found)

    def take(self) -> None:
        """Let the modules stay."""
        self._is_taken = True
        self._decided.set()

    def discard(self) -> None:
        """Have the modules of before back."""
        self._decided.set()
