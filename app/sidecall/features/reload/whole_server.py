"""Reload a whole server: this process, or all workers together."""

import asyncio
import logging
from typing import Any

from sidecall.features.audit.auditor import Auditor
from sidecall.features.reload.changes import Changes
from sidecall.features.reload.reloader import Reloaded, Reloader, make_failure
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import ReloadFailed
from sidecall.kernel.lifecycle import DISCARD, PREPARE, RELOAD, RELOADED, TAKE, Lifecycle

logger = logging.getLogger("sidecall")


class Reloading:
    """Reloads on request, and on the signal for it."""

    def __init__(self, reloader: Reloader, lifecycle: Lifecycle, auditor: Auditor) -> None:
        """Take the part of this process, the peers that the server has, and what records who has reloaded."""
        self._auditor = auditor
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
            self._peers.handle({RELOADED: self._note})

    async def reload(self, caller: Caller | None = None) -> Reloaded:
        """Load everything again and offer it, in all workers; the audit says for whom.

        Raises:
            ReloadFailed: Something is broken, and nothing has changed.
        """
        reloaded = await self._reload_all()
        await self._auditor.record("reloaded", caller, None, _describe(reloaded, by_signal=caller is None))
        return reloaded

    async def _reload_all(self) -> Reloaded:
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

    async def _note(self, found: dict[str, Any]) -> None:
        """Record a reload that a signal to the supervisor has brought about."""
        reloaded = Reloaded.model_validate({**found["reloaded"], "workers": found["workers"]})
        await self._auditor.record("reloaded", None, None, _describe(reloaded, by_signal=True))

    async def _discard(self, errors: list[str]) -> None:
        self._reloader.discard(errors)


def _describe(reloaded: Reloaded, *, by_signal: bool) -> dict[str, Any]:
    """Return what a reload has changed, without what is as before."""
    changes = {"tools": reloaded.tools, "toolsets": reloaded.toolsets, "mcp_servers": reloaded.mcp_servers}
    said: dict[str, Any] = {
        name: {kind: names for kind, names in it.model_dump().items() if names}
        for name, it in changes.items()
        if it is not None and it != Changes()
    }
    said |= {"certificate": "changed"} if reloaded.certificate else {}
    return said | ({"signal": "SIGUSR1"} if by_signal else {})
