"""An httpx client for each event loop of a program, since connections belong to one loop."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import httpx

from sidecall.client.connection import make_transport


class LoopClients:
    """Keeps a client for each event loop; the first is made at once, to report wrong arguments then."""

    def __init__(self, arranged: Mapping[str, Any]) -> None:
        self._arranged = arranged
        self._spare: httpx.AsyncClient | None = self._make()
        self._lock = threading.Lock()
        # Under None is the one of programs whose event loops are not asyncio's.
        self._clients: dict[asyncio.AbstractEventLoop | None, httpx.AsyncClient] = {}

    def find(self) -> httpx.AsyncClient:
        """Return the client of this event loop.

        Raises:
            RuntimeError: Its transport serves another one.
        """
        loop = _find_loop()
        return self._clients.get(loop) or self._begin(loop)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self.find().aclose()

    def _begin(self, loop: asyncio.AbstractEventLoop | None) -> httpx.AsyncClient:
        with self._lock:
            # Connections of a loop that has ended can only be dropped.
            for other in [it for it in self._clients if it is not None and it.is_closed()]:
                del self._clients[other]
            spare, self._spare = self._spare, None
            client = self._clients[loop] = spare or self._make_another()
        return client

    def _make(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(**make_transport(self._arranged))

    def _make_another(self) -> httpx.AsyncClient:
        if isinstance(self._arranged.get("transport"), httpx.AsyncHTTPTransport):
            raise RuntimeError(
                "This transport serves the event loop alone that used it first. Give `transport` a function that makes "
                "one, such as `lambda: httpx.AsyncHTTPTransport(...)`, or make an AsyncSidecall for each event loop."
            )
        return self._make()


def _find_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
