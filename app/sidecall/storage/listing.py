"""Read calls in pages that are limited in size."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sidecall.features.calls.entry import PAGE_CHARACTERS, CallFilter
from sidecall.storage.clauses import write_where
from sidecall.storage.database import Database, Row

# Where these columns stand in the rows of a list.
_ARGS, _DECISION, _MESSAGE, _LEFT_OUT = 12, 15, 17, 18

# What lists calls, and what reads the texts that it leaves out.
_WITH_ANSWERS = ("list_whole_calls", "read_call_texts")
_WITHOUT = ("list_calls", "read_call_args")


@dataclass(frozen=True, slots=True)
class RowPage:
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
