"""Contents in this process's memory."""

import time
from collections import Counter
from collections.abc import Callable
from threading import Lock

from uuid_utils import uuid4

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownContent
from sidecall.kernel.ports.contents import KeptContent, TooManyContents

# Small bodies cost more than their bytes, so their number is limited to one per so many bytes, but never below a few.
_SHARE = 4096
_FEW = 64
# An id and its owner: another's content is not found.
_Key = tuple[str, str, str]


class MemoryContents:
    """Keep bodies for `ttl` seconds, up to `most` bytes together; the oldest are deleted first.

    One caller may keep `quota` bytes, where that is less.
    """

    # Guarded by a lock, since tools use it from threads too.
    loop = None

    def __init__(
        self,
        ttl: float = 3600.0,
        most: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
        quota: int | None = None,
    ) -> None:
        self.ttl = ttl
        self.quota = most if quota is None else min(quota, most)
        self._most = most
        self._clock = clock
        self._kept: dict[_Key, tuple[float, KeptContent]] = {}
        self._sizes: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()

    async def keep(self, body: str | bytes, caller: Caller, media_type: str, *, is_sent: bool = False) -> str | None:
        """Store a caller's body and return its random id; None when it is larger than the whole store.

        Raises:
            TooManyContents: It was uploaded, and its caller has no room left.
        """
        # A text's characters are counted first, which are no more than its bytes: it may be of any length.
        if len(body) > self.quota:
            return None
        body = body.encode() if isinstance(body, str) else body
        if len(body) > self.quota:
            return None
        content = KeptContent(uuid4().hex, caller.tenant, caller.subject, media_type, body)
        with self._lock:
            self._make_room(content, is_sent=is_sent)
            self._kept[content.id, *_whose(content)] = (self._clock() + self.ttl, content)
            self._sizes[_whose(content)] += len(body)
        return content.id

    async def get(self, content_id: str, caller: Caller) -> KeptContent:
        """Find a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """
        with self._lock:
            return self._get((content_id, caller.tenant, caller.subject))

    async def remove(self, content_id: str, caller: Caller) -> None:
        """Delete a caller's content.

        Raises:
            UnknownContent: There is none, it has expired, or it is another caller's.
        """
        with self._lock:
            key = (content_id, caller.tenant, caller.subject)
            self._get(key)
            self._drop(key)

    def _get(self, key: _Key) -> KeptContent:
        self._forget(room_for=0)
        if key not in self._kept:
            raise UnknownContent
        return self._kept[key][1]

    def _make_room(self, content: KeptContent, *, is_sent: bool) -> None:
        """Delete the caller's own oldest contents down to its quota, then the oldest of all.

        Raises:
            TooManyContents: It is an upload, for which nothing is deleted.
        """
        self._forget(room_for=0)
        whose, size = _whose(content), len(content.body)
        # Where one caller may fill the store, the oldest of all are deleted.
        if self.quota < self._most and self._sizes[whose] + size > self.quota:
            own = [(key, expires) for key, (expires, kept) in self._kept.items() if _whose(kept) == whose]
            if is_sent:
                raise TooManyContents(self.quota, own[0][1] - self._clock())
            for key, _ in own:
                if self._sizes[whose] + size <= self.quota:
                    break
                self._drop(key)
        self._forget(room_for=size)

    def _forget(self, room_for: int) -> None:
        """Drop what has expired, and as much more as a new body needs, oldest first."""
        now = self._clock()
        while self._kept:
            key, (expires, _) = next(iter(self._kept.items()))
            is_full = room_for > 0 and len(self._kept) >= max(_FEW, self._most // _SHARE)
            if expires > now and self._sizes.total() + room_for <= self._most and not is_full:
                return
            self._drop(key)

    def _drop(self, key: _Key) -> None:
        _, content = self._kept.pop(key)
        whose = _whose(content)
        self._sizes[whose] -= len(content.body)
        if not self._sizes[whose]:
            del self._sizes[whose]


def _whose(content: KeptContent) -> tuple[str, str]:
    return content.tenant, content.caller
