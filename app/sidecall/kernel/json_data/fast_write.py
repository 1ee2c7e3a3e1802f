"""Write lists and objects of common values quickly, where the outcome is known to be that of the usual way."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain
from math import isfinite
from operator import countOf
from typing import Any, Literal
from uuid import UUID

import msgspec
import orjson
from pydantic_core import to_json

# Values, and characters of texts, that are written at once: some 2 ms.
MOST_VALUES, MOST_CHARACTERS = 20_000, 1_000_000
# What needs no look at the single value.
_SIMPLE = frozenset((int, bool, type(None)))
_CONTAINERS = frozenset((list, tuple, dict))
_JSON = _SIMPLE | _CONTAINERS | {str, float}
# What pydantic writes as it does elsewhere; subclasses may say of themselves something else.
_KNOWN = _JSON | {datetime, date, time, timedelta, Decimal, UUID}
# Levels that are looked at; what goes deeper has no JSON form, or is refused soon.
_DEEPEST = 200
# Rows have as many columns at most.
_MOST_COLUMNS = 64
_SAMPLES = 64
# Between these, Python and other writers write floats with the same digits.
_SHORTEST, _LONGEST = 1e-4, 1e16

# It writes values of JSON's own types, texts as names, and integers of 64 bits, and refuses nearly all else.
_STRICT = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME

Look = Literal["plain", "known", "large", "other"]
Fits = Callable[[list[float]], bool]


def write_compact(value: Any) -> bytes | None:
    """Write a list or object as pydantic writes what `to_plain` makes of it; None for what takes a closer look."""
    look = look_through(value, _are_finite)
    try:
        if look == "plain":
            return orjson.dumps(value, option=_STRICT)
        return to_json(value, by_alias=True, bytes_mode="base64") if look == "known" else None
    except (TypeError, ValueError, OverflowError, RecursionError):  # Half characters, long integers.
        return None


def write_spaced(value: Any) -> str | None:
    """Write a list or object as Python's `json` does with its own spaces; None for what takes a closer look."""
    if look_through(value, _are_alike) != "plain":
        return None
    try:
        return msgspec.json.format(orjson.dumps(value, option=_STRICT), indent=0).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return None


def _are_finite(numbers: list[float]) -> bool:
    return isfinite(sum(numbers))


def _are_alike(numbers: list[float]) -> bool:
    least = min(numbers)
    return (
        isfinite(sum(numbers))
        and least > -_LONGEST
        and max(numbers) < _LONGEST
        and (least >= _SHORTEST or min(map(abs, filter(None, numbers)), default=1.0) >= _SHORTEST)
    )


def look_through(value: Any, fit: Fits) -> Look:
    """Return what a list or object holds: values of JSON, or others that pydantic writes in one way, or anything.

    Looked through is one level after the other and, since rows are alike, one column after the other: that takes a few
    functions in C rather than a few instructions of Python for each value. `fit` says whether these floats are plain.
    Of values of JSON the names are left to the writer, which refuses all but texts.
    """
    if type(value) in _CONTAINERS and _is_surely_large(value):
        return "large"
    found = _Found(fit)
    level, columns, left = [value], 1, MOST_VALUES
    for _ in range(_DEEPEST):
        if not level:
            return "plain" if found.kinds <= _JSON else "known" if found.has_texts_as_names() else "other"
        if not all(found.take(level[column::columns]) for column in range(columns)):
            return "other"
        objects, lists = found.pop_inside()
        left -= _estimate(objects) + _estimate(lists)
        if left < 0 or found.characters > MOST_CHARACTERS:
            return "large"
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
        columns = _count_columns(objects or lists)
    return "other"


def _count_columns(rows: list[Any]) -> int:
    """Return how many columns rows have that are like the first; what stands alone is no row."""
    return max(1, min(len(rows[0]), _MOST_COLUMNS)) if len(rows) > 1 else 1


def _is_surely_large(value: Any) -> bool:
    """Return whether its members hold too many values, if all are like the first: to look at them would be in vain."""
    first: Any = next(iter(value.values() if type(value) is dict else value), None)
    return type(first) in _CONTAINERS and len(value) * (1 + len(first)) > MOST_VALUES


def _estimate(items: list[Any]) -> int:
    """Estimate the lengths together, from some of them if they are many."""
    step = 1 + len(items) // _SAMPLES
    return step * sum(map(len, items[::step]))


class _Found:
    """What was found so far: kinds of values, characters of texts, and lists and objects to be looked into."""

    def __init__(self, fit: Fits) -> None:
        self._fit = fit
        self._objects: list[list[dict[Any, Any]]] = []
        self._lists: list[Any] = []
        self._seen = 0
        self.kinds: set[type] = set()
        self.characters = 0

    def take(self, items: list[Any]) -> bool:
        """Look at some values; return whether all are known."""
        kinds = _list_kinds(items)
        self.kinds |= kinds
        for kind in kinds - _SIMPLE:
            alike: list[Any] = items if len(kinds) == 1 else [item for item in items if type(item) is kind]
            if kind is str:
                self.characters += _estimate(alike)
            elif kind is dict:
                self._objects.append(alike)
            elif kind in _CONTAINERS:
                self._lists += alike
            elif kind not in _KNOWN or (kind is float and not self._fit(alike)):
                return False
        return True

    def pop_inside(self) -> tuple[list[Any], list[Any]]:
        """Return the objects, and the lists, that came since the last time."""
        objects = [*chain.from_iterable(self._objects[self._seen :])]
        self._seen = len(self._objects)
        lists, self._lists = self._lists, []
        return objects, lists

    def has_texts_as_names(self) -> bool:
        """Return whether nothing but texts is a name in the objects."""
        return all({str}.issuperset(map(type, set().union(*objects))) for objects in self._objects)


def _list_kinds(items: list[Any]) -> set[type]:
    """Return the types of some values; to count those that are as the first takes less than to collect all."""
    if not items:
        return set()
    kind = type(items[0])
    return {kind} if countOf(map(type, items), kind) == len(items) else set(map(type, items))
