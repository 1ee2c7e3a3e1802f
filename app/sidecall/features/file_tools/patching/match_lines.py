"""Match the hunks of a patch with the lines of a file."""

import difflib
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from sidecall.features.file_tools.patching.hunks import Hunk, HunkLine, PatchRefused, quote_line


class MatchPass(NamedTuple):
    """A way to compare lines: its name for the model, and the part of a line that has to be equal."""

    words: str
    key: Callable[[str], str]
    drops_indent: bool = False


_FOLDS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "),
}
_TABLE = str.maketrans(_FOLDS)


def fold(text: str) -> str:
    """Replace typographic dashes, quotes and spaces by plain ones, and strip the text."""
    return text.translate(_TABLE).strip()


EXACT = MatchPass("exact", str)
FOLDED = MatchPass("typographic dashes, quotes and spaces taken for plain ones", fold, drops_indent=True)
PASSES = (
    EXACT,
    MatchPass("spaces at the ends of lines ignored", str.rstrip),
    MatchPass("indentation ignored", str.strip, drops_indent=True),
    FOLDED,
)
# Few characters can be distinguished anyway.
_MOST_PASSES = 1000


class LineView:
    """The lines of a file as one pass compares them.

    Blocks of lines are searched in one joined text, which stays fast when a file repeats itself.
    """

    def __init__(self, lines: Sequence[str], how: MatchPass) -> None:
        self.lines = [how.key(line) for line in lines]
        self._key = how.key
        self._text = "\n".join(["", *self.lines, ""])
        self._starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))

    def find(self, block: Sequence[str], start: int = 0) -> list[int]:
        """List the places of a block of lines, from a line on; at most a thousand."""
        return list(self._find(block, start)) if block else []

    def _find(self, block: Sequence[str], start: int) -> Iterator[int]:
        wanted = "\n".join(["", *map(self._key, block), ""])
        position = self._starts[start] if start < len(self._starts) else -1
        for _ in range(_MOST_PASSES):
            position = self._text.find(wanted, position) if position >= 0 else -1
            if position < 0:
                return
            yield bisect_left(self._starts, position)
            position += 1


class HunkPlace(NamedTuple):
    """The place of a hunk: its first line (from 0), the pass that matched, and a note about it."""

    start: int
    length: int
    how: MatchPass
    note: str = ""


