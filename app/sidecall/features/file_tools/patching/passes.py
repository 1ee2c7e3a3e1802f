"""The four passes of comparing lines, each laxer than the one before."""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple


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
_MOST_PLACES = 1000


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
        for _ in range(_MOST_PLACES):
            position = self._text.find(wanted, position) if position >= 0 else -1
            if position < 0:
                return
            yield bisect_left(self._starts, position)
            position += 1
