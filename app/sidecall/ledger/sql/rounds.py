"""What waits to be written, taken in rounds that share one commit."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.core.overload import StoreUnavailable
from sidecall.ledger.sql.database import Row

# What a wish takes beside its texts and bytes.
_BESIDE = 200


@dataclass(slots=True, eq=False)
class Wish:
    """A statement that somebody wants carried out: for one row, whose first value is the key, or for many."""

    statement: str
    rows: Sequence[Row]
    done: asyncio.Future[Row | None]
    is_single: bool
    size: int

    @classmethod
    def of(cls, statement: str, rows: Sequence[Row], *, is_single: bool) -> "Wish":
        """Make one that is waited for on the running loop."""
        size = sum(_BESIDE + sum(map(_measure, row)) for row in rows)
        return cls(statement, rows, asyncio.get_running_loop().create_future(), is_single, size)

    @property
    def key(self) -> Any:
        """The key of a single row."""
        return self.rows[0][0] if self.rows[0] else None


@dataclass(slots=True)
class Round:
    """Wishes that share a commit, by statement; no two of the single ones have the same key."""

    singles: dict[str, dict[Any, Wish]] = field(default_factory=lambda: defaultdict(dict))
    many: list[Wish] = field(default_factory=list)
    size: int = 0

    @property
    def wishes(self) -> list[Wish]:
        """All of them."""
        return [wish for group in self.singles.values() for wish in group.values()] + self.many


class Line:
    """Wishes in the order in which they came, of so many bytes at most."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._size = 0
        self._waiting: deque[Wish] = deque()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def join(self, wish: Wish) -> bool:
        """Let a wish wait; return False when too much waits already."""
        if self._waiting and self._size + wish.size > self._most_bytes:
            return False
        self._size += wish.size
        self._waiting.append(wish)
        return True

    def take(self, most: int, most_bytes: int) -> Round:
        """Return what may be carried out together, and leave what comes after something of the same key."""
        taken, left = Round(), list[Wish]()
        keys = set[Any]()
        while self._waiting and len(keys) < most and (not taken.size or taken.size < most_bytes):
            wish = self._waiting.popleft()
            if wish.done.done():  # Nobody waits for it any more, and it was not begun.
                self._size -= wish.size
            elif not wish.is_single:
                taken.many.append(wish)
                taken.size += wish.size
            elif wish.key in keys:
                left.append(wish)
            else:
                keys.add(wish.key)
                taken.singles[wish.statement][wish.key] = wish
                taken.size += wish.size
        self._waiting.extendleft(reversed(left))
        self._size -= taken.size
        return taken

    def empty(self) -> list[Wish]:
        """Return everything that waits, and keep nothing."""
        waiting = list(self._waiting)
        self._waiting.clear()
        self._size = 0
        return waiting


def hand_out(wishes: Iterable[Wish], found: Iterable[Sequence[Any]]) -> None:
    """Give each wish the row whose first value is its key."""
    rows: dict[Any, Row] = {}
    for row in found:
        rows.setdefault(row[0], tuple(row))
    for wish in wishes:
        if not wish.done.done():
            wish.done.set_result(rows.get(wish.key) if wish.is_single else None)


def refuse_all(wishes: Iterable[Wish], error: Exception) -> None:
    """Let each wish fail."""
    for wish in wishes:
        if not wish.done.done():
            wish.done.set_exception(error)


def turn_away(wishes: Iterable[Wish], why: Exception | None = None) -> None:
    """Let each wish fail since the database cannot be used."""
    for wish in wishes:
        error = StoreUnavailable()
        error.__cause__ = why
        refuse_all([wish], error)


def _measure(value: Any) -> int:
    return len(value) if isinstance(value, (str, bytes)) else 0