class HunkFinder:
    """Finds the places of one file's hunks, in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._views: dict[str, LineView] = {}
        self._taken: list[tuple[Hunk, HunkPlace]] = []

    def find(self, hunk: Hunk) -> HunkPlace:
        """Find the place of the next hunk.

        Raises:
            PatchRefused: It has no place, or several.
        """
        place = self._find_block(hunk) if hunk.old else self._find_gap(hunk)
        self._taken.append((hunk, place))
        return place

    @property
    def _cursor(self) -> int:
        return self._taken[-1][1].start + self._taken[-1][1].length if self._taken else 0

    def _view(self, how: MatchPass) -> LineView:
        if how.words not in self._views:
            self._views[how.words] = LineView(self._lines, how)
        return self._views[how.words]

    def _find_block(self, hunk: Hunk) -> HunkPlace:
        wanted = [line.text for line in hunk.old]
        anchored = self._find_anchors(hunk)
        for how in PASSES:
            view = self._view(how)
            found = view.find(wanted, self._cursor)
            if hunk.hint is not None and len(found) > 1:
                # Those near the line number, where the first thousand do not reach it.
                found = sorted({*found, *view.find(wanted, max(self._cursor, hunk.hint - 500))})
            if anchored:
                after = (next((place for place in found if place >= anchor), None) for anchor in anchored)
                found = sorted({place for place in after if place is not None})
            if found:
                return self._choose(hunk, found, how)
        raise PatchRefused(self._explain(hunk, wanted, anchored))

    def _choose(self, hunk: Hunk, found: list[int], how: MatchPass) -> HunkPlace:
        length, note = len(hunk.old), ""
        if hunk.is_at_end:
            ends = [place for place in found if place + length == len(self._lines)]
            note = "" if ends else "not at the end of the file, as the patch says"
            found = ends or found
        if len(found) > 1 and hunk.hint is not None:
            wanted = hunk.hint - 1
            found = sorted(found, key=lambda place: abs(place - wanted))
            if abs(found[0] - wanted) < abs(found[1] - wanted):
                return HunkPlace(found[0], length, how, "the nearest to the line number in the patch")
        if len(found) > 1:
            raise PatchRefused(_describe_several(hunk, found))
        return HunkPlace(found[0], length, how, note)

    def _find_gap(self, hunk: Hunk) -> HunkPlace:
        """Find where lines belong that have no others around them."""
        anchored = self._find_anchors(hunk)
        if len(anchored) > 1:
            raise PatchRefused(_describe_several(hunk, anchored))
        if anchored:
            return HunkPlace(max(anchored[0] + 1, self._cursor), 0, PASSES[0], "after its anchor")
        if hunk.hint is not None and not hunk.is_at_end and hunk.hint - 1 <= len(self._lines):
            start = max(hunk.hint - 1, 0)
            if start < self._cursor:
                raise PatchRefused(self._describe_order(hunk, start))
            return HunkPlace(start, 0, PASSES[0], "by its line number")
        note = "" if hunk.is_at_end or not self._lines else "without context, so at the end of the file"
        return HunkPlace(len(self._lines), 0, PASSES[0], note)

    def _find_anchors(self, hunk: Hunk) -> list[int]:
        """List the lines that match a hunk's anchors; none if it has no anchor."""
        if not hunk.anchors:
            return []
        first, *inner = hunk.anchors
        # Several hunks may share an anchor.
        outer = self._find_anchor(first, self._cursor) or self._find_anchor(first, 0)
        if not outer:
            raise PatchRefused(_describe_anchor(hunk, first, ""))
        places = set(outer)
        for anchor in inner:
            below = self._find_anchor(anchor, min(places) + 1)
            found = {below[index] for index in (bisect_right(below, place) for place in places) if index < len(below)}
            if not found:
                raise PatchRefused(_describe_anchor(hunk, anchor, f" below line {min(places) + 1}"))
            places = found
        return sorted(places)

    def _find_anchor(self, anchor: str, start: int) -> list[int]:
        for text in (anchor, anchor.removesuffix("@@").rstrip()):
            for how in PASSES:
                found = self._view(how).find([text], start)
                if found:
                    return found
        # Models omit the end of a line, as in `@@ class Shop`.
        wanted = FOLDED.key(anchor)
        lines = self._view(FOLDED).lines
        return [number for number in range(start, len(lines)) if lines[number].startswith(wanted)]

    def _explain(self, hunk: Hunk, wanted: list[str], anchored: list[int]) -> str:
        for how in PASSES:
            for place in self._view(how).find(wanted):
                if place < self._cursor:
                    return self._describe_order(hunk, place)
                above = f"its lines stand at line {place + 1}, and not after its anchor at line {anchored[0] + 1}"
                return f"{hunk.name} does not fit: {above}."
        applied = find_applied(hunk, [self._view(how) for how in PASSES])
        if applied is not None:
            last = applied + len(hunk.new)
            there = f"lines {applied + 1} to {last} of the file read already as it would leave them"
            return f"{hunk.name} seems to have been applied before: {there}."
        view = self._view(FOLDED)
        return f"{hunk.name} does not fit. {describe_difference(hunk.old, self._lines, view.lines, FOLDED.key)}"

    def _describe_order(self, hunk: Hunk, start: int) -> str:
        for other, place in self._taken:
            last = place.start + place.length
            if start < last and start + len(hunk.old) > place.start:
                ranges = f"line {start + 1}, and hunk {other.index} covers lines {place.start + 1} to {last}"
                return f"{hunk.name} overlaps another one: it begins at {ranges}. Make them one hunk."
        before = f"line {start + 1}, above hunk {self._taken[-1][0].index} at line {self._taken[-1][1].start + 1}"
        return f"{hunk.name} is out of order: it belongs to {before}. Put the hunks in the file's order."


