"""Group commit: queued writes, taken in rounds that share one commit."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Row

# The bytes of a statement, without its texts and bytes values.
BESIDE = 200


class Wish(Struct, eq=False):
    """A queued statement: for one row, whose first value is the key, or for many."""

    statement: str
    rows: Sequence[Row]
    done: asyncio.Future[Row | None]
    is_single: bool
    size: int
    key: Any

    @classmethod
    def of_many(cls, statement: str, rows: Sequence[Row]) -> "Wish":
        """Make a statement for many rows, awaited on the running loop."""
        size = sum(map(measure, rows))
        return cls(statement, rows, asyncio.get_running_loop().create_future(), False, size, None)


class Round(Struct):
    """Queued statements that fit in one message to the database; no two have the same key.

    A statement for many rows forms its own round.
    """

    statement: str
    wishes: list[Wish]
    size: int = 0

    @property
    def rows(self) -> list[Row]:
        """The values of all rows."""
        return [row for wish in self.wishes for row in wish.rows]

    @property
    def is_single(self) -> bool:
        """Whether each has one row and expects a returned row."""
        return self.wishes[0].is_single


class Line:
    """A queue of statements in order, bounded in bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._size = 0
        self._waiting: deque[Wish] = deque()
        self._busy = set[Any]()  # keys of what is being carried out

    def __len__(self) -> int:
        return len(self._waiting)

    def join(self, wish: Wish) -> bool:
        """Add a statement to the queue; return False when the queue is full."""
        if self._waiting and self._size + wish.size > self._most_bytes:
            return False
        self._size += wish.size
        self._waiting.append(wish)
        return True

    def take(self, most: int, most_bytes: int) -> Round | None:
        """Take the next statements to run together; None if all must wait for an earlier one with the same key.

        Taken ones must be given back.
        """
        taken: Round | None = None
        left, passed = list[Wish](), set[Any]()  # A wish is not taken before an earlier one of its key.
        while self._waiting:
            wish = self._waiting.popleft()
            if wish.done.done():  # Its waiter was cancelled before it began.
                self._size -= wish.size
            elif not wish.is_single:
                if taken is None:
                    taken = Round(wish.statement, [wish], wish.size)
                    break
                left.append(wish)
            elif wish.key in self._busy or wish.key in passed or (taken and wish.statement != taken.statement):
                passed.add(wish.key)
                left.append(wish)
            else:
                taken = taken or Round(wish.statement, [])
                self._busy.add(wish.key)
                taken.wishes.append(wish)
                taken.size += wish.size
                if len(taken.wishes) == most or taken.size >= most_bytes:
                    break
        self._waiting.extendleft(reversed(left))
        self._size -= taken.size if taken else 0
        return taken

    def give_back(self, taken: Round) -> None:
        """Allow later statements with the same keys to be taken."""
        if taken.is_single:
            self._busy.difference_update(wish.key for wish in taken.wishes)

    def empty(self) -> list[Wish]:
        """Remove and return everything in the queue."""
        waiting = list(self._waiting)
        self._waiting.clear()
        self._size = 0
        return waiting


def hand_out(wishes: Iterable[Wish], found: Iterable[Sequence[Any]]) -> None:
    """Give each statement the row with its key."""
    rows: dict[Any, Row] = {}
    for row in found:
        rows.setdefault(row[0], tuple(row))
    for wish in wishes:
        if not wish.done.done():
            wish.done.set_result(rows.get(wish.key) if wish.is_single else None)


def refuse_all(wishes: Iterable[Wish], error: Exception) -> None:
    """Fail each statement with this error."""
    for wish in wishes:
        if not wish.done.done():
            wish.done.set_exception(error)


def turn_away(wishes: Iterable[Wish], why: Exception | None = None) -> None:
    """Fail each statement because the database is unavailable."""
    for wish in wishes:
        error = StoreUnavailable()
        error.__cause__ = why
        refuse_all([wish], error)


def measure(row: Row) -> int:
    """Return the approximate bytes of a row."""
    size = BESIDE
    for value in row:  # A function for each would take three times as long.
        if type(value) is str or type(value) is bytes:
            size += len(value)
    return size


class Gathering:
    """Waits for a turn of the event loop in which nothing was added, or until there are enough.

    An idle loop takes such a turn at once, so a single writer hardly waits.
    """

    def __init__(self, count: Callable[[], int], end: Callable[[], None], enough: int) -> None:
        """Count with `count`; call `end` when the batch is complete or `enough` are waiting."""
        self._count = count
        self._end = end
        self._enough = enough
        self._seen = 0
        self._is_open = False

    def begin(self) -> None:
        """Start the batch timer if it is not running."""
        if not self._is_open:
            self._is_open = True
            self._seen = 0
            asyncio.get_running_loop().call_soon(self._look)

    def _look(self) -> None:
        count = self._count()
        if self._seen < count < self._enough:
            self._seen = count
            asyncio.get_running_loop().call_soon(self._look)
        else:
            self._is_open = False
            self._end()
