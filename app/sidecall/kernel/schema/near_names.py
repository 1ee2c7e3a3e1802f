"""Find names that are almost the same, among thousands: few pairs are compared in full."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

# Percent of two names that have to be the same.
_NEAR = 88
# Bits for each sign: as many are set as the name has of that sign.
_WIDTH = 4
_SIGNS = 128


def find_near_names(names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each name that is almost the same as earlier ones, with those."""
    plain = [name.lower().replace("-", "_") for name in names]
    counts, sizes = [_count_signs(name) for name in plain], [len(name) for name in plain]
    matcher = difflib.SequenceMatcher(None)
    for at, name in enumerate(plain):
        count, size = counts[at], len(name)
        # Names with more signs that the other lacks cannot be near, in whichever order these stand.
        alike = [
            earlier
            for earlier in range(at)
            if (count ^ counts[earlier]).bit_count() * 100 <= (size + sizes[earlier]) * (100 - _NEAR)
        ]
        matcher.set_seq2(name)
        if near := [names[earlier] for earlier in alike if _is_near(matcher, plain[earlier], name)]:
            yield names[at], near


def _is_near(matcher: difflib.SequenceMatcher[str], one: str, other: str) -> bool:
    if _count_common(one, other) * 200 < (len(one) + len(other)) * _NEAR:
        return False
    matcher.set_seq1(one)
    return matcher.ratio() * 100 >= _NEAR


def _count_signs(name: str) -> int:
    bits = 0
    for sign, times in Counter(name).items():
        bits |= ((1 << min(times, _WIDTH)) - 1) << (ord(sign) % _SIGNS * _WIDTH)
    return bits


def _count_common(one: str, other: str) -> int:
    """Return the length of the longest common subsequence, found for all places of a name at once (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for at, sign in enumerate(one):
        places[sign] = places.get(sign, 0) | 1 << at
    mask = row = (1 << len(one)) - 1
    for sign in other:
        found = row & places.get(sign, 0)
        row = ((row + found) | (row - found)) & mask
    return len(one) - row.bit_count()
