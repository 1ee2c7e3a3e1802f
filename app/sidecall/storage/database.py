"""The database interface of the ledger: named statements, written durably and in batches."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

Dialect = Literal["sqlite", "postgres"]
# Texts, bytes, numbers and None; times are seconds since 1970.
Row = tuple[Any, ...]
# So many reads that callers can make long at once; each database has more connections that read, for all others.
LONG_READS: Mapping[Dialect, int] = {"sqlite": 4, "postgres": 2}


class Database(Protocol):
    """One database; its statements are known by their names in the files `queries.sql`.

    Placeholders are `$1`, `$2` and so on, in any dialect. Concurrent statements share a commit, since a commit costs
    more than a statement.
    """

    @property
    def dialect(self) -> Dialect:
        """The dialect of its SQL."""

    @property
    def is_shared(self) -> bool:
        """Whether other processes may write it at the same time."""

    @property
    def trouble(self) -> str | None:
        """Why it is unavailable, for an operator; None if it is available."""

    @property
    def unavailable_since(self) -> float | None:
        """When that began, in Unix seconds; None if it is available, or never was."""

    async def open(self) -> None:
        """Connect, and migrate the tables.

        Raises:
            StoreUnfit: It is newer than this program, used by another one, or none of ours.
        """

    async def close(self) -> None:
        """Finish pending work, within a bounded time, and disconnect."""

    def write(self, statement: str, *values: Any, size: int | None = None) -> Awaitable[Row | None]:
        """Run a statement, and return the first row of its RETURNING, or None, once it is durable.

        The first value is the key, which RETURNING names first. Statements with the same key run in the order in which
        they were requested. `size` is the approximate number of bytes of the values, if the caller knows it and they
        are of types that the database supports.

        Raises:
            StoreUnavailable: The database cannot be used just now; nothing of this was written, unless the way to it
                broke in the moment of the commit.
            TypeError: A value is none that a database has.
        """

    async def write_all(self, statement: str, rows: Sequence[Row]) -> None:
        """Run a statement for each of these rows, all or none.

        Raises:
            StoreUnavailable: The database cannot be used just now; nothing of this was written.
        """

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Return the rows that a query finds among durable data.

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
