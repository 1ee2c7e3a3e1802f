"""Bound the memory of results between being made and being sent."""

import asyncio
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic_core import to_json

from sidecall.kernel.concurrency.coroutines import settle
from sidecall.kernel.concurrency.pools import RESULTS
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.json_data.large_values import has_pieces
from sidecall.kernel.json_data.to_json import write_in_pieces

# Bytes below which a result is not counted, and from which on its tool is known for large ones.
SMALL = 64 * 1024
_LARGE = 256 * 1024
# Seconds between two looks of a thread that waits.
_LOOK = 0.1

Wake = Callable[[], object]


class ResultMemory:
    """Counts the bytes of large results until they are written; beyond the bound, new ones wait.

    One request at a time may exceed the bound, and of that request one call at a time, so that there is always
    progress. Thread-safe.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0
        # By the names of tools that make large ones: how large the last was.
        self.large: dict[str, int] = {}
        self._lock = threading.RLock()
        self._writing = asyncio.Lock()
        self.shares: dict[Hashable, list[ResultReservation]] = {}
        self._ahead: ResultReservation | None = None
        self._line: dict[Wake, tuple[ResultReservation, int]] = {}

    @property
    def is_full(self) -> bool:
        """Whether the counted bytes exceed the bound."""
        return self.used > self.most

    @property
    def waiting(self) -> int:
        """How many calls wait for room."""
        return len(self._line)

    def open(self, holder: Hashable, tool: str) -> "ResultReservation":
        """Begin to count a call's result; the holder releases it."""
        share = ResultReservation(self, holder, tool)
        with self._lock:
            self.shares.setdefault(holder, []).append(share)
        return share

    def release(self, holder: Hashable) -> None:
        """Release all results of a holder."""
        with self._lock:
            for share in self.shares.pop(holder, ()):
                self.count(share, 0)
                share.is_over = True
                if self._ahead is share:
                    self._ahead = None
            self._let_in()

    def count(self, share: "ResultReservation", size: int) -> None:
        """Set a reservation to this many bytes, unless it is finished."""
        with self._lock:
            if not share.is_over:
                self.used += size - share.size
                share.size = size
                if size >= _LARGE:
                    self.large[share.tool] = size

    def finish(self, share: "ResultReservation") -> None:
        """Note that a result is complete; learn whether its tool makes large ones, and let its holder go on."""
        with self._lock:
            share.is_made = True
            if share.size < _LARGE:
                self.large.pop(share.tool, None)
            self._let_in()

    def add_up(self, holder: Hashable) -> int:
        """Return the bytes of all results."""
        return sum(share.size for share in self.shares.get(holder, ()) if share.is_made)

    def enter(self, share: "ResultReservation", more: int, wake: Wake) -> bool:
        """Return whether a reservation may grow by this many bytes; else queue it until it is woken."""
        with self._lock:
            if share.is_over or self._has_room(share, more):
                return True
            self._line[wake] = (share, more)
            return False

    def leave(self, wake: Wake) -> None:
        """Leave the queue."""
        with self._lock:
            if self._line.pop(wake, None) is not None:
                self._let_in()

    def _has_room(self, share: "ResultReservation", more: int) -> bool:
        if self.used + more <= self.most:
            return True
        ahead = self._ahead
        if ahead is None or ahead is share or (ahead.holder == share.holder and ahead.is_made):
            self._ahead = share
            return True
        return False

    def _let_in(self) -> None:
        """Wake the longest-waiting calls; what they are about to make counts at once."""
        while self._line:
            wake, (share, more) = next(iter(self._line.items()))
            if not share.is_over and not self._has_room(share, more):
                return
            del self._line[wake]
            self.count(share, share.size + more)
            with suppress(RuntimeError):  # Its loop is closed.
                wake()

    async def write(self, plain: Any) -> bytes:
        """Serialize a large plain value in a thread, one at a time, since it takes its memory twice."""
        async with self._writing:
            return await RESULTS.run(_write, plain)

    async def make(self, function: Callable[[], Any]) -> bytes:
        """Make a large plain value in a thread, and serialize it there."""
        async with self._writing:
            return await RESULTS.run(_make, function)


def _make(function: Callable[[], Any]) -> bytes:
    return _write(function())


def _write(plain: Any) -> bytes:
    opened = [*map(_open, plain)] if type(plain) is list else _open(plain)
    return write_in_pieces(opened) if has_pieces(opened) else to_json(opened)


def _open(answer: Any) -> Any:
    """Return the fields of a message, whose values are plain, since only lists and objects are written in pieces."""
    return answer.__dict__ if type(answer) is ToolMessage else answer


class ResultReservation:
    """The bytes reserved for one call's result; its holder is the request or another receiver."""

    __slots__ = ("_room", "holder", "is_made", "is_over", "size", "tool")

    def __init__(self, room: ResultMemory, holder: Hashable, tool: str) -> None:
        self._room = room
        self.holder = holder
        self.tool = tool
        self.size = 0
        self.is_made = False
        self.is_over = False

    def grow_to(self, size: int) -> bool:
        """Raise the count to `size` bytes, and return whether the caller should wait."""
        if size > self.size:
            self._room.count(self, size)
        return self._room.is_full

    def settle(self, size: int) -> int:
        """Set the count to exactly `size` bytes; return the total of the holder."""
        self._room.count(self, size)
        return size + self._room.add_up(self.holder)

    def finish(self, *, is_kept: bool) -> None:
        """Note that the result is complete, or that there will be none."""
        if not is_kept:
            self._room.count(self, 0)
        self._room.finish(self)

    async def wait(self, more: int = 0) -> None:
        """Wait for room for `more` bytes, on any event loop."""
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        wake = partial(loop.call_soon_threadsafe, settle, woken)
        if self._room.enter(self, more, wake):
            return
        try:
            await woken
        finally:
            self._room.leave(wake)

    def wait_here(self, more: int, look: Callable[[], object]) -> None:
        """Block this thread until there is room for `more` bytes; `look` is called now and then, and may raise."""
        woken = threading.Event()
        if self._room.enter(self, more, woken.set):
            return
        try:
            while not woken.wait(_LOOK):
                look()
        finally:
            self._room.leave(woken.set)


def estimate_size(value: Any) -> int:
    """Estimate the bytes of a plain value, from its first ten thousand items."""
    size, left = 0, 10_000
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (str, bytes)):
            size += len(item)
            continue
        inside = list(item.values()) if isinstance(item, dict) else item if isinstance(item, (list, tuple)) else ()
        size += _SLOT * len(inside)
        left -= len(inside)
        if left >= 0:
            pending.extend(inside)
    return size


# The bytes of a list's item, without the text that it may be.
_SLOT = 56