def _describe_several(hunk: Hunk, found: list[int]) -> str:
    lines = f"{', '.join(str(place + 1) for place in found[:5])}{' and more' if len(found) > 5 else ''}"
    more = "Add more lines of context, or an anchor above it, such as `@@ def name():`"
    return f"{hunk.name} fits in {len(found)} places, at lines {lines} of the file. {more}."


def _describe_anchor(hunk: Hunk, anchor: str, where: str) -> str:
    return f"{hunk.name} does not fit: there is no line {quote_line(anchor)}{where}, which it names after `@@`."


# A line with many occurrences says little about where a hunk belongs, and long lines take long.
_MOST_PLACES = 50

_MOST_COMPARED = 2000

_LONGEST = 200

_BETWEEN = re.compile(" -+ ")


def find_applied(hunk: Hunk, views: Sequence[LineView]) -> int | None:
    """Find where the file equals the result of the hunk; None if nowhere, or if the match would be meaningless."""
    signs = "".join(line.sign for line in hunk.lines)
    adds = any(line.sign == "+" and line.text.strip() for line in hunk.lines)
    # Without added lines, compare only those that were apart and are adjacent now.
    if not adds and not _BETWEEN.search(signs):
        return None
    found = (view.find([line.text for line in hunk.new]) for view in views)
    return next((places[0] for places in found if places), None)


def describe_difference(
    old: Sequence[HunkLine], lines: Sequence[str], keyed: Sequence[str], key: Callable[[str], str]
) -> str:
    """Name the first line of a hunk that differs from its most likely place.

    Args:
        old: The lines that the hunk expects.
        lines: The lines of the file.
        keyed: The same lines by the comparison's key.
        key: The key of the comparison.
    """
    wanted = [key(line.text) for line in old]
    start = _guess_start(wanted, keyed)
    if start is None:
        return _describe_nowhere(old, wanted, lines, keyed)
    for number, line in enumerate(wanted, start):
        if number >= len(keyed):
            ours = old[number - start]
            has = f"The file has {len(keyed)} lines, and ends before line {ours.number} of the patch"
            return f"{has}, {quote_line(ours.text)}."
        if number < 0 or keyed[number] != line:
            ours = old[number - start]
            theirs = f"line {number + 1} of the file, {quote_line(lines[number])}," if number >= 0 else "nothing there,"
            where = f"line {ours.number} of the patch has {quote_line(ours.text)}"
            return f"The first line that differs is {theirs} where {where}."
    raise AssertionError("a block that fits has been found before")


def _guess_start(wanted: Sequence[str], keyed: Sequence[str]) -> int | None:
    """Find the start where most lines fit, in order and distance; of several the one with the longest match."""
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(keyed):
        if line:
            places[line].append(number)
    votes: Counter[int] = Counter()
    for index, line in enumerate(wanted):
        found = places.get(line, ())
        votes.update(number - index for number in (found if len(found) <= _MOST_PLACES else found[:1]))
    if not votes:
        return None
    most = max(votes.values())
    return max((start for start in votes if votes[start] == most), key=lambda start: _count_fits(start, wanted, keyed))


def _count_fits(start: int, wanted: Sequence[str], keyed: Sequence[str]) -> tuple[int, int]:
    count = 0
    while count < len(wanted) and 0 <= start + count < len(keyed) and keyed[start + count] == wanted[count]:
        count += 1
    return count, -start


def _describe_nowhere(
    old: Sequence[HunkLine], wanted: Sequence[str], lines: Sequence[str], keyed: Sequence[str]
) -> str:
    index = next((index for index, line in enumerate(wanted) if line), 0)
    others = ", and neither are those after it" if len(wanted) > 1 else ""
    missing = f"Line {old[index].number} of the patch, {quote_line(old[index].text)}, is nowhere in the file{others}"
    if not lines:
        return f"{missing}: the file is empty."
    nearest = difflib.get_close_matches(
        wanted[index][:_LONGEST], [line[:_LONGEST] for line in keyed[:_MOST_COMPARED]], n=1, cutoff=0.5
    )
    number = next((it for it, line in enumerate(keyed) if nearest and line[:_LONGEST] == nearest[0]), 0)
    near = f"the nearest is line {number + 1}" if nearest else "the file's line 1 is"
    return f"{missing}; {near}, {quote_line(lines[number])}."
