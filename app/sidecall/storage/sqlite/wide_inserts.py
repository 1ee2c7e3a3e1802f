"""Insert several rows by one statement."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

# Rows of one statement, so that few statements are kept prepared.
_SIZES = (32, 16, 8, 4, 2)
_VALUES = re.compile(r"\bVALUES\s*\(([^()]*)\)")
_PLACEHOLDER = re.compile(r"\?(\d+)")


class NotTogether(Exception):
    """Not all rows of a statement were inserted; which of them were was not said."""


@cache
def widen(statement: str, count: int) -> str | None:
    """Return a statement that inserts so many rows instead of one; None if that is impossible."""
    values = _VALUES.search(statement)
    numbers = [] if values is None else _PLACEHOLDER.findall(values[1])
    expected = [f"{number}" for number in range(1, len(numbers) + 1)]
    if values is None or not numbers or numbers != expected or _PLACEHOLDER.findall(statement) != numbers:
        return None
    row = f"({_PLACEHOLDER.sub('?', values[1])})"
    return f"{statement[: values.start()]}VALUES {', '.join([row] * count)}{statement[values.end() :]}"


def put_together(statement: str, rows: Sequence[Sequence[Any]]) -> Iterator[tuple[str, Sequence[Any]]]:
    """Give the statements that carry out one for each of these rows, and their values: few, where it inserts them."""
    done = 0
    for size in _SIZES:
        wide = widen(statement, size) if len(rows) - done >= size else None
        while wide is not None and len(rows) - done >= size:
            yield wide, tuple(chain.from_iterable(rows[done : done + size]))
            done += size
    for row in rows[done:]:
        yield statement, row
