"""Notices between workers that share a SQLite file, through the process that writes it."""

import asyncio
import math
from collections.abc import Sequence

from sidecall.features.calls.notices import NoticeKind, NoticeListener
from sidecall.storage.notice_words import EVERYWHERE, Bundle, hand_on, write_word
from sidecall.storage.sqlite.backends import SharedWriter

# Minimum seconds between two messages: notices in between are bundled.
_APART = 0.005


class WorkerNotices:
    """Sends notices over the socket for writes, and receives those of other workers.

    Notices sent while the writing process is being replaced are lost; afterwards everything is checked once.
    """

    def __init__(self, hand: SharedWriter) -> None:
        """Send for the worker with this backend."""
        self._hand = hand
        hand.attach(self._begin, self._hear)
        self._listener: NoticeListener | None = None
        self._waiting = Bundle()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = -math.inf
        self._is_linked = False
        self._is_open = False

    def attach(self, listener: NoticeListener) -> None:
        """Pass what others send to a listener."""
        self._listener = listener

    def tell(self, kind: NoticeKind, call_id: str = "") -> None:
        """Send a notice soon, bundled with others; never waits, and never fails."""
        if self._is_open and self._is_linked:
            self._add(write_word(kind, call_id))

    async def open(self) -> None:
        """Begin to send and receive, as soon as the file is open."""
        self._is_open, self._sent_at = True, -math.inf
        if self._is_linked:
            self._look_everywhere()

    async def close(self) -> None:
        """Send what is queued, and nothing more."""
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
            self._send()

    def _begin(self) -> None:
        """Note a new process that passes notices on."""
        self._is_linked = True
        if self._is_open:
            self._look_everywhere()

    def _look_everywhere(self) -> None:
        """Check everything once, and let the others do so: earlier notices were lost on both sides."""
        self._waiting.take()
        self._add(EVERYWHERE)
        if self._listener is not None:
            self._listener.miss()

    def _hear(self, words: Sequence[str]) -> None:
        if self._is_open and self._listener is not None:
            hand_on(words, self._listener)

    def _add(self, word: str) -> None:
        self._waiting.add(word)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._sent_at + _APART), self._send)

    def _send(self) -> None:
        self._timer, self._sent_at = None, asyncio.get_running_loop().time()
        self._hand.tell(self._waiting.take())
