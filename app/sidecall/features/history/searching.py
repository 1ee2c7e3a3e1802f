"""Searches for blocks in SQL."""

from collections.abc import Sequence
from typing import Any

from sidecall.features.history.stores import BlockSearch

# A block has as many calls as these columns have bits.
_COLUMNS = 4
_COLUMN_BITS = 64


def split_bits(bits: int) -> tuple[int, ...]:
    """Return the bits of a mark in the columns of its row, which have a sign."""
    parts = bits.to_bytes(_COLUMNS * _COLUMN_BITS // 8, "little")
    size = _COLUMN_BITS // 8
    return tuple(int.from_bytes(parts[at : at + size], "little", signed=True) for at in range(0, len(parts), size))


def write_search(search: BlockSearch) -> tuple[str, str, list[Any]]:
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
