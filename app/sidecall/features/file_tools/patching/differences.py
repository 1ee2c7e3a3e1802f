"""Why a hunk does not fit: the first line that differs, or that it was already applied."""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from sidecall.features.file_tools.patching.hunks import Hunk, HunkLine
from sidecall.features.file_tools.patching.passes import LineView
from sidecall.features.file_tools.patching.refusal import quote_line

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
