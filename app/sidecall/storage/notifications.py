"""Notifications between servers that share a ledger (that something has changed, but not what), and their wire form."""

from collections.abc import Iterable, Mapping
from typing import Literal, Protocol

# A call has changed; a cancellation is requested; a call is queued; a tool has sent progress.
NotificationKind = Literal["changed", "cancel", "queued", "progress"]


class NotificationListener(Protocol):
    """Looks for changes after a notification; the notification itself contains none."""

    def hear(self, kind: NotificationKind, call_id: str) -> None:
        """Look at a call, or without an id at all queued ones."""

    def miss(self) -> None:
        """Look at everything once: notifications may have been lost."""


class Notifications(Protocol):
    """A channel to the other servers of a ledger; it may lose notifications, so servers also poll, more slowly."""

    def attach(self, listener: NotificationListener) -> None:
        """Give what others send to a listener."""

    def tell(self, kind: NotificationKind, call_id: str = "") -> None:
        """Send a notification soon, together with others; never blocks and never fails."""

    async def open(self) -> None:
        """Start sending and receiving as soon as possible."""

    async def close(self) -> None:
        """Send and receive nothing more."""


class NoNotifications:
    """The notifications of a ledger that only one server uses, or that cannot deliver any."""

    def attach(self, listener: NotificationListener) -> None:
        """Give a listener nothing."""

    def tell(self, kind: NotificationKind, call_id: str = "") -> None:
        """Send nothing."""

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""


_SIGNS: Mapping[NotificationKind, str] = {"changed": "c", "cancel": "x", "queued": "q", "progress": "p"}
_KINDS: Mapping[str, NotificationKind] = {sign: kind for kind, sign in _SIGNS.items()}
# Words that wait to be sent; where there are more, the others are told to look everywhere.
_MOST = 5000
EVERYWHERE = "m"


class Bundle:
    """A bundle of notifications without duplicates; if there are too many, only the fact that there were."""

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


def write_word(kind: NotificationKind, call_id: str) -> str:
    """Return the wire form of a notification."""
    return _SIGNS[kind] + call_id


def hand_on(words: Iterable[str], listener: NotificationListener) -> None:
    """Pass the notifications that others have sent to a listener; skip unknown words."""
    for word in words:
        kind = _KINDS.get(word[:1])
        if kind is not None:
            listener.hear(kind, word[1:])
        elif word == EVERYWHERE:
            listener.miss()
