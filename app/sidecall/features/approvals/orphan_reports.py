"""Report orphaned calls, and calls that expired in the middle of their work, to a listener."""

from collections import deque

from sidecall.kernel.ports.approvals.approval import ApprovalRecord
from sidecall.kernel.ports.approvals.orphan import OnOrphan, OrphanedDecision

# Kept until there is a listener; a program without a server never has one.
_MOST = 100


class OrphanReports:
    """Report orphans to a listener, each once; up to `most` are kept until there is a listener."""

    def __init__(self, most: int | None = None) -> None:
        self.listener: OnOrphan | None = None
        self._unreported: deque[OrphanedDecision] = deque(maxlen=most)

    def hear(self, listener: OnOrphan | None) -> None:
        """Set the listener; None removes it."""
        self.listener = listener
        while listener is not None and self._unreported:
            listener(self._unreported.popleft())

    def tell(self, orphan: OrphanedDecision) -> None:
        """Report an orphan, at once or when there is a listener."""
        if self.listener is None:
            self._unreported.append(orphan)
        else:
            self.listener(orphan)


class ExpiredCalls:
    """Report calls that had begun, asked a person in the middle of their work, and expired then."""

    def __init__(self) -> None:
        self._news = OrphanReports(_MOST)
        self.hear = self._news.hear

    def note(self, record: ApprovalRecord) -> None:
        """Note that an approval was removed; calls that had not begun are not reported."""
        if record.state is not None and record.call is not None:
            self._news.tell(OrphanedDecision(record, was_begun=True, has_expired=True))
