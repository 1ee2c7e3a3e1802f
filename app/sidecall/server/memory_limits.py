"""Bound the memory of unanswered requests and unread answers, over all connections."""

from typing import Protocol

from sidecall.kernel.http.backlog import Backlog

# What the bodies of most calls do not reach, and the part of the room that is kept for those, one in so many.
SMALL = 16 * 1024
_KEPT_FREE = 8


class Keeper(Protocol):
    """Holds bytes of an incomplete request."""

    def give_way(self) -> None:
        """Drop the request and its bytes, if it is still incomplete."""


class RequestRoom:
    """Counts buffered bytes, and makes room by dropping the requests that have been incomplete for longest."""

    __slots__ = ("late", "most", "shared", "unread", "used")

    def __init__(self, most: int, largest: int = 0, unread: Backlog | None = None) -> None:
        """Allow `most` bytes, at least for the `largest` body; `unread` bytes have a bound of their own."""
        self.most = max(most, largest)
        # What those that are not small may use up.
        self.shared = max(most - most // _KEPT_FREE, largest)
        self.used = 0
        self.unread = unread or Backlog()
        # Those whose requests have been coming for a while, the first of them last.
        self.late: list[Keeper] = []

    def make(self, size: int, asker: Keeper, *, kept: int) -> bool:
        """Return whether there is room for `size` more bytes of a keeper that holds `kept` already."""
        most = self.most if kept + size <= SMALL else self.shared
        while self.used + size > most and self.late:
            keeper = self.late.pop()
            if keeper is asker:
                return False
            keeper.give_way()
        return self.used + size <= most
