"""Reload a whole server: this process, or all workers together."""

import asyncio
import logging
from typing import Any

from sidecall.features.reload.reloader import Reloaded, Reloader, make_failure
from sidecall.kernel.core.errors import ReloadFailed
from sidecall.kernel.lifecycle import DISCARD, PREPARE, RELOAD, TAKE, Lifecycle

logger = logging.getLogger("sidecall")


class Reloading:
    """Reloads on request, and on the signal for it."""

    def __init__(self, reloader: Reloader, lifecycle: Lifecycle) -> None:
        """Take the part of this process, and the peers that the server has."""
        self._reloader = reloader
        self._lifecycle = lifecycle
        self._peers = lifecycle.peers
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Answer peers and signals from now on, on the running loop."""
        loop = asyncio.get_running_loop()
        self._lifecycle.reload = lambda: loop.call_soon_threadsafe(self._begin)
        if self._peers is not None:
            self._peers.handle({PREPARE: self._prepare, TAKE: self._take, DISCARD: self._discard})

    async def reload(self) -> Reloaded:
        """Load everything again and offer it, in all workers.

        Raises:
            ReloadFailed: Something is broken, and nothing has changed.
        """
        if self._peers is None:
            return await self._reloader.reload()
        found = await self._peers.ask(RELOAD)
        if found["errors"]:
            raise make_failure(found["errors"])
        return Reloaded.model_validate({**found["reloaded"], "workers": found["workers"]})

    def _begin(self) -> None:
        task = asyncio.get_running_loop().create_task(self._reload_on_signal())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reload_on_signal(self) -> None:
        try:
            await self.reload()
        except (ReloadFailed, ConnectionError):
            return  # It was logged where it happened.

    async def _prepare(self, _: Any) -> dict[str, Any]:
        return {"errors": await self._reloader.prepare()}

    async def _take(self, _: Any) -> dict[str, Any]:
        try:
            return {"errors": [], "reloaded": self._reloader.take().model_dump()}
        except ReloadFailed as error:
            return {"errors": [error.message]}

    async def _discard(self, errors: list[str]) -> None:
        self._reloader.discard(errors)
