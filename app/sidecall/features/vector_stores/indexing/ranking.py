"""Merge rankings, without letting one file dominate."""

import math
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import mul
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
# The factor for each further piece of a file, so that one file does not fill the result.
_FURTHER = 0.85
# The constant of reciprocal rank fusion, as in the paper.
_EVEN = 60


def to_share(score: float) -> float:
    """Map unbounded scores to a score between 0 and 1 in the same order; it is not a probability."""
    return round(score / (1 + score), 4) if score > 0 else 0.0


def spread(found: Iterable[T], name: Callable[[T], Hashable], score: Callable[[T], float]) -> list[T]:
    """Order by scores, lowering each further piece of the same name."""
    seen: Counter[Hashable] = Counter()
    worth: list[tuple[float, T]] = []
    for one in sorted(found, key=lambda it: -score(it)):
        worth.append((score(one) * _FURTHER ** seen[name(one)], one))
        seen[name(one)] += 1
    return [one for _, one in sorted(worth, key=lambda it: -it[0])]


def fuse(orders: Iterable[tuple[float, Sequence[K]]]) -> dict[K, float]:
    """Merge ranked lists by weighted reciprocal ranks into scores from 0 to 1."""
    scores: dict[K, float] = {}
    whole = 0.0
    for weight, order in orders:
        whole += weight
        for rank, one in enumerate(order, 1):
            scores[one] = scores.get(one, 0.0) + weight * (_EVEN + 1) / (_EVEN + rank)
    return {one: score / whole for one, score in scores.items()} if whole else {}


def pack_vector(values: Sequence[float]) -> bytes:
    """Return a normalized vector as bytes, so that a dot product is the cosine."""
    length = math.sqrt(sum(map(mul, values, values))) or 1.0
    return array("f", (value / length for value in values)).tobytes()


def find_nearest_vectors(wanted: bytes, vectors: Mapping[K, bytes], most: int) -> list[K]:
    """Return the vectors nearest to one, nearest first; vectors of other lengths are left out."""
    to = array("f", wanted)
    scores = {key: sum(map(mul, to, array("f", it))) for key, it in vectors.items() if len(it) == len(wanted)}
    return sorted(scores, key=lambda key: -scores[key])[:most]
