"""Contents too large for a model, kept in this process until they expire."""

import time
from collections.abc import Callable

from uuid_utils import uuid4

from sidecall.core.contents import KeptContent
from sidecall.core.context import Caller
from sidecall.core.errors import UnknownContent

# Small bodies cost more than their bytes, so of those only one in so many bytes is kept, though never fewer than a few.
_SHARE = 4096
_FEW = 64


class MemoryContents:
    """Keep texts for `ttl` seconds, of `most` bytes together at most; the oldest go first."""

    def __init__(self, ttl: float = 3600.0, most: int = 32 * 1024 * 1024, clock: Callable[[], float] = time.monotonic):
        self.ttl = ttl
        self.most = most
        self._clock = clock
        self._kept: dict[str, tuple[float, KeptContent]] = {}
        self._size = 0

    async def keep(self, body: str | bytes, caller: Caller, media_type: str) -> str | None:
        """Keep a caller's body and return its id, which nobody can guess; None when it is larger than all the room."""
        # Of a text the characters are counted first, which are no more than its bytes: it may be of any length.
        if len(body) > self.most:
            return None
        body = body.encode() if isinstance(body, str) else body
        if len(body) > self.most:
            return None
        self._forget(room_for=len(body))
        content = KeptContent(uuid4().hex, caller.tenant, caller.subject, media_type, body)
        self._kept[content.id] = (self._clock() + self.ttl, content)
        self._size += len(body)
        return content.id

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Find a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """
        self._forget(room_for=0)
        _, content = self._kept.get(content_id, (0.0, None))
        if content is None or (content.tenant, content.caller) != (caller.tenant, caller.subject):
            raise UnknownContent
        return content

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Forget a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """
        content = await self.get(content_id, caller)
        del self._kept[content_id]
        self._size -= len(content.body)

    def _forget(self, room_for: int) -> None:
        """Drop what has expired, and as much more as a new body needs; they stand in the order in which they came."""
        now = self._clock()
        while self._kept:
            key, (expires, content) = next(iter(self._kept.items()))
            is_full = room_for > 0 and len(self._kept) >= max(_FEW, self.most // _SHARE)
            if expires > now and self._size + room_for <= self.most and not is_full:
                return
            del self._kept[key]
            self._size -= len(content.body)
