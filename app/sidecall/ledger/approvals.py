"""Approvals kept in this process."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sidecall.core.approval import ApprovalRecord, ApprovalStatus, Decision, compute_fingerprint
from sidecall.core.errors import UnknownApproval
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.overload import TooManyApprovals
from sidecall.core.record import CallRecord


@dataclass(slots=True)
class _Entry:
    record: ApprovalRecord
    expires: float


class MemoryApprovals:
    """Remember calls for `ttl` seconds after they came, `most` at once; they are lost when the process ends."""

    # No method ever waits, so that each is one step, on one event loop.

    def __init__(self, ttl: float = 3600.0, most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl = ttl
        self._most = most
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    async def ask(self, call: CallRecord, asked: ToolCall) -> ApprovalRecord:
        """Keep a call, or find the one like it that waits.

        Raises:
            TooManyApprovals: So many are kept already, decided ones among them.
        """
        self._forget()
        fingerprint = compute_fingerprint(call, asked)
        for entry in self._entries.values():
            if entry.record.fingerprint == fingerprint and entry.record.approval.status == "pending":
                return entry.record
        if len(self._entries) >= self._most:
            raise TooManyApprovals  # The agents of decided ones may still ask for their answers.
        record = ApprovalRecord.of(call, asked, self._ttl)
        self._entries[record.approval.id] = _Entry(record, self._clock() + self._ttl)
        return record

    async def get(self, approval_id: str) -> ApprovalRecord:
        """Find an approval.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """
        return self._entry(approval_id).record

    async def list(self, status: ApprovalStatus | None = None) -> Sequence[ApprovalRecord]:
        """List approvals, oldest first."""
        self._forget()
        records = [entry.record for entry in self._entries.values()]
        return [record for record in records if status is None or record.approval.status == status]

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """
        entry = self._entry(approval_id)
        entry.record = entry.record.decide(decision, by)
        return entry.record

    async def reopen(self, approval_id: str) -> None:
        """Take a decision back, of a call that there was no room to run."""
        entry = self._entries[approval_id]
        entry.record = entry.record.reopen()

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Keep the answer of a decided call, which has not been forgotten while it ran."""
        entry = self._entries[approval_id]
        entry.record = entry.record.answer(message)
        return entry.record

    def _entry(self, approval_id: str) -> _Entry:
        self._forget()
        entry = self._entries.get(approval_id)
        if entry is None:
            raise UnknownApproval
        return entry

    def _forget(self) -> None:
        """Drop what has expired, but for calls that run."""
        now = self._clock()
        expired = [key for key, entry in self._entries.items() if entry.expires <= now and not entry.record.is_running]
        for key in expired:
            del self._entries[key]
