"""The database interface of the ledger: named statements, written durably and in batches."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from msgspec import Struct

from sidecall.kernel.ports.call_entry import OPEN, PAGE_CHARACTERS, CallFilter, CallStatus

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


# Where these columns stand in the rows of a list.
_ARGS, _DECISION, _MESSAGE, _LEFT_OUT = 12, 18, 22, 23

# What lists calls, and what reads the texts that it leaves out.
_WITH_ANSWERS = ("list_whole_calls", "read_call_texts")

_WITHOUT = ("list_calls", "read_call_args")


class RowPage(Struct, frozen=True):
    """Rows of calls, newest first, and the id after which the next page begins; None on the last page."""

    rows: Sequence[Row]
    cursor: str | None


async def read_page(
    database: Database, wanted: CallFilter, limit: int, cursor: str | None, *, is_whole: bool
) -> RowPage:
    """Read up to `limit` calls, fewer if they are large.

    Short texts come with the list; for long ones only their size is read, so that no more is read than a page holds.
    Answers are read only if wanted.
    """
    statement, filling = _WITH_ANSWERS if is_whole else _WITHOUT
    where, values = write_where(wanted, cursor)
    values.append(limit + 1)
    order = f"{where} ORDER BY id DESC LIMIT ${len(values)}"
    found = await database.read(statement, *values, where=order)
    chosen, size = list[Row](), 0
    for row in found[:limit]:
        if size >= PAGE_CHARACTERS:
            break
        chosen.append(row)
        size += row[_LEFT_OUT] or len(row[_ARGS] or "") + len(row[_MESSAGE] or "")
        size += len(row[_DECISION] or "")
    rows = await _fill(database, filling, chosen)
    return RowPage(rows, chosen[-1][0] if len(found) > len(chosen) else None)


async def _fill(database: Database, statement: str, rows: Sequence[Row]) -> list[Row]:
    """Read the texts that were left out; a call deleted since then is dropped."""
    large = [row[0] for row in rows if row[_LEFT_OUT] is not None]
    texts: dict[str, Any] = {}
    if large:
        numbers = ", ".join(f"${number}" for number in range(1, len(large) + 1))
        read = await database.read(statement, *large, where=f"WHERE id IN ({numbers})")
        texts = {call_id: (args, message) for call_id, args, message in read}
    filled = []
    for row in rows:
        if row[_LEFT_OUT] is None:
            filled.append(row[:_LEFT_OUT])
        elif row[0] in texts:
            args, message = texts[row[0]]
            filled.append((*row[:_ARGS], args, *row[_ARGS + 1 : _MESSAGE], message))
    return filled


# The conditions of the partial indexes `calls_open` and `calls_by_status`. SQLite uses one only where its condition is
# repeated word for word.
_OF_OPEN = "ended_at IS NULL"

_OF_ENDED = "ended_at IS NOT NULL AND status <> 'succeeded'"


def write_where(wanted: CallFilter, cursor: str | None) -> tuple[str, list[Any]]:
    """Return the WHERE clause of a list of calls, and the values of its placeholders."""
    clauses: list[str] = []
    values: list[Any] = []

    def add(clause: str, *more: Any) -> None:
        numbers = []
        for value in more:
            values.append(value)
            numbers.append(f"${len(values)}")
        clauses.append(clause.format(*numbers, all=", ".join(numbers)))

    # Few calls are open, so no other column's index is to be taken for them.
    unindexed = " || ''" if wanted.status in OPEN else ""
    add("tenant = {0}", wanted.tenant)
    if wanted.status is not None:
        add(_write_status(wanted.status))
    if wanted.names is not None:
        add(f"name{unindexed} IN ({{all}})" if wanted.names else "1 = 0", *wanted.names)
    for clause, value in _single(wanted, cursor, unindexed):
        if value is not None:
            add(clause, value)
    return "WHERE " + " AND ".join(clauses), values


def _write_status(status: CallStatus) -> str:
    if status == "succeeded":  # Most calls have.
        return "status = 'succeeded'"
    return f"{_OF_OPEN if status in OPEN else _OF_ENDED} AND status = '{status}'"


def _single(wanted: CallFilter, cursor: str | None, unindexed: str) -> list[tuple[str, Any]]:
    return [
        ("kind = {0}", wanted.kind),
        (f"caller{unindexed} = {{0}}", wanted.caller),
        ("conversation_id = {0}", wanted.conversation_id),
        ("trace_id = {0}", wanted.trace_id),
        ("request_id = {0}", wanted.request_id),
        ("id >= {0}", None if wanted.since is None else first_id(wanted.since)),
        ("id < {0}", None if wanted.until is None else first_id(wanted.until)),
        ("id < {0}", cursor),
    ]


def first_id(seconds: float) -> str:
    """Return the smallest call id from that time on; a UUIDv7 begins with its time in milliseconds."""
    digits = f"{max(0, int(seconds * 1000)):012x}"
    return f"{digits[:8]}-{digits[8:]}"
