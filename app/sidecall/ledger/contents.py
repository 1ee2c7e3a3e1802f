"""Contents too large for a model, kept in this process until they expire."""

import time
from collections.abc import Callable

from uuid_utils import uuid4

from sidecall.core.contents import KeptContent
from sidecall.core.errors import UnknownContent


class MemoryContents:
    """Keep texts for `ttl` seconds, of `most` bytes together at most; the oldest go first."""

    def __init__(self, ttl: float = 3600.0, most: int = 64 * 1024 * 1024, clock: Callable[[], float] = time.monotonic):
        self._ttl = ttl
        self._most = most
        self._clock = clock
        self._kept: dict[str, tuple[float, KeptContent]] = {}
        self._size = 0

    async def keep(self, body: str | bytes, tenant: str) -> str | None:
        """Keep a body and return its id, which nobody can guess; None when it is larger than all there is room for."""
        # Of a text the characters are counted first, which are no more than its bytes: it may be of any length.
        if len(body) > self._most:
            return None
        body = body.encode() if isinstance(body, str) else body
        if len(body) > self._most:
            return None
        self._forget(room_for=len(body))
        content = KeptContent(uuid4().hex, tenant, body)
        self._kept[content.id] = (self._clock() + self._ttl, content)
        self._size += len(body)
        return content.id

    async def get(self, content_id: str) -> KeptContent:
        """Find a content.

        Raises:
            UnknownContent: There is none, or it has expired.
        """
        self._forget(room_for=0)
        if content_id not in self._kept:
            raise UnknownContent
        return self._kept[content_id][1]

    def _forget(self, room_for: int) -> None:
        """Drop what has expired, and as much more as a new body needs; they stand in the order in which they came."""
        now = self._clock()
        while self._kept:
            key, (expires, content) = next(iter(self._kept.items()))
            if expires > now and self._size + room_for <= self._most:
                return
            del self._kept[key]
            self._size -= len(content.body)
