"""Notices between servers that share a ledger (that something has changed, but not what), and their wire form."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

# A call has changed; a cancellation is requested; a call is queued; a tool has sent progress.
NoticeKind = Literal["changed", "cancel", "queued", "progress"]


class NoticeListener(Protocol):
    """Looks for changes after a notice; the notice itself contains none."""

    def hear(self, kind: NoticeKind, call_id: str) -> None:
        """Look at a call, or without an id at all queued ones."""

    def miss(self) -> None:
        """Look at everything once: notices may have been lost."""


class Notices(Protocol):
    """A channel to the other servers of a ledger; it may lose notices, so servers also poll, more slowly."""

    def attach(self, listener: NoticeListener) -> None:
        """Give what others send to a listener."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send a notice soon, together with others; never blocks and never fails."""

    async def open(self) -> None:
        """Start sending and receiving as soon as possible."""

    async def close(self) -> None:
        """Send and receive nothing more."""


class NoNotices:
    """The notices of a ledger that only one server uses, or that cannot deliver any."""

    def attach(self, listener: NoticeListener) -> None:
        """Give a listener nothing."""

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send nothing."""

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


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
