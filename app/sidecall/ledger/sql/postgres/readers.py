"""Connections to PostgreSQL that read, each for one at a time."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecall.ledger.sql.postgres.link import Link


class NoneFreeError(TimeoutError):
    """All connections that read do so, for as long as one waits."""


class PostgresReaders:
    """A few connections, of which the one that was used last is used first."""

    def __init__(self, url: str, patience: float, count: int) -> None:
        self._patience = patience
        self._links = [Link(url, patience, is_kept=False) for _ in range(count)]
        self._free: asyncio.LifoQueue[Link] = asyncio.LifoQueue()

    async def open(self) -> None:
        """Connect.

        Raises:
            OSError: It cannot be reached; asyncpg has more such errors.
        """
        for link in self._links:
            await link.open()
            self._free.put_nowait(link)

    async def close(self) -> None:
        """Disconnect, in a bounded time."""
        await asyncio.gather(*(link.close() for link in self._links))

    @asynccontextmanager
    async def take(self) -> AsyncIterator[Link]:
        """Give a connection that nobody else has meanwhile.

        Raises:
            NoneFreeError: None comes free in time.
        """
        try:
            async with asyncio.timeout(self._patience):
                link = await self._free.get()
        except TimeoutError:
            raise NoneFreeError from None
        try:
            yield link
        finally:
            self._free.put_nowait(link)
