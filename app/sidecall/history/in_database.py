"""The history in a database."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.history.blocks import Block, make_marks, read_heads
from sidecall.history.places import BlockSearch, HistoryBounds
from sidecall.history.sums import HOUR, Sum, SummaryPart
from sidecall.ledger.sql.clauses import first_id
from sidecall.ledger.sql.database import Database, Row

# Blocks that are forgotten in one step, whose marks go with them, and seconds between two counts of what there is.
_STEP = 16
_COUNT_AGAIN = 60.0

_HAS_MARK = "SELECT 1 FROM history_marks o WHERE o.tenant = $1 AND o.last_id = b.last_id AND o.mark"


class SqlBlocks:
    """Keep blocks in one table, their marks in a second, and sums in a third."""

    def __init__(self, database: Database, bounds: HistoryBounds) -> None:
        self.database = database
        self._bounds = bounds
        self._calls = self._bytes = 0
        self._counted = 0.0
        self._swept = 0

    async def open(self) -> None:
        """Bring the tables up to date.

        Raises:
            StoreUnfit: It cannot be used by this program.
        """
        await self.database.open()

    async def close(self) -> None:
        """Write what waits, for a bounded time."""
        await self.database.close()

    async def keep(self, blocks: Sequence[Block], sums: Sequence[Sum]) -> None:
        """Keep blocks, and add to sums, in one commit."""
        rows = [(one.tenant, one.last_id, one.first_id, one.calls, one.size, one.heads, one.bodies) for one in blocks]
        marks = [(one.tenant, text, one.last_id) for one in blocks for text in one.marks]
        # In one order, so that servers that write at the same time do not wait for each other in a circle.
        await self._write_all(
            ("mark_history_block", marks), ("add_history_sum", sorted(sums)), ("keep_history_block", rows)
        )
        self._calls += sum(block.calls for block in blocks)
        self._bytes += sum(block.size for block in blocks)

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""
        statement, where, values = _write_search(search)
        rows = await self.database.read(statement, *values, where=where)
        return [(last_id, bytes(heads)) for last_id, heads in rows]

    async def read(self, tenant: str, last_ids: Sequence[str]) -> Mapping[str, bytes]:
        """Return what is kept of the calls of these blocks."""
        numbers = ", ".join(f"${number}" for number in range(2, len(last_ids) + 2))
        where = f"WHERE tenant = $1 AND last_id IN ({numbers})"
        rows = await self.database.read("read_history_bodies", tenant, *last_ids, where=where)
        return {last_id: bytes(bodies) for last_id, bodies in rows}

    async def sum_up(
        self, tenant: str, by: SummaryPart, first: int, before: int
    ) -> Sequence[tuple[str, int, int, int]]:
        """Return the sums of these hours."""
        if by == "hour":
            rows: Sequence[Any] = await self.database.read("read_history_hours", tenant, first, before)
        else:
            rows = await self.database.read("read_history_sums", tenant, by, first, before)
        return rows

    async def forget(self, now: float) -> bool:
        """Forget a few of the oldest blocks, if they are too old or there are too many."""
        bounds = self._bounds
        await self._count()
        oldest = first_id(now - bounds.ttl)
        too_old: list[Row] = []
        found = await self.database.read("list_oldest_history", _STEP)
        for row in found:
            _, _, last_id, calls, size, _ = row
            if last_id >= oldest and self._calls <= bounds.most_calls and self._bytes <= bounds.most_bytes:
                break
            too_old.append(row)
            self._calls -= calls
            self._bytes -= size
        marks = [(row[1], text, row[2]) for row in too_old for text in make_marks(read_heads(bytes(row[5])))]
        await self._write_all(("forget_history_block", [row[:1] for row in too_old]), ("forget_history_mark", marks))
        hour = int(now - bounds.ttl) // HOUR
        if hour > self._swept:
            self._swept = hour
            await self._write_all(("forget_history_sums", [(hour,)]))
        return len(too_old) == _STEP

    async def _count(self) -> None:
        """Count what there is; between two counts it is reckoned, where other servers may have changed it."""
        if not self._counted or (self.database.dialect != "sqlite" and time.monotonic() > self._counted + _COUNT_AGAIN):
            self._counted = time.monotonic()
            [(self._calls, self._bytes)] = await self.database.read("measure_history")

    async def _write_all(self, *many: tuple[str, Sequence[Row]]) -> None:
        writes = (self.database.write_all(statement, rows) for statement, rows in many if rows)
        await asyncio.gather(*writes)


def _write_search(search: BlockSearch) -> tuple[str, str, list[Any]]:
    """Write a search: its statement, the WHERE of it, and the values of its placeholders."""
    values: list[Any] = [search.wanted.tenant, search.last, search.first, search.before]
    groups = search.list_marks()
    driver = groups.pop(0) if groups and len(groups[0]) == 1 else None
    clauses = ["b.tenant = $1", "b.last_id < $2", "b.last_id >= $3", "b.first_id < $4"]
    if driver is not None:
        values.append(driver[0])
        clauses += ["m.tenant = $1", "m.mark = $5", "m.last_id = b.last_id", "m.last_id < $2", "m.last_id >= $3"]
    for group in groups:
        numbers = ", ".join(f"${number}" for number in range(len(values) + 1, len(values) + len(group) + 1))
        values += group
        clauses.append(f"EXISTS ({_HAS_MARK} IN ({numbers}))" if group else "1 = 0")
    order = "b.last_id" if driver is None else "m.last_id"
    values.append(search.most)
    statement = "find_history_blocks" if driver is None else "find_marked_history_blocks"
    return statement, f"WHERE {' AND '.join(clauses)} ORDER BY {order} DESC LIMIT ${len(values)}", values
