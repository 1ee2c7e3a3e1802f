"""Bound the total of events and answers that wait for slow readers."""

import logging
import time
from typing import Protocol

logger = logging.getLogger("sidecall")

# Seconds between two log lines about slow readers.
_QUIET = 10.0


class Reader(Protocol):
    """A reader with queued bytes."""

    size: int

    def cut(self) -> None:
        """Discard the queue, and stop sending."""


class Backlog:
    """The bytes queued for readers; beyond the bound, the readers stalled for longest are cut off.

    A single event or answer may exceed the bound if nothing else is queued.
    """

    def __init__(self, most: int = 32 * 1024 * 1024) -> None:
        self._most = most
        self._size = 0
        # In the order in which they last took something.
        self._readers: dict[Reader, None] = {}
        self._cut_off = 0
        self._quiet_until = 0.0

    def has_room(self, size: int) -> bool:
        """Return whether this many more bytes may be queued."""
        return self._size + size <= self._most

    def add(self, reader: Reader, size: int) -> None:
        """Add bytes that `reader` already counts, and make room for them."""
        self._size += size
        self._readers.setdefault(reader)
        while self._size > self._most:
            slowest = next(iter(self._readers))
            if slowest is reader and reader.size == size:
                if len(self._readers) == 1:
                    return
                slowest = list(self._readers)[1]
            slowest.cut()
            self._report_cut()

    def take(self, reader: Reader, size: int) -> None:
        """Remove bytes that a reader has taken or that will never be taken."""
        self._size -= size
        self._readers.pop(reader, None)
        if reader.size:
            self._readers[reader] = None

    def _report_cut(self) -> None:
        self._cut_off += 1
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _QUIET
            limit = f"more than {self._most} bytes wait for their readers (SIDECALL_MAX_UNREAD_BYTES)"
            logger.warning("%s; slow readers that were cut off: %d", limit, self._cut_off)
            self._cut_off = 0
