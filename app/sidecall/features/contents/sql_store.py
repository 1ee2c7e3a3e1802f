"""Contents in a database."""

import asyncio
import time
from collections.abc import Callable

from uuid_utils import uuid4

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownContent
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.contents import KeptContent, TooManyContents
from sidecall.storage.database import Database

# Small bodies cost more than their bytes, so their number is limited to one per so many bytes, but never below a few.
_SHARE = 4096
_FEW = 64


class SqlContents:
    """Keep bodies for `ttl` seconds, up to `most` bytes together; the oldest are deleted first.

    One caller may keep `quota` bytes, where that is less.
    """

    def __init__(
        self,
        database: Database,
        ttl: float = 3600.0,
        most: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
        quota: int | None = None,
    ) -> None:
        self._database = database
        self.ttl = ttl
        self.quota = most if quota is None else min(quota, most)
        self._most = most
        self._clock = clock
        self.loop: asyncio.AbstractEventLoop | None = None
        # Each of several concurrent uploads counts those before it; other servers may still accept one each.
        self._turn = asyncio.Lock()

    def attach(self) -> None:
        """Let other threads use the running event loop, on which the database is."""
        self.loop = asyncio.get_running_loop()

    async def keep(self, body: str | bytes, caller: Caller, media_type: str, *, is_sent: bool = False) -> str | None:
        """Store a caller's body and return its random id.

        Returns:
            None when it is larger than the whole store, or the database is unavailable: a cut answer is better than
                none.

        Raises:
            TooManyContents: It was uploaded, and its caller has no room left.
        """
        # A text's characters are counted first, which are no more than its bytes: it may be of any length.
        if len(body) > self.quota:
            return None
        body = body.encode() if isinstance(body, str) else body
        if len(body) > self.quota:
            return None
        try:
            if self.quota < self._most and is_sent:
                async with self._turn:
                    return await self._keep(body, caller, media_type, is_sent=True)
            return await self._keep(body, caller, media_type, is_sent=is_sent)
        except StoreUnavailable:
            return None

    async def _keep(self, body: bytes, caller: Caller, media_type: str, *, is_sent: bool) -> str:
        whose = (caller.tenant, caller.subject)
        content_id, now = uuid4().hex, self._clock()
        await self._make_room(whose, len(body), now, is_sent=is_sent)
        row = (content_id, *whose, media_type, len(body), now, now + self.ttl, body)
        await self._database.write("keep_content", *row)
        if is_sent and self.quota < self._most:
            await self._take_back(content_id, whose, now)
        return content_id

    async def _make_room(self, whose: tuple[str, str], size: int, now: float, *, is_sent: bool) -> None:
        """Delete the caller's own oldest contents down to its quota, then the oldest of all."""
        # Where one caller may fill the store, the oldest of all are deleted.
        if self.quota < self._most:
            if is_sent:
                await self._refuse_beyond(whose, self.quota - size, now)
            else:
                await self._database.write("forget_own_contents", now, self.quota - size, *whose)
        await self._forget(now, size, 1)

    async def _refuse_beyond(self, whose: tuple[str, str], most: int, now: float) -> None:
        [(taken, first)] = await self._database.read("measure_contents", *whose, now)
        if taken > most:
            raise TooManyContents(self.quota, first - now)

    async def _take_back(self, content_id: str, whose: tuple[str, str], now: float) -> None:
        """Remove a body again if concurrent uploads of its caller exceed the bound together."""
        if await self._database.write("take_content_back", content_id, *whose, now, self.quota) is not None:
            raise TooManyContents(self.quota, 1.0)

    async def forget(self) -> None:
        """Delete expired contents.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await self._forget(self._clock(), 0, 0)

    async def _forget(self, now: float, size: int, count: int) -> None:
        """Delete expired contents, and the oldest, until there is room for so many more bytes and bodies."""
        most = max(_FEW, self._most // _SHARE)
        await self._database.write("forget_contents", now, self._most - size, most - count)

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Find a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: The database is unavailable.
        """
        whose = (caller.tenant, caller.subject)
        rows = await self._database.read("get_content", content_id, self._clock(), *whose)
        if not rows:
            raise UnknownContent
        media_type, body = rows[0]
        return KeptContent(content_id, *whose, media_type, bytes(body))

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Delete a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: The database is unavailable.
        """
        values = (content_id, self._clock(), caller.tenant, caller.subject)
        # PostgreSQL rejects a text with a NUL.
        if "\0" in content_id or await self._database.write("remove_content", *values) is None:
            raise UnknownContent
