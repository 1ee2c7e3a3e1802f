"""Notices as they are sent from one server to others: words, each the sign of a kind and the id of a call."""

from collections.abc import Iterable, Mapping

from sidecall.features.calls.notices import NoticeKind, NoticeListener

_SIGNS: Mapping[NoticeKind, str] = {"changed": "c", "cancel": "x", "queued": "q", "progress": "p"}
_KINDS: Mapping[str, NoticeKind] = {sign: kind for kind, sign in _SIGNS.items()}
# Words that wait to be sent; where there are more, the others are told to look everywhere.
_MOST = 5000
EVERYWHERE = "m"


class Bundle:
    """What is to be told together, each word once; of too much only that there was."""

    def __init__(self) -> None:
        self._words: dict[str, None] = {}

    def __len__(self) -> int:
        return len(self._words)

    def add(self, word: str) -> None:
        """Add a word, where it is not among them."""
        if len(self._words) >= _MOST:
            self._words = {EVERYWHERE: None}
        self._words[word] = None

    def take(self) -> list[str]:
        """Return all, and keep none."""
        words, self._words = list(self._words), {}
        return words


def write_word(kind: NoticeKind, call_id: str) -> str:
    """Return the word of a notice."""
    return _SIGNS[kind] + call_id


def hand_on(words: Iterable[str], listener: NoticeListener) -> None:
    """Let a listener hear what others have sent, and pass over what is no notice."""
    for word in words:
        kind = _KINDS.get(word[:1])
        if kind is not None:
            listener.hear(kind, word[1:])
        elif word == EVERYWHERE:
            listener.miss()
