"""Find the paths of files that an answer names."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

_ROOT = "/workspace/"
# Characters that names in a sentence do not contain, and where they may end: names may have blanks and brackets too.
_REACH = re.compile(r"[^\n\r\t\"`<>|*?]{1,255}")
_END = re.compile(r"[\s':;,()\[\]{}\\]|$")
_MOST_ENDS = 12
# Characters of an answer that are scanned.
_MOST_TEXT = 100_000


def find_spellings(content: Any) -> Iterator[Sequence[str]]:
    """For each path that begins in an answer, return its possible spellings, longest first."""
    texts = [content] if isinstance(content, str) else [part.get("text") for part in content if isinstance(part, dict)]
    for text in texts:
        if isinstance(text, str):
            for piece in text[:_MOST_TEXT].split(_ROOT)[1:]:
                yield _spell(piece)


def _spell(piece: str) -> Sequence[str]:
    reach = _REACH.match(piece)
    if reach is None:
        return ()
    ends = [found.start() for found in islice(_END.finditer(reach[0]), _MOST_ENDS)]
    paths = [f"{_ROOT}{reach[0][:end]}" for end in reversed(ends) if end]
    # A sentence may end with it.
    return tuple(dict.fromkeys(spelled for path in paths for spelled in (path, path.rstrip(".!"))))
