"""Keep short what is for the log alone: what an exception says may be as long as what it was made of."""

from collections.abc import Iterable

# Characters that are logged of one thing, and of one exception in a traceback, behind which others and their lines have
# to find room.
MOST = 64 * 1024
_MOST_OF_ONE = 8 * 1024


def shorten(text: str, most: int = MOST) -> str:
    """Keep head and tail of a text."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[-half:]}"


def join_traceback(parts: Iterable[str]) -> str:
    """Join the parts of a traceback, each shortened before it is copied once more."""
    return shorten("".join(shorten(part, _MOST_OF_ONE) for part in parts))
