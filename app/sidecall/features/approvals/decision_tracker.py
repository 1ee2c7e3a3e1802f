"""Track decisions that this process carries out, and those that it may have written without confirmation."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from sidecall.features.approvals.record import ApprovalRecord
from sidecall.features.approvals.stores import OnOrphan, OrphanedDecision
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import StoreUnavailable

# Seconds between checks of an approval in doubt, and how many checks there are: a statement whose connection broke may
# still be executed for a while.
_PAUSE = 1.0

_LOOKS = 30


class DecisionTracker:
    """Track the decided calls that this process carries out, and find written decisions that were never confirmed.

    When the store fails during a write, its result is unknown. Such calls are looked up later, and reported once unless
    they are being carried out.
    """

    def __init__(self, find_own: Callable[[str], Awaitable[ApprovalRecord | None]]) -> None:
        """Take the parts; `find_own` finds an approval that this process runs according to the store."""
        self._find_own = find_own
        self._running: dict[str, ApprovalRecord] = {}
        self._deciding: Counter[str] = Counter()
        self._doubts: dict[str, bool] = {}  # Whether each has begun.
        self._looks_left: dict[str, int] = {}
        self._looks: set[asyncio.Task[None]] = set()
        self._news = OrphanReports()  # Includes decisions of an earlier server.
        self.hear = self._news.hear

    def note_lost(self, record: ApprovalRecord, answer: ToolMessage) -> None:
        """Report a decision whose server stopped, with the answer that it got now."""
        self._news.tell(OrphanedDecision(record, was_begun=True, answer=answer))

    def get(self, approval_id: str) -> ApprovalRecord | None:
        """Return the running call of this approval."""
        return self._running.get(approval_id)

    @contextmanager
    def deciding(self, approval_id: str) -> Iterator[None]:
        """Mark a decision as being written; a failure in the block leaves it in doubt."""
        self._deciding[approval_id] += 1
        try:
            yield
        except (StoreUnavailable, asyncio.CancelledError):
            self._doubt(approval_id, was_begun=False)
            raise
        finally:
            self._deciding[approval_id] -= 1
            self._deciding += Counter()  # Keeps no zeros.

    def is_deciding(self, approval_id: str) -> bool:
        """Return whether a decision about it is being written."""
        return approval_id in self._deciding

    def begin(self, record: ApprovalRecord) -> None:
        """Note that a decision was written, and is being carried out."""
        self._doubts.pop(record.approval.id, None)
        self._running[record.approval.id] = record

    def end(self, approval_id: str) -> None:
        """Mark a call's result as written."""
        self._running.pop(approval_id, None)

    def leave(self, approval_id: str) -> None:
        """Stop tracking a call, though it may have no answer."""
        self.end(approval_id)
        self._doubt(approval_id, was_begun=True)

    def close(self) -> None:
        """Stop all look-ups."""
        for look in self._looks:
            look.cancel()

    def _doubt(self, approval_id: str, *, was_begun: bool) -> None:
        self._doubts[approval_id] = was_begun or self._doubts.get(approval_id, False)
        is_looked_for = approval_id in self._looks_left
        self._looks_left[approval_id] = _LOOKS
        if not is_looked_for:
            look = asyncio.create_task(self._look(approval_id))
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def _look(self, approval_id: str) -> None:
        while self._looks_left[approval_id] > 0 and approval_id in self._doubts:
            await asyncio.sleep(_PAUSE)
            with suppress(StoreUnavailable):
                self._looks_left[approval_id] -= 1
                record = await self._find_own(approval_id)
                if record is not None:
                    self._report(record)
        del self._looks_left[approval_id]
        self._doubts.pop(approval_id, None)

    def _report(self, record: ApprovalRecord) -> None:
        approval_id = record.approval.id
        if self._news.listener is None or approval_id in self._deciding or approval_id not in self._doubts:
            return
        was_begun = self._doubts.pop(approval_id)
        if approval_id not in self._running:  # Otherwise another decision was written.
            self._running[approval_id] = record
            self._news.tell(OrphanedDecision(record, was_begun))


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
