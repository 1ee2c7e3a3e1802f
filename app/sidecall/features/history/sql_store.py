"""The history in a database."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sidecall.features.history.blocks import Block, Piece, make_marks, read_heads
from sidecall.features.history.conversations import (
    ROWS,
    ConversationCount,
    ConversationKey,
    ConversationSearch,
    CountedConversation,
)
from sidecall.features.history.memory_store import BlockSearch, HistoryBounds
from sidecall.features.history.rollups import HOUR, HOURS_OF_DAY, OF_CALLER, FoundSum, Sum, Sums, SumSearch
from sidecall.storage.database import Database, Dialect, Row, first_id

# Blocks that are deleted in one step with their marks, and seconds between counts.
_STEP = 16

_COUNT_AGAIN = 60.0
# Each sum has a row for its hour and one for its day, so that long periods are not read hour by hour.
_UNITS = (("hour", 1), ("day", HOURS_OF_DAY))


class SqlBlocks:
    """Keep blocks in one table, their marks in a second, and sums in a third."""

    def __init__(self, database: Database, bounds: HistoryBounds) -> None:
        self.database = database
        self._bounds = bounds
        self._calls = self._bytes = 0
        self._counted = self._looked = 0.0
        self._swept = 0

    async def open(self) -> None:
        """Bring the tables up to date.

        Raises:
            StoreUnfit: The database cannot be used by this version.
        """
        await self.database.open()

    async def close(self) -> None:
        """Write what waits, for a bounded time."""
        await self.database.close()

    async def keep(
        self, blocks: Sequence[Block], sums: Sequence[Sum], counted: Sequence[CountedConversation] = ()
    ) -> None:
        """Keep blocks, and add to sums and counts of conversations, in one commit."""
        rows = [(one.tenant, one.last_id, one.first_id, one.calls, one.size, one.heads, one.bodies) for one in blocks]
        marks = [
            (one.tenant, text, one.last_id, *split_bits(bits)) for one in blocks for text, bits in one.marks.items()
        ]
        # In a fixed order, so that concurrent servers do not deadlock.
        counts = sorted(_list_counts(sums))
        await self._write_all(
            ("mark_history_block", marks),
            ("add_history_counts", counts),
            ("keep_history_block", rows),
            ("add_history_conversation", [(*key, *count) for key, count in counted]),
        )
        self._calls += sum(block.calls for block in blocks)
        self._bytes += sum(block.size for block in blocks)

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""
        statement, where, values = write_search(search, self.database.dialect)
        rows = await self.database.read(statement, *values, where=where)
        return [(last_id, bytes(heads)) for last_id, heads in rows]

    async def read(self, tenant: str, pieces: Mapping[str, Piece]) -> Mapping[str, bytes]:
        """Return these parts of blocks."""
        values: list[Any] = [tenant]
        wanted = []
        for last_id, (begin, end) in pieces.items():
            number = len(values) + 1
            wanted.append(f"(CAST(${number} AS TEXT), CAST(${number + 1} AS INTEGER), CAST(${number + 2} AS INTEGER))")
            values += (last_id, begin + 1, end - begin)
        rows = await self.database.read("read_history_bodies", *values, where=", ".join(wanted))
        return {last_id: bytes(bodies) for last_id, bodies in rows}

    async def sum_up(self, wanted: SumSearch) -> Sequence[FoundSum]:
        """Return the sums that are wanted: of whole days those of days, unless hours are told apart."""
        first, before = wanted.first, wanted.before
        first_day, before_day = -(-first // HOURS_OF_DAY), before // HOURS_OF_DAY
        if wanted.is_hourly or first_day >= before_day:
            first_day = before_day = -(-before // HOURS_OF_DAY)
        ends = (first, min(before, first_day * HOURS_OF_DAY)), (max(first, before_day * HOURS_OF_DAY), before)
        values = (wanted.tenant, first_day, before_day, *ends[0], *ends[1], int(wanted.is_hourly))
        # All parts that begin so are those of callers.
        which = "part = $9" if wanted.part is not None else "substr(part, 1, length(CAST($9 AS TEXT))) = $9"
        part = wanted.part if wanted.part is not None else OF_CALLER
        rows = await self.database.read("read_history_counts", *values, part, where=which)
        return [FoundSum(part, value, hour, span, counts) for part, value, hour, span, *counts in rows]

    async def find_conversations(self, search: ConversationSearch) -> Sequence[CountedConversation]:
        """Return conversations, the latest first."""
        tenant, whose = search.tenant, search.whose
        values = (tenant, whose, search.since, *search.before, search.most)
        rows = await self.database.read("list_history_conversations", *values)
        return [(ConversationKey(tenant, whose, row[0]), ConversationCount(*row[1:])) for row in rows]

    async def get_conversation(self, key: ConversationKey) -> ConversationCount | None:
        """Return the counts of a conversation; None if it has none."""
        rows = await self.database.read("get_history_conversation", *key)
        return ConversationCount(*rows[0]) if rows else None

    async def _forget_conversations(self, oldest: float) -> None:
        """Delete those without a call since then, and the oldest of too many."""
        if time.monotonic() < self._looked + _COUNT_AGAIN:
            return
        self._looked = time.monotonic()
        rows = await self.database.read("find_surplus_conversation", ROWS * self._bounds.most_calls)
        until = max([oldest, *(last for (last,) in rows)])
        await self._write_all(("forget_history_conversations", [(until,)]))

    async def forget(self, now: float) -> bool:
        """Forget a few of the oldest blocks, if they are too old or there are too many."""
        bounds = self._bounds
        oldest = first_id(now - bounds.ttl)
        too_old: list[Row] = []
        found = await self.database.read("list_oldest_history", _STEP)
        # Last, so that what another server deletes meanwhile is not counted.
        await self._count()
        for row in found:
            _, _, last_id, calls, size, _ = row
            if last_id >= oldest and not bounds.can_spare(self._calls - calls, self._bytes - size):
                break
            too_old.append(row)
            self._calls -= calls
            self._bytes -= size
        marks = [(row[1], text, row[2]) for row in too_old for text in make_marks(read_heads(bytes(row[5])))]
        await self._write_all(("forget_history_block", [row[:1] for row in too_old]), ("forget_history_mark", marks))
        await self._forget_conversations(now - bounds.ttl)
        return await self._forget_counts(int(now - bounds.ttl) // HOUR) or len(too_old) == _STEP

    async def _forget_counts(self, hour: int) -> bool:
        """Delete the sums of the oldest hour and day if they end before this hour; return whether there may be more."""
        if hour <= self._swept:
            return False
        too_old: list[Row] = []
        for unit, hours in _UNITS:
            [(oldest,)] = await self.database.read("find_oldest_history_counts", unit)
            if oldest is not None and oldest * hours < hour:
                too_old.append((unit, oldest))
        await self._write_all(("forget_history_counts", too_old))
        if not too_old:
            self._swept = hour
        return bool(too_old)

    async def _count(self) -> None:
        """Count blocks and bytes; in between they are estimated, unless a bound seems exceeded."""
        is_stale = time.monotonic() > self._counted + _COUNT_AGAIN or self._bounds.can_spare(self._calls, self._bytes)
        if not self._counted or (self.database.is_shared and is_stale):
            self._counted = time.monotonic()
            [(self._calls, self._bytes)] = await self.database.read("measure_history")

    async def _write_all(self, *many: tuple[str, Sequence[Row]]) -> None:
        writes = (self.database.write_all(statement, rows) for statement, rows in many if rows)
        await asyncio.gather(*writes)


def _list_counts(sums: Sequence[Sum]) -> Iterator[Row]:
    """Yield the rows of sums, of their hours and of their days."""
    days = Sums()
    days.add(Sum(key._replace(hour=key.hour // HOURS_OF_DAY), counts) for key, counts in sums)
    for unit, counted in (("hour", sums), ("day", list(days.items()))):
        for (tenant, part, period, value, span), counts in counted:
            yield (tenant, part, unit, period, value, span, *counts)


# A block has as many calls as these columns have bits.
_COLUMNS = 4

_COLUMN_BITS = 64


def split_bits(bits: int) -> tuple[int, ...]:
    """Return the bits of a mark in the columns of its row, which have a sign."""
    parts = bits.to_bytes(_COLUMNS * _COLUMN_BITS // 8, "little")
    size = _COLUMN_BITS // 8
    return tuple(int.from_bytes(parts[at : at + size], "little", signed=True) for at in range(0, len(parts), size))


# Traces and requests are of few calls each, so their columns are looked through: a mark would be a row for each call.
_CONTAINS: Mapping[Dialect, str] = {
    "sqlite": "instr(b.heads, CAST({0} AS BLOB)) > 0",
    "postgres": "position(CAST({0} AS bytea) IN b.heads) > 0",
}


def write_search(search: BlockSearch, dialect: Dialect) -> tuple[str, str, list[Any]]:
    """Return a search: its statement, its WHERE clause, and the values of its placeholders."""
    values: list[Any] = [search.wanted.tenant, search.last, search.first, search.before]
    groups = search.list_marks()
    driver = groups.pop(0) if groups and len(groups[0]) == 1 else None
    place, marks = "b.last_id", list[str]()
    if driver is not None:
        values.append(driver[0])
        place, marks = "m.last_id", ["m"]
    # No range of ids together with a mark, or the database might read all blocks of the range for each mark.
    clauses = ["b.tenant = $1", f"{place} < $2", f"{place} >= $3", "b.first_id < $4"]
    if driver is not None:
        clauses += ["m.tenant = $1", "m.mark = $5", "b.last_id = m.last_id"]
    if groups:
        clauses.append(_write_groups(groups, place, marks, values))
    for text in search.list_texts():
        values.append(text)
        clauses.append(_CONTAINS[dialect].format(f"${len(values)}"))
    values.append(search.most)
    statement = "find_history_blocks" if driver is None else "find_marked_history_blocks"
    return statement, f"WHERE {' AND '.join(clauses)} ORDER BY {place} DESC LIMIT ${len(values)}", values


def _write_groups(groups: Sequence[tuple[str, ...]], place: str, marks: Sequence[str], values: list[Any]) -> str:
    """Write that one call of a block has a mark of each of these groups, including those that are joined already."""
    group, *rest = groups
    if not group:
        return "1 = 0"
    numbers = ", ".join(f"${number}" for number in range(len(values) + 1, len(values) + len(group) + 1))
    values += group
    own = f"o{len(groups)}"
    clauses = [f"{own}.tenant = $1", f"{own}.last_id = {place}", f"{own}.mark IN ({numbers})"]
    if rest:
        clauses.append(_write_groups(rest, place, [*marks, own], values))
    elif marks:
        columns = (" & ".join(f"{mark}.bits{column}" for mark in [*marks, own]) for column in range(_COLUMNS))
        clauses.append(f"({' | '.join(f'({column})' for column in columns)}) <> 0")
    return f"EXISTS (SELECT 1 FROM history_marks {own} WHERE {' AND '.join(clauses)})"  # noqa: S608  words of our own
