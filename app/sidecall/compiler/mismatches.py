"""List what does not fit a JSON Schema, of large values in steps and only as far as it is told.

The validator lists all errors of a value at once, with those of each member of each union, while all other threads
wait: 16,000 objects that fit none of 30 forms take it nine seconds. Whether a value fits it knows within milliseconds.
So it gets the beginning of a value here, and more of it until there are enough errors.
"""

import threading
from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from sidecall.kernel.core.field_errors import MOST_FIELDS
from sidecall.kernel.json_data.text import pause_collector

_CONTAINERS = (list, dict)
# What has fewer values is not cut.
_SMALL = 64
Path = tuple[str | int, ...]


class Part:
    """A part of a value, and the places of what is not whole in it."""

    __slots__ = ("cut", "value")

    def __init__(self, value: Any, cut: Sequence[Path] = ()) -> None:
        self.value = value
        self.cut = cut

    def is_cut(self, place: Sequence[str | int]) -> bool:
        """Return whether the value at a place, or something in it, is not whole."""
        steps = [str(step) for step in place]
        return any(steps == [str(step) for step in path[: len(steps)]] for path in self.cut if len(steps) <= len(path))


class _Members(NamedTuple):
    """The members of a large list or object, and how many values there are up to the end of each."""

    names: Sequence[str | int]
    values: list[Any]
    ends: list[int]


class Whole:
    """A value that is cut, with the number of values in it."""

    def __init__(self, value: Any) -> None:
        self._value = value
        self._large: dict[int, _Members] = {}
        self.size = self._measure(value)

    def _measure(self, value: Any) -> int:
        if type(value) not in _CONTAINERS:
            return 1
        values = list(value.values()) if type(value) is dict else value
        sizes = [1 if type(it) not in _CONTAINERS else self._measure(it) for it in values]
        size = 1 + sum(sizes)
        if size > _SMALL:
            names = list(value) if type(value) is dict else range(len(value))
            self._large[id(value)] = _Members(names, values, list(accumulate(sizes)))
        return size

    def cut(self, begin: int, end: int, *, keeps_indexes: bool = False) -> Part:
        """Copy the part between two values, counted in the order in which they are written.

        Objects with few names keep them, with lists and objects in them that may be empty.

        Args:
            begin: After how many values it begins.
            end: After how many values it ends.
            keeps_indexes: Whether lists are whole from their beginning, so that members keep their places.
        """
        if begin <= 0 and end >= self.size:
            return Part(self._value)
        cut: list[Path] = []
        return Part(self._cut(self._value, (begin, end), (), cut, keeps_indexes), cut)

    def _cut(self, value: Any, span: tuple[int, int], path: Path, cut: list[Path], keeps_indexes: bool) -> Any:
        large = self._large.get(id(value))
        if large is None:
            return value
        begin, end = (0, span[1]) if keeps_indexes and type(value) is list else span
        names, values, ends = large
        if begin <= 0 and end >= ends[-1]:
            return value
        cut.append(path)
        if span[0] >= ends[-1] or end <= 0:
            return type(value)()
        first, last = 0, len(values)
        if type(value) is list or len(values) > _SMALL:
            first = bisect_right(ends, begin) if begin > 0 else 0
            # With the one in which the part ends, if that can be cut.
            last = bisect_right(ends, end)
            last += last < len(values) and id(values[last]) in self._large
        taken = values[first:last]
        for index in range(first, last):
            if id(values[index]) in self._large:
                before = ends[index - 1] if index else 0
                inner = begin - before, end - before
                taken[index - first] = self._cut(values[index], inner, (*path, names[index]), cut, keeps_indexes)
        return dict(zip(names[first:last], taken, strict=True)) if type(value) is dict else taken


# How many errors are made at once, with those of members of unions, as far as that can be known beforehand; once there
# are as many, no more are looked for.
_MOST_AT_ONCE = 2_000
# How many values are looked at in one step, and in how many steps a value is gone through at most.
_SMALLEST, _LARGEST = 64, 256
_MOST_STEPS = 400
# One thread at a time lists errors, so that the event loop waits for one of them and not for each.
_LISTING = threading.Lock()
# This keyword has an error for each name, and each repeats the whole object.
_OF_NAME = "propertyNames"


class Mismatches(NamedTuple):
    """Errors of a value, and whether these are all."""

    errors: list[Any]
    is_whole: bool


def list_mismatches(validator: Any, given: Any) -> Mismatches:
    """List the errors of a value, `MOST_FIELDS` and one more at most.

    Raises:
        ValueError: It has what JSON has not.
    """
    if validator.is_valid(given):
        return Mismatches([], is_whole=True)
    whole = Whole(given)
    begin, end = 0, _find_first(validator, whole)
    found: dict[Any, Any] = {}
    while True:
        is_last = end >= whole.size
        if is_last or not begin or not validator.is_valid(whole.cut(begin, end).value):
            # What concerns a list or object as a whole is said at last.
            is_whole = is_last and not any(it.kind.name == _OF_NAME for it in found.values())
            part = whole.cut(0 if is_whole else begin, end, keeps_indexes=True)
            with _LISTING, pause_collector():
                listed = list(validator.iter_errors(part.value))
            found |= {_name(it): it for it in listed if it.kind.name == _OF_NAME or not part.is_cut(it.instance_path)}
            is_much = any(sum(map(_weigh, them)) > _MOST_AT_ONCE for them in (listed, found.values()))
            if is_last or is_much or len(found) > MOST_FIELDS:
                break
        begin, end = end, end + _choose_step(found.values(), whole.size)
    # What is said of something that was cut may not hold of the whole, but the whole does not fit.
    return Mismatches((list(found.values()) or listed)[: MOST_FIELDS + 1], is_last and not is_much)


def _find_first(validator: Any, whole: Whole) -> int:
    """Return how much of a value has to be looked at, since what is before that fits."""
    begin, end = 0, whole.size
    while end - begin > _SMALLEST:
        middle = (begin + end) // 2
        if validator.is_valid(whole.cut(0, middle).value):
            begin = middle
        else:
            end = middle
    return end


def _choose_step(found: Collection[Any], size: int) -> int:
    weight = max(map(_weigh, found), default=1)
    return max(_SMALLEST, min(_LARGEST, _MOST_AT_ONCE // weight), size // _MOST_STEPS)


def _name(error: Any) -> tuple[Any, ...]:
    """Name an error, so that it is told once: the beginning of a list is looked at again with each part of it."""
    about = error.kind.error.instance if error.kind.name == _OF_NAME else getattr(error.kind, "property", None)
    return tuple(error.instance_path), tuple(error.schema_path), str(about)


def _weigh(error: Any) -> int:
    """Count an error, those of members of unions, and the names that it lists."""
    names = len(getattr(error.kind, "unexpected", ()))
    return 1 + names + sum(len(faults) for faults in getattr(error.kind, "context", ()))
