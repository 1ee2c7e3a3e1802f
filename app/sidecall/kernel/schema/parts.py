"""Cut large JSON values: parts keep the places of what is in them."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

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


class Whole:
    """A value that is cut, with the number of values in it."""

    def __init__(self, value: Any) -> None:
        self._value = value
        # Where the members of what is large end, by its identity.
        self._ends: dict[int, list[int]] = {}
        self.size = self._measure(value)

    def _measure(self, value: Any) -> int:
        if type(value) not in _CONTAINERS:
            return 1
        members = value.values() if type(value) is dict else value
        sizes = [1 if type(it) not in _CONTAINERS else self._measure(it) for it in members]
        size = 1 + sum(sizes)
        if size > _SMALL:
            self._ends[id(value)] = list(accumulate(sizes))
        return size

    def cut(self, begin: int, end: int) -> Part:
        """Copy the part between two values, counted in the order in which they are written.

        Members of a list that end before `begin` are left out, so that others have other places; with a `begin` of 0
        all keep theirs. Objects with few names keep them, with lists and objects in them that may be empty.
        """
        if begin <= 0 and end >= self.size:
            return Part(self._value)
        cut: list[Path] = []
        return Part(self._cut(self._value, begin, end, (), cut), cut)

    def _cut(self, value: Any, begin: int, end: int, path: Path, cut: list[Path]) -> Any:
        ends = self._ends.get(id(value))
        if ends is None:
            return value
        if begin <= 0 and end >= ends[-1]:
            return value
        cut.append(path)
        if begin >= ends[-1] or end <= 0:
            return type(value)()
        names = list(value) if type(value) is dict else range(len(value))
        members = list(value.values()) if type(value) is dict else value
        first, last = 0, len(members)
        if type(value) is list or len(value) > _SMALL:
            first = bisect_right(ends, begin) if begin > 0 else 0
            # With the one in which the part ends, if that can be cut.
            last = bisect_right(ends, end)
            last += last < len(members) and id(members[last]) in self._ends
        taken = members[first:last]
        for index in range(first, last):
            if id(members[index]) in self._ends:
                before = ends[index - 1] if index else 0
                inner = (*path, names[index])
                taken[index - first] = self._cut(members[index], begin - before, end - before, inner, cut)
        return dict(zip(names[first:last], taken, strict=True)) if type(value) is dict else taken
