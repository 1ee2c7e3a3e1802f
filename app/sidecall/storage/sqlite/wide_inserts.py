"""Insert several rows by one statement."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial
from itertools import chain, compress, repeat
from operator import ne
from typing import Any

# Rows of one statement, so that few statements are kept prepared.
_SIZES = (32, 16, 8, 4, 2)
_VALUES = re.compile(r"\bVALUES\s*\(([^()]*)\)")
_PLACEHOLDER = re.compile(r"\?(\d+)")


class NotTogether(Exception):
    """Not all rows of a statement changed something; which of them did was not said."""


@cache
def inserts_rows(statement: str) -> bool:
    """Return whether a statement inserts just the row of its values, so that it can insert several."""
    values = _VALUES.search(statement)
    numbers = [] if values is None else _PLACEHOLDER.findall(values[1])
    expected = [f"{number}" for number in range(1, len(numbers) + 1)]
    return bool(numbers) and numbers == expected and _PLACEHOLDER.findall(statement) == numbers


@lru_cache(maxsize=256)
def widen(statement: str, count: int, are_given: tuple[bool, ...]) -> str:
    """Return a statement that inserts so many rows instead of one, with values by column; NULL where none is given."""
    values = _VALUES.search(statement)
    assert values is not None
    before = [sum(are_given[:column]) * count for column in range(len(are_given))]

    def name(row: int, found: re.Match[str]) -> str:
        column = int(found[1]) - 1
        return f"?{before[column] + row}" if are_given[column] else "NULL"

    rows = [f"({_PLACEHOLDER.sub(partial(name, row), values[1])})" for row in range(1, count + 1)]
    return f"{statement[: values.start()]}VALUES {', '.join(rows)}{statement[values.end() :]}"


def put_together(statement: str, rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Give the statements that carry out one for each of these rows, and their values: few, where it inserts them."""
    done = 0
    if inserts_rows(statement):
        for size in _SIZES:
            nothing = (None,) * size
            while len(rows) - done >= size:
                columns = [*zip(*rows[done : done + size], strict=True)]
                # What is None in all of them is not bound: Python looks for what adapts each.
                are_given = tuple(map(ne, columns, repeat(nothing)))
                yield widen(statement, size, are_given), tuple(chain.from_iterable(compress(columns, are_given)))
                done += size
    for row in rows[done:]:
        yield statement, row
