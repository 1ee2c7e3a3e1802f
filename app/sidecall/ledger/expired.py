"""Calls that had begun, asked a person in the middle of their work, and have expired there."""

from collections import deque

from sidecall.core.approval import ApprovalRecord
from sidecall.core.decisions.stray import HearOfStray, StrayDecision

# Kept for a listener, which a program without a server never has.
_MOST = 100


class ExpiredCalls:
    """Let a listener hear of them, each once, and keep those in mind that nobody hears of yet."""

    def __init__(self) -> None:
        self._listener: HearOfStray | None = None
        self._untold: deque[StrayDecision] = deque(maxlen=_MOST)

    def hear(self, listener: HearOfStray | None) -> None:
        """Let a listener hear of them from now on; None for none."""
        self._listener = listener
        while listener is not None and self._untold:
            listener(self._untold.popleft())

    def note(self, record: ApprovalRecord) -> None:
        """Note that an approval is kept no more; of a call that had not begun nobody is told."""
        if record.state is None or record.call is None:
            return
        stray = StrayDecision(record, was_begun=True, has_expired=True)
        if self._listener is None:
            self._untold.append(stray)
        else:
            self._listener(stray)
