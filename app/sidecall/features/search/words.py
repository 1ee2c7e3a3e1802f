"""Split names, descriptions and questions into words, and reduce words to their stems."""

import re
from collections.abc import Iterable

import Stemmer

# Within names: `sendMail` has two.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")


def read_words(text: str) -> list[str]:
    """List the words of a text in lower case."""
    return _WORD.findall(_HUMP.sub(" ", text).casefold())


def find_stems(words: Iterable[str]) -> dict[str, str]:
    """Map words to their English stems: `refunding` and `refunds` to `refund`; words of other languages mostly stay."""
    listed = list(words)
    return dict(zip(listed, Stemmer.Stemmer("english").stemWords(listed), strict=True))
