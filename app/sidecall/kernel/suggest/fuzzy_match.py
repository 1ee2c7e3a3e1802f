"""Fuzzy matching of misspelled names."""

import difflib
import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from heapq import nlargest
from math import log

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


# Longer names are not typos.
_MOST_LETTERS = 64
# Names that are kept reduced, those of parameters most of all.
_MOST_KNOWN = 1024

_SEPARATORS = re.compile(r"[\W_]+")

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\dA-Za-z_]+|\d+")
# Farther than any typing error.
_BY_WORDS = 3.0
# A share of letters in the same order.
_ALIKE = 0.7
# A share of letters at the beginning, which `visible` and `visibility` reach.
_BEGINS = 0.55

_VOWELS = frozenset("aeiou")


def reduce_name(name: str) -> str:
    """Reduce a name to letters and digits in lower case, so that `maxResults` and `max-results` are equal."""
    return _reduce(name[:_MOST_LETTERS])


@lru_cache(_MOST_KNOWN)
def _reduce(name: str) -> str:
    if name.isascii() and name.isidentifier():  # As most names are, for which there is a shorter way.
        return name.replace("_", "").lower()
    return _SEPARATORS.sub("", name).casefold()


def find_same(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ in case and separators only."""
    reduced = reduce_name(name)
    return [other for other in names if reduce_name(other) == reduced] if reduced else []


def find_resembling(name: str, names: Iterable[str]) -> str | None:
    """Return the name that was likely meant, or None."""
    return next(iter(find_closest_names(name, names)), None)


def find_closest_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the closest names, all at the same distance."""
    reduced = reduce_name(name)
    if not reduced:
        return []
    listed = list(names)
    # No name is as near by its words as by its letters.
    by_letters = _choose_nearest((_measure_letters(reduced, reduce_name(other)), other) for other in listed)
    if by_letters:
        return by_letters
    words = _split_words(name)
    return _choose_nearest((_measure_words(words, _split_words(other)), other) for other in listed)


def _choose_nearest(measured: Iterable[tuple[float | None, str]]) -> list[str]:
    best: list[str] = []
    least = math.inf
    for distance, other in measured:
        if distance is not None and distance <= least:
            best = [*best, other] if distance == least else [other]
            least = distance
    return best


def find_likely_name(name: str, names: Iterable[str]) -> str | None:
    """Return the closest name, or else one with the same beginning; for names that are refused in any case."""
    listed = list(names)
    alike = find_resembling(name, listed)
    if alike is not None:
        return alike
    reduced = reduce_name(name)
    shares = {other: _measure_beginning(reduced, reduce_name(other)) for other in listed}
    most = max(shares.values(), default=0.0)
    likely = [other for other in listed if shares[other] == most]
    return likely[0] if most > _BEGINS and len(likely) == 1 else None


def _measure_beginning(one: str, two: str) -> float:
    """Return the share of letters in the common beginning of two words."""
    most = min(len(one), len(two))
    first = next((place for place in range(most) if one[place] != two[place]), most)
    return 2 * first / (len(one) + len(two)) if first > 1 else 0.0


def count_shared_words(name: str, other: str) -> int:
    """Count the words that two names share."""
    return len({*_split_words(name)} & {*_split_words(other)})


def find_misspelt(name: str, names: Iterable[str]) -> str | None:
    """Return the name that differs by a few letters only, or None."""
    distances = [(distance, other) for other in names if (distance := measure_distance(name, other)) is not None]
    near = [pair for pair in distances if pair[0] < _BY_WORDS]
    return min(near, key=lambda pair: pair[0])[1] if near else None


def measure_distance(name: str, other: str) -> float | None:
    """Return the distance of two names, 0 for the same in another spelling; None if they are not similar."""
    distance = _measure_letters(reduce_name(name), reduce_name(other))
    return _measure_words(_split_words(name), _split_words(other)) if distance is None else distance


def _measure_letters(one: str, two: str) -> float | None:
    if one == two:
        return 0.0 if one else None
    edits = _count_edits(one, two, _choose_limit(one, two))
    return None if edits is None else float(edits)


def _measure_words(some: Sequence[str], others: Sequence[str]) -> float | None:
    return _BY_WORDS + abs(len(some) - len(others)) if _are_words_alike(some, others) else None


def _choose_limit(one: str, two: str) -> int:
    """Return how many edits count as a typo: none in the shortest words."""
    shorter = min(len(one), len(two))
    if shorter < 3 or (shorter < 6 and len(one) == len(two) and one[0] != two[0]):
        return 0
    return 1 if shorter < 6 else 2


def _count_edits(one: str, two: str, limit: int) -> int | None:
    """Count letters that are wrong, missing, extra or swapped with the next; None beyond the limit."""
    # An edit adds one letter and takes another at most, which rules nearly all other words out.
    if limit == 0 or abs(len(one) - len(two)) > limit or len({*one} ^ {*two}) > 2 * limit:
        return None
    one, two = _strip_shared(one, two)
    if not one or not two:
        return len(one) + len(two)
    before: list[int] = []
    last = list(range(len(two) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, other in enumerate(two, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == two[column - 2] and other == one[row - 2]:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > limit:
            return None
        before, last = last, line
    return last[-1] if last[-1] <= limit else None


def _strip_shared(one: str, two: str) -> tuple[str, str]:
    """Remove the common beginning and end of two words."""
    shorter = min(len(one), len(two))
    first = 0
    while first < shorter and one[first] == two[first]:
        first += 1
    last = 0
    while last < shorter - first and one[-1 - last] == two[-1 - last]:
        last += 1
    return one[first : len(one) - last], two[first : len(two) - last]


def _split_words(name: str) -> list[str]:
    name = name[:_MOST_LETTERS]
    if name.isascii() and name.islower() and name.replace("_", "").isalpha():  # As most names are.
        return [word for word in name.split("_") if word]
    return [word.lower() for word in _WORD.findall(name)]


def _are_words_alike(some: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether all words of one name are in the other: `max` in `max_results`, `date_from` in `from_date`."""
    fewer, more = (some, others) if len(some) <= len(others) else (others, some)
    return bool(fewer) and all(
        any(word[0] == other[0] and _is_same_word(word, other) for other in more) for word in fewer
    )


def _is_same_word(one: str, two: str) -> bool:
    if one == two:
        return True
    shorter, longer = (one, two) if len(one) <= len(two) else (two, one)
    if longer in (f"{shorter}s", f"{shorter}es", f"{shorter[:-1]}ies"):
        return True
    if len(shorter) < 3 or shorter[0] != longer[0]:
        return False
    return longer.startswith(shorter) or (not _VOWELS & set(shorter) and _is_within(shorter, longer))


def _is_within(letters: str, word: str) -> bool:
    """Return whether the letters occur in a word in this order, like `qty` in `quantity`."""
    rest = iter(word)
    return all(letter in rest for letter in letters)


def find_nearest(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that resemble this one, best first: by their letters, or else by their first word."""
    found = [(distance, other) for other in names if (distance := _measure_loosely(name, other)) is not None]
    return [other for _, other in sorted(found, key=lambda pair: pair[0])[:most]]


def _measure_loosely(name: str, other: str) -> float | None:
    distance = measure_distance(name, other)
    if distance is not None:
        return distance
    one, two = _split_words(name), _split_words(other)
    shared = sum(any(_is_same_word(word, it) for it in two) for word in one)
    if one and two and measure_distance(one[0], two[0]) is not None:
        return 20.0 - shared
    begin_alike = one and two and one[0][0] == two[0][0]
    if begin_alike and difflib.SequenceMatcher(None, reduce_name(name), reduce_name(other)).ratio() >= _ALIKE:
        return 25.0
    return 30.0 - shared if shared and shared * 2 >= min(len(one), len(two)) else None
