"""Let those who listen know that the list of tools has changed."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Literal

from sidecall.kernel.lifecycle import Lifecycle

# What there is to be said: that the list has changed, or that the connection still stands.
ListNews = Literal["changed", "quiet"]

# Seconds between two looks whether the server is ending, and of silence before something is said.
_LOOK = 1.0
_QUIET = 15


class ListChanges:
    """Those who listen for changes; each hears of several changes at once when it is slow."""

    def __init__(self, *, is_fed: bool = False) -> None:
        """Begin with nobody.

        Args:
            is_fed: Whether the list may change while the server runs, so that it is worth listening.
        """
        self.is_fed = is_fed
        self._listeners: set[asyncio.Event] = set()

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)

    def tell(self) -> None:
        """Note that the list has changed."""
        for listener in self._listeners:
            listener.set()

    async def follow(self, lifecycle: Lifecycle) -> AsyncGenerator[ListNews]:
        """Give what there is to be said, until the server ends."""
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
