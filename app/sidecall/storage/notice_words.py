"""The wire form of notices between servers: words of a kind's sign and a call's id."""

from collections.abc import Iterable, Mapping

from sidecall.storage.notices import NoticeKind, NoticeListener

_SIGNS: Mapping[NoticeKind, str] = {"changed": "c", "cancel": "x", "queued": "q", "progress": "p"}
_KINDS: Mapping[str, NoticeKind] = {sign: kind for kind, sign in _SIGNS.items()}
# Words that wait to be sent; where there are more, the others are told to look everywhere.
_MOST = 5000
EVERYWHERE = "m"


class Bundle:
    """A bundle of notices without duplicates; if there are too many, only the fact that there were."""

    def __init__(self) -> None:
        self._words: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._words)

    def add(self, word: str) -> None:
        """Add a word, if it is missing."""
        if len(self._words) >= _MOST:
            self._words = {EVERYWHERE: None}
        self._words[word] = None

    def take(self) -> list[str]:
        """Remove and return all."""
        words, self._words = list(self._words), {}
        return words


def write_word(kind: NoticeKind, call_id: str) -> str:
    """Return the wire form of a notice."""
    return _SIGNS[kind] + call_id


def hand_on(words: Iterable[str], listener: NoticeListener) -> None:
    """Pass the notices that others have sent to a listener; skip unknown words."""
    for word in words:
        kind = _KINDS.get(word[:1])
        if kind is not None:
            listener.hear(kind, word[1:])
        elif word == EVERYWHERE:
            listener.miss()
