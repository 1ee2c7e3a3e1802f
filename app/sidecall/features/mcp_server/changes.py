"""Notify listeners that the list of tools has changed."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal

from sidecall.kernel.lifecycle import Lifecycle

# Messages: the list has changed, or the connection is alive.
ListNews = Literal["changed", "quiet"]

# Seconds between checks whether the server is stopping, and of silence before a keep-alive.
_LOOK = 1.0
_QUIET = 15


class ListChanges:
    """The listeners for changes; a slow one gets several changes at once."""

    def __init__(self, *, is_fed: bool = False) -> None:
        """Start without listeners.

        Args:
            is_fed: Whether the list may change while the server runs.
        """
        self.is_fed = is_fed
        self._listeners: set[asyncio.Event] = set()

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    def tell(self) -> None:
        """Note that the list has changed."""
        for listener in self._listeners:
            listener.set()

    async def follow(self, lifecycle: Lifecycle) -> AsyncGenerator[ListNews]:
        """Yield messages until the server stops."""
        listener = asyncio.Event()
        self._listeners.add(listener)
        looks = 0
        try:
            while not lifecycle.is_draining:
                try:
                    async with asyncio.timeout(_LOOK):
                        await listener.wait()
                except TimeoutError:
                    looks += 1
                    if looks % _QUIET == 0:
                        yield "quiet"
                else:
                    listener.clear()
                    yield "changed"
        finally:
            self._listeners.discard(listener)
