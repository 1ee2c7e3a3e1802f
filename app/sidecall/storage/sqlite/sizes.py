"""The space that values to be written will take."""

from collections.abc import Sequence
from typing import Any

from sidecall.storage.database import Row

# Bytes that an order takes in pages of its own, apart from its data.
_PAGES = 8 * 4096


def measure(values: Row) -> int:
    """Return the approximate bytes of a queued row.

    Raises:
        TypeError: A value of it cannot be written.
    """
    size = 0
    for value in values:
        if type(value) is str or type(value) is bytes:
            size += len(value)
        elif value is not None and not isinstance(value, (int, float, str, bytes)):
            raise TypeError(f"A {type(value).__name__} cannot be written into a database.")
    return size


def measure_pages(group: Sequence[tuple[str, Any, str]]) -> int:
    """Return the approximate bytes of a group's orders in a file."""
    rows = [row for _, values, kind in group for row in (values if kind == "many" else [values])]
    return len(rows) * _PAGES + sum(len(value) for row in rows for value in row if isinstance(value, (str, bytes)))
