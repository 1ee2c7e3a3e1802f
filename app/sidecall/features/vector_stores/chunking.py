"""Cut a text into pieces that overlap, at headings, empty lines, sentences or words."""

import re
from dataclasses import dataclass

# OpenAI's 800 tokens with 400 of overlap, at four characters each.
PIECE, OVERLAP = 3200, 1600

# Places for a cut, best first: before a heading, after an empty line, a line, a sentence, a word.
_PAUSES = tuple(re.compile(it) for it in (r"\n(?=#{1,6} )", r"\n\s*\n", r"\n", r"(?<=[.!?])\s", r"\s"))


@dataclass(frozen=True, slots=True)
class Cut:
    """The size of pieces and their overlap, in characters."""

    piece: int = PIECE
    overlap: int = OVERLAP


def cut_text(text: str, piece: int = PIECE, overlap: int = OVERLAP) -> list[str]:
    """Return the pieces of a text, each of up to `piece` characters and overlapping the one before.

    Args:
        text: The text.
        piece: Maximum characters of a piece.
        overlap: Approximate characters of overlap; at most half of a piece.

    Raises:
        ValueError: The overlap is more than half of a piece.
    """
    if not 0 <= overlap <= piece // 2:
        raise ValueError("the overlap is half of a piece at most")
    pieces, start = [], 0
    while start < len(text):
        end = len(text) if len(text) - start <= piece else _find_pause(text, start + piece // 2 + 1, start + piece)
        found = text[start:end].strip()
        if found:
            pieces.append(found)
        if end == len(text):
            break
        start = max(start + 1, _find_start(text, end - overlap, end) if overlap else end)
    return pieces


def _find_pause(text: str, low: int, high: int) -> int:
    """Return the last good place to cut between two others, or else the latter."""
    for pause in _PAUSES:
        places = [found.end() for found in pause.finditer(text, low, high)]
        if places:
            return places[-1]
    return high


def _find_start(text: str, low: int, high: int) -> int:
    """Return the first good place to begin between two others, or else the former."""
    for pause in _PAUSES[1:]:
        found = pause.search(text, low, low + (high - low) // 2)
        if found is not None:
            return found.end()
    return low
