"""Report orphaned calls, and calls that expired in the middle of their work, to a listener."""

from collections import deque

from sidecall.kernel.ports.approvals.approval import ApprovalRecord
from sidecall.kernel.ports.approvals.orphan import OnOrphan, OrphanedDecision

# Kept for a listener, which a program without a server never has.
_MOST = 100


class OrphanReports:
    """Report orphans to a listener, each once; up to `most` are kept until there is a listener."""

    def __init__(self, most: int | None = None) -> None:
        self.listener: OnOrphan | None = None
        self._unreported: deque[OrphanedDecision] = deque(maxlen=most)

    def hear(self, listener: OnOrphan | None) -> None:
        """Let a listener hear of them from now on; None for none."""
        self.listener = listener
        while listener is not None and self._unreported:
            listener(self._unreported.popleft())

    def tell(self, orphan: OrphanedDecision) -> None:
        """Let the listener hear of one, now or later."""
        if self.listener is None:
            self._unreported.append(orphan)
        else:
            self.listener(orphan)


class ExpiredCalls:
    """Let a listener hear of calls that had begun, asked a person amid their work, and have expired there."""

    def __init__(self) -> None:
        self._news = OrphanReports(_MOST)
        self.hear = self._news.hear

    def note(self, record: ApprovalRecord) -> None:
        """Note that an approval was removed; calls that had not begun are not reported."""
        if record.state is not None and record.call is not None:
            self._news.tell(OrphanedDecision(record, was_begun=True, has_expired=True))
