"""Connections to PostgreSQL for reading, each lent exclusively."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecall.storage.postgres.link import Link


class NoneFreeError(TimeoutError):
    """All connections that read do so, for as long as one waits."""


class PostgresReaders:
    """A few connections; the most recently used one is used first."""

    def __init__(self, url: str, patience: float, count: int) -> None:
        self._patience = patience
        self._links = [Link(url, patience, is_kept=False) for _ in range(count)]
        self._free: list[Link] = []
        self._waiting = deque[asyncio.Future[Link]]()

    async def open(self) -> None:
        """Connect.

        Raises:
            OSError: It cannot be reached; asyncpg has more such errors.
        """
        for link in self._links:
            await link.open()
            self._free.append(link)

    async def close(self) -> None:
        """Disconnect, within a bounded time."""
        await asyncio.gather(*(link.close() for link in self._links))

    @asynccontextmanager
    async def take(self, *, is_urgent: bool = False) -> AsyncIterator[Link]:
        """Lend a connection exclusively; urgent requests are served before all others.

        Raises:
            NoneFreeError: None comes free in time.
        """
        link = self._free.pop() if self._free else await self._wait(is_urgent=is_urgent)
        try:
            yield link
        finally:
            self._give(link)

    async def _wait(self, *, is_urgent: bool) -> Link:
        given: asyncio.Future[Link] = asyncio.get_running_loop().create_future()
        link: Link | None = None
        if is_urgent:
            self._waiting.appendleft(given)
        else:
            self._waiting.append(given)
        try:
            async with asyncio.timeout(self._patience):
                link = await given
                return link
        except TimeoutError:
            raise NoneFreeError from None
        finally:
            if link is None and given.done() and not given.cancelled():  # In the moment of the cancellation.
                self._give(given.result())

    def _give(self, link: Link) -> None:
        while self._waiting:
            given = self._waiting.popleft()
            if not given.done():
                given.set_result(link)
                return
        self._free.append(link)
