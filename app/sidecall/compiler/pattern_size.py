"""Tell how large a regular expression becomes once its counted repetitions are written out."""

import math
import re
from dataclasses import dataclass

# A class and a property may hold braces; a bracket in a class opens another. Spaces may stand in a count.
_PARTS = re.compile(
    r"(?P<escaped>\\[pPxuU]\{[^}]*\}|\\[pP].|\\.)|(?P<count>\{\s*(?P<least>\d*)\s*(?P<comma>,?)\s*(?P<most>\d*)\s*\})"
    r"|(?P<mark>[*+?])|(?P<begin>\(\??)|(?P<end>\))|(?P<bracket>\[)|(?P<or>\|)|(?P<space>\s)|(?P<other>.)",
    re.S,
)
_IGNORES_SPACE = re.compile(r"\(\?[a-zA-Z-]*x")
# A class of so many characters is as large as several of them.
_UNICODE = re.compile(r"\\(?:[pP](?:\{[^}]*\})?|[wW])")
_WEIGHT = 4


def measure_growth(pattern: str) -> int:
    """Return by how much the pattern grows when its counted repetitions and its Unicode classes are written out."""
    once = _PARTS.sub(lambda part: "" if part["count"] else part[0], _UNICODE.sub(".", pattern))
    return measure_pattern(pattern) - measure_pattern(once)


def measure_pattern(pattern: str) -> int:
    """Return how many characters and classes the pattern has, each as often as it is repeated; rather too many."""
    if "#" in pattern and _IGNORES_SPACE.search(pattern):
        # What is a comment depends on the groups, so each count is taken to be about everything.
        return math.prod((_count(part) for part in _PARTS.finditer(pattern) if part["count"]), start=len(pattern))
    groups = [_Group()]
    place = 0
    while place < len(pattern):
        part = _PARTS.match(pattern, place)
        assert part is not None
        place = _end_class(pattern, part.end()) if part["bracket"] else part.end()
        weight = _WEIGHT if _UNICODE.search(pattern, part.start(), place) else 1
        if part["begin"]:
            groups.append(_Group())
        elif part["end"] and len(groups) > 1:
            size = max(groups.pop().size, 1)
            groups[-1].add(size)
        else:
            groups[-1].take(part, weight)
    return sum(group.size for group in groups)


@dataclass(slots=True)
class _Group:
    """How much a group has, and how much of that a count which follows repeats."""

    size: int = 0
    last: int = 0

    def add(self, size: int) -> None:
        self.size, self.last = self.size + size, size

    def take(self, part: re.Match[str], weight: int) -> None:
        if part["count"]:
            times = _count(part)
            self.size, self.last = self.size + self.last * (times - 1), self.last * times
        elif part["space"]:  # It may be ignored, so that a count after it is about what stands before it.
            self.size, self.last = self.size + 1, self.last + 1
        elif part["or"]:
            self.last = 0
        elif not part["mark"]:
            self.add(weight)


def _count(part: re.Match[str]) -> int:
    least = int(part["least"] or 0)
    return max(int(part["most"]) if part["most"] else least + bool(part["comma"]), 1)


def _end_class(pattern: str, place: int) -> int:
    """Return where the class ends whose bracket stands before this place."""
    depth = 1
    first = place + pattern.startswith("^", place)
    while depth and place < len(pattern):
        character = pattern[place]
        if character == "\\":
            place += 1
        elif character == "[":
            depth += 1
            first = place + 1 + pattern.startswith("^", place + 1)
        elif character == "]" and place != first:
            depth -= 1
        place += 1
    return place
