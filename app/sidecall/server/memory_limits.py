"""Bound what requests take of memory before they are answered, and answers before they are read, on all connections."""

from typing import Protocol

from sidecall.kernel.http.backlog import Backlog

# What the bodies of most calls do not reach, and the part of the room that is kept for those, one in so many.
SMALL = 16 * 1024
_KEPT_FREE = 8


class Keeper(Protocol):
    """Whoever keeps bytes of a request that has not come whole."""

    def give_way(self) -> None:
        """Give up the request and its bytes, if it still has not come."""


class RequestRoom:
    """Count the bytes that are kept, and make room for more at the cost of who has kept them waiting for longest."""

    __slots__ = ("late", "most", "shared", "unread", "used")

    def __init__(self, most: int, largest: int = 0, unread: Backlog | None = None) -> None:
        """Make room for so many bytes, at least for the `largest` body; what is `unread` has a bound of its own."""
        self.most = max(most, largest)
        # What those that are not small may use up.
        self.shared = max(most - most // _KEPT_FREE, largest)
        self.used = 0
        self.unread = unread or Backlog()
        # Those whose requests have been coming for a while, the first of them last.
        self.late: list[Keeper] = []

    def make(self, size: int, asker: Keeper, *, kept: int) -> bool:
        """Return whether there is room for so many bytes more of one who has `kept` some already."""
        most = self.most if kept + size <= SMALL else self.shared
        while self.used + size > most and self.late:
            keeper = self.late.pop()
            if keeper is asker:
                return False
            keeper.give_way()
        return self.used + size <= most
