"""Find similar names among very many, without comparing with each."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import log

from sidecall.kernel.suggest.fuzzy_match import find_nearest, find_resembling, reduce_name

# So few names are all compared letter by letter, and of more names the best few.
_FEW = 50
_BEST = 16
# How many places of pieces in names are looked at to choose those.
_MOST_LOOKS = 1000
# In short names a slip leaves none of the longer pieces as they were.
_SHORT = 10


class NameIndex:
    """An index of names by their bigrams and trigrams.

    It is built at the first look-up, if there are many names.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._places: dict[str, array[int]] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether look-ups need not build the index."""
        return self._places is not None or len(self.names) <= _FEW

    def make_ready(self) -> "dict[str, array[int]]":
        """Build the index, which takes long for thousands of names."""
        if self._places is None:
            self._places = _find_places(self.names)
        return self._places

    def find_nearest(self, name: str) -> list[str]:
        """Return the few names that resemble a name, best first."""
        return find_nearest(name, self.choose(name))

    def find_resembling(self, name: str) -> str | None:
        """Return the name that was likely meant, or None."""
        return find_resembling(name, self.choose(name))

    def choose(self, name: str) -> Sequence[str]:
        """List the names worth comparing: those that share its rarest n-grams; all if there are few."""
        if len(self.names) <= _FEW:
            return self.names
        places_of = self._places or self.make_ready()
        shares: defaultdict[int, float] = defaultdict(float)
        looks = _MOST_LOOKS
        for places in sorted((places_of[it] for it in {*_cut(name)} if it in places_of), key=len):
            share = log(1 + len(self.names) / len(places))
            for place in places[:looks]:
                shares[place] += share
            looks -= len(places)
            if looks <= 0:
                break
        chosen = nlargest(_BEST, shares, key=shares.__getitem__)
        return [self.names[place] for place in sorted(chosen)]


def _find_places(names: Sequence[str]) -> dict[str, "array[int]"]:
    places: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    for place, name in enumerate(names):
        for piece in {*_cut(name)}:
            places[piece].append(place)
    return dict(places)


def _cut(name: str) -> Iterator[str]:
    """Cut a name into its n-grams, with marks for beginning and end."""
    marked = f"^{reduce_name(name)}$"
    for length in (2, 3) if len(marked) <= _SHORT + 2 else (3,):
        yield from (marked[start : start + length] for start in range(len(marked) - length + 1))
