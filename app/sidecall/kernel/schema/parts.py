"""Cut large JSON values: parts keep the places of what is in them."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

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
