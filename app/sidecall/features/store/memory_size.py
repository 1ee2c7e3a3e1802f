"""Measure the memory of values."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

_PLAIN = frozenset((str, bytes, int, float, bool, type(None)))


def weigh(*values: Any) -> int:
    """Return the bytes of values and everything that they hold; shared objects count once."""
    seen: set[int] = set()
    size = 0
    left = list(values)
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        size += sys.getsizeof(value, 64)
        if type(value) not in _PLAIN:
            left.extend(_parts(value))
    return size


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from value.keys()
        yield from value.values()
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from value
    yield from getattr(value, "__dict__", {}).values()
    yield from (getattr(value, name, None) for kind in type(value).__mro__ for name in _slots(kind))


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
