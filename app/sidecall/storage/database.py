"""A database as the ledger uses it: named statements, written durably and many at once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

Dialect = Literal["sqlite", "postgres"]
# Texts, bytes, numbers and None; times are seconds since 1970.
Row = tuple[Any, ...]
# So many reads that callers can make long at once; each database has more connections that read, for all others.
LONG_READS: Mapping[Dialect, int] = {"sqlite": 4, "postgres": 2}


class Database(Protocol):
    """One database; its statements are known by the names of their files.

    Placeholders are `$1`, `$2` and so on, whatever the dialect. Statements that are carried out at the same time share
    one commit, since a commit costs more than what it commits.
    """

    @property
    def dialect(self) -> Dialect:
        """Which database it is."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write it at the same time."""

    @property
    def trouble(self) -> str | None:
        """Why it cannot be used just now, in words for an operator; None when it can."""

    @property
    def unavailable_since(self) -> float | None:
        """When that began, in seconds since 1970; None when it can be used, or never could."""

    async def open(self) -> None:
        """Connect, and bring the tables up to date.

        Raises:
            StoreUnfit: It is newer than this program, used by another one, or none of ours.
        """

    async def close(self) -> None:
        """Finish what was begun, for a bounded time, and disconnect."""

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Carry out a statement, and return the first row of its RETURNING, None if there is none, once it is durable.

        The first value is the key, which RETURNING names first. Of statements with the same key each comes after the
        other, in the order in which they were asked for. `size` is about how many bytes the values take, where whoever
        asks knows it, and that a database has them.

        Raises:
            StoreUnavailable: The database cannot be used just now; nothing of this was written, unless the way to it
                broke in the moment of the commit.
            TypeError: A value is none that a database has.
        """

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Carry out a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: The database cannot be used just now; nothing of this was written.
        """

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return what a statement finds among what is durable.

        Args:
            statement: Its name.
            values: For its placeholders.
            where: Takes the place of `{where}` in the statement; made by the program only, never of a caller's words.

        Raises:
            StoreUnavailable: The database cannot be used just now.
        """


@runtime_checkable
class ChangeReporter(Protocol):
    """A database that may turn out not to be the one any more that was opened, which no waiting mends."""

    # Called once, with what has happened in words for an operator.
    on_change: Callable[[str], object]
