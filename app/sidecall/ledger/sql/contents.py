"""Contents too large for a model, kept in a database until they expire."""

import time
from collections.abc import Callable

from uuid_utils import uuid4

from sidecall.core.contents import KeptContent
from sidecall.core.context import Caller
from sidecall.core.errors import UnknownContent
from sidecall.core.overload import StoreUnavailable
from sidecall.ledger.sql.database import Database

# Small bodies cost more than their bytes, so of those only one in so many bytes is kept, though never fewer than a few.
_SHARE = 4096
_FEW = 64


class SqlContents:
    """Keep texts for `ttl` seconds, of `most` bytes together at most; the oldest go first."""

    def __init__(
        self,
        database: Database,
        ttl: float = 3600.0,
        most: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self.ttl = ttl
        self.most = most
        self._clock = clock

    async def keep(self, body: str | bytes, caller: Caller, media_type: str) -> str | None:
        """Keep a caller's body and return its id, which nobody can guess.

        Returns:
            None when it is larger than all there is room for, or the database cannot be used: the call was answered,
            and what is left of its answer is worth more than none.
        """
        # Of a text the characters are counted first, which are no more than its bytes: it may be of any length.
        if len(body) > self.most:
            return None
        body = body.encode() if isinstance(body, str) else body
        if len(body) > self.most:
            return None
        content_id, now = uuid4().hex, self._clock()
        try:
            await self._forget(now, len(body), 1)
            whose = (caller.tenant, caller.subject, media_type)
            await self._database.write("keep_content", content_id, *whose, len(body), now, now + self.ttl, body)
        except StoreUnavailable:
            return None
        return content_id

    async def forget(self) -> None:
        """Remove what has expired.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """
        await self._forget(self._clock(), 0, 0)

    async def _forget(self, now: float, size: int, count: int) -> None:
        """Remove what has expired, and the oldest, as long as there is no room for so many bytes and bodies more."""
        most = max(_FEW, self.most // _SHARE)
        await self._database.write("forget_contents", now, self.most - size, most - count)

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Find a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: The database cannot be used just now.
        """
        whose = (caller.tenant, caller.subject)
        rows = await self._database.read("get_content", content_id, self._clock(), *whose)
        if not rows:
            raise UnknownContent
        media_type, body = rows[0]
        return KeptContent(content_id, *whose, media_type, bytes(body))

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Forget a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
            StoreUnavailable: The database cannot be used just now.
        """
        whose = (caller.tenant, caller.subject)
        if await self._database.write("remove_content", content_id, self._clock(), *whose) is None:
            raise UnknownContent
