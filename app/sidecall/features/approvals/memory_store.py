"""Approvals in this process's memory."""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import get_args
from weakref import ReferenceType, ref

from msgspec import Struct

from sidecall.features.approvals.decision_tracker import ExpiredCalls
from sidecall.features.approvals.packing import EXPIRED_SHOWN, PackedApproval, describe_waiting, expire, shorten
from sidecall.features.approvals.record import ApprovalRecord, Decision, compute_fingerprint
from sidecall.features.approvals.stores import (
    FILTERS,
    NO_FILTERS,
    ApprovalPage,
    ListedApproval,
    OnOrphan,
    WaitingApprovals,
    WaitingTool,
)
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.overload import APPROVALS_FULL, TooManyApprovals
from sidecall.kernel.ports.approvals.approval import NO_PREVIEW, Approval, ApprovalStatus, Preview

# Bytes of an entry besides its texts: Python's objects, a short decision and a short answer.
_BESIDE = 4096
# Bytes after which a page ends.
_PAGE_BYTES = 1024 * 1024
# Minimum seconds for which an answer is kept for a concurrent call that waits for it; expired ones do not count as
# bytes.
_LINGER = 60.0


class _Entry(Struct):
    packed: PackedApproval
    tenant: str
    fingerprint: str
    status: ApprovalStatus
    is_running: bool
    expires: float
    number: int
    taken: int = 0
    # The unpacked record: as long as others use it, or while its call runs. It takes no more memory then.
    unpacked: "ReferenceType[ApprovalRecord] | None" = None
    running: ApprovalRecord | None = None

    def read(self) -> ApprovalRecord:
        """Return the record."""
        known = self.running or (None if self.unpacked is None else self.unpacked())
        if known is None:
            known = self.packed.unpack()
            self.unpacked = ref(known)
        return known

    @property
    def has_ended(self) -> bool:
        """Whether the call was decided and answered."""
        return self.status != "pending" and not self.is_running


class _LateAnswer(Struct):
    packed: PackedApproval
    kept_until: float


class MemoryApprovals:
    """Keep up to `most` calls, of `most_bytes` together, for `ttl` seconds each; they end with the process."""

    # No method awaits, so each is atomic on the event loop.

    def __init__(
        self,
        ttl: float = 3600.0,
        most: int = 5000,
        clock: Callable[[], float] = time.monotonic,
        most_bytes: int = 32 * 1024 * 1024,
    ) -> None:
        self._ttl = ttl
        self._most = most
        self._clock = clock
        self._most_bytes = most_bytes
        self.taken = 0  # Bytes.
        self._entries: dict[str, _Entry] = {}
        self._ids: dict[str, str] = {}  # by fingerprint
        self._late: dict[str, _LateAnswer] = {}  # Answers of approvals that had expired, or were about to.
        self._numbers = itertools.count(1)
        self._expired = ExpiredCalls()

    async def ask(self, call: CallRecord, asked: ToolCall, preview: Preview = NO_PREVIEW) -> ApprovalRecord:
        """Store a call that waits, or return the approval of the same call, in any state.

        Raises:
            TooManyApprovals: So many wait or run already, or so many bytes of them; what has ended makes room.
        """
        known = self._find(compute_fingerprint(call, asked))
        if known is not None:
            return known
        ended = sum(entry.has_ended for entry in self._entries.values())
        if len(self._entries) - ended >= self._most:
            raise TooManyApprovals
        for _ in range(ended - self._most):
            self._forget_ended()
        record = ApprovalRecord.of(call, asked, self._ttl, preview)
        packed = PackedApproval.of(record)
        if not self._take(packed.size + _BESIDE):
            raise TooManyApprovals(APPROVALS_FULL)
        expires = self._clock() + self._ttl
        number, size = next(self._numbers), packed.size + _BESIDE
        self._entries[record.approval.id] = _Entry(
            packed, record.tenant, record.fingerprint, "pending", False, expires, number, size
        )
        self._ids[record.fingerprint] = record.approval.id
        return record

    async def find(self, call: CallRecord) -> ApprovalRecord | None:
        """Find the approval of the same call, in any state; None if there is none."""
        return self._find(compute_fingerprint(call)) if self._ids else None

    def _find(self, fingerprint: str) -> ApprovalRecord | None:
        self._forget()
        approval_id = self._ids.get(fingerprint)
        return None if approval_id is None else self._entries[approval_id].packed.unpack()

    async def find_answered(self, approval_id: str) -> Approval | None:
        """Find the decision about a call, even one that has just expired; None while it has no answer.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """
        self._forget()
        entry = self._entries.get(approval_id)
        known = self._late.get(approval_id) if entry is None or entry.status == "expired" else entry
        if known is None:
            raise UnknownApproval
        approval = known.packed.unpack().approval
        return approval if approval.message is not None else None

    async def get(self, approval_id: str, tenant: str | None = None, *, with_expired: bool = False) -> ApprovalRecord:
        """Find an approval, of this tenant if one is given; an expired one is found only `with_expired`.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """
        return self._entry(approval_id, tenant, with_expired=with_expired).read()

    async def count_waiting(self) -> WaitingApprovals:
        """Count the calls that wait for a person, of all tenants."""
        self._forget()
        waiting = [entry for entry in self._entries.values() if entry.status == "pending"]
        if not waiting:
            return describe_waiting(0, None, None)
        first, now = min(entry.expires for entry in waiting), time.time()
        asked = waiting[0].packed.unpack().approval.created_at.timestamp()
        return describe_waiting(len(waiting), now + first - self._clock(), now - asked)

    async def list_waiting_tools(self) -> Sequence[WaitingTool]:
        """List the tools of the calls that wait for a person, of all tenants."""
        self._forget()
        listed = [entry.packed.list()[0] for entry in self._entries.values() if entry.status == "pending"]
        found = Counter((one.tool_call.name, one.tool_hash) for one in listed if one.sign_in is None)
        return [WaitingTool(name, known, count) for (name, known), count in found.items()]

    async def list(
        self,
        tenant: str,
        status: ApprovalStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        with_expired: bool = False,
        matching: Mapping[str, str] = NO_FILTERS,
    ) -> ApprovalPage:
        """List a tenant's approvals, oldest first, up to `limit`, fewer when they are large."""
        self._forget()
        after = int(cursor or 0)
        listed: list[ListedApproval] = []
        size = last = 0
        statuses = {status} if status is not None else _STATUSES if with_expired else _STATUSES - {"expired"}
        fitting = [it for it in self._entries.values() if it.tenant == tenant and it.status in statuses]
        fitting = [it for it in fitting if not matching or _matches(it.packed.list()[0], matching)]
        for entry in fitting:
            if entry.number <= after:
                continue
            if len(listed) == limit or size >= _PAGE_BYTES:
                return ApprovalPage(listed, str(last), len(fitting))
            approval, taken = entry.packed.list()
            listed.append(approval)
            size, last = size + taken, entry.number
        return ApprovalPage(listed, None, len(fitting))

    async def count_by_conversation(self, tenant: str, requested_by: str | None = None) -> Mapping[str, int]:
        """Count the calls of each conversation that wait for a person."""
        self._forget()
        pending = (it for it in self._entries.values() if it.tenant == tenant and it.status == "pending")
        listed = (it.packed.list()[0] for it in pending)
        return Counter(
            it.conversation_id
            for it in listed
            if it.conversation_id is not None and requested_by in (None, it.requested_by)
        )

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
            TooManyApprovals: There is no room for what the person wrote; nothing is decided then.
        """
        entry = self._entry(approval_id)
        before = entry.read()
        return self._change(entry, before, before.decide(decision, by))

    def on_orphan(self, listener: OnOrphan | None) -> None:
        """Register a listener for expired calls; decisions of this store are always delivered."""
        self._expired.hear(listener)

    async def reopen(self, approval_id: str, preview: Preview | None = None) -> ApprovalRecord:
        """Revoke a decision: there was no room to run the call, or it waits again, with this preview.

        Raises:
            TooManyApprovals: There is no room for the preview; the call counts as running then.
        """
        entry = self._entries[approval_id]
        before = entry.read()
        record = self._change(entry, before, before.reopen(preview, self._ttl))
        if preview is not None:
            entry.expires = self._clock() + self._ttl
        return record

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Store the answer of a decided call.

        Raises:
            TooManyApprovals: There is no room for it; a short one always fits.
        """
        entry = self._entries[approval_id]
        before = entry.read()
        record = self._change(entry, before, before.answer(message))
        now = self._clock()
        if entry.expires < now + _LINGER:
            self._late[approval_id] = _LateAnswer(entry.packed, now + _LINGER)
        return record

    def _change(self, entry: _Entry, before: ApprovalRecord, record: ApprovalRecord) -> ApprovalRecord:
        packed = entry.packed.pack_change(before, record)
        if self._take(packed.size + _BESIDE - entry.taken):
            entry.taken = packed.size + _BESIDE
        elif packed.size > entry.taken:
            raise TooManyApprovals(APPROVALS_FULL)
        entry.packed, entry.status, entry.is_running = packed, record.approval.status, record.is_running
        entry.unpacked, entry.running = None, record if entry.is_running else None
        return record

    def _expire(self, key: str, entry: _Entry) -> None:
        """List an undecided call as expired for a while; this takes no room of waiting calls."""
        record = entry.packed.unpack()
        self._expired.note(record)
        packed = PackedApproval.of(expire(record))
        if packed.size <= _BESIDE:  # Else its id is long.
            until, name = entry.expires + max(self._ttl, EXPIRED_SHOWN), f"expired {key}"
            self._entries[key] = _Entry(packed, entry.tenant, name, "expired", False, until, entry.number)

    def _take(self, size: int) -> bool:
        """Reserve bytes, or give them back if `size` is negative; return False, and reserve none, without room."""
        if size > 0 and not self._make_room(size):
            return False
        self.taken += size
        return True

    def _make_room(self, size: int) -> bool:
        """If there are too few bytes, trim ended calls, oldest first, unless that cannot suffice."""
        if self._fits(size):
            return True
        ended = [entry for entry in self._entries.values() if entry.has_ended]
        if not self._fits(size - sum(entry.taken for entry in ended)):
            return False
        for entry in ended:
            self._shorten(entry)
            if self._fits(size):
                return True
        return any(self._forget_ended() and self._fits(size) for _ in ended)

    def _fits(self, size: int) -> bool:
        return self.taken + size <= self._most_bytes

    def _shorten(self, entry: _Entry) -> None:
        """Drop the large texts of an answered call."""
        packed = PackedApproval.of(shorten(entry.packed.unpack())) if entry.taken > 2 * _BESIDE else entry.packed
        if packed.size + _BESIDE < entry.taken:
            self.taken += packed.size + _BESIDE - entry.taken
            entry.packed, entry.unpacked, entry.taken = packed, None, packed.size + _BESIDE

    def _forget_ended(self) -> bool:
        """Delete the oldest ended call; return False if there is none."""
        key = next((key for key, entry in self._entries.items() if entry.has_ended), None)
        if key is not None:
            self._drop(key)
        return key is not None

    def _drop(self, key: str) -> _Entry:
        entry = self._entries.pop(key)
        self.taken -= entry.taken
        self._ids.pop(entry.fingerprint, None)
        return entry

    def _entry(self, approval_id: str, tenant: str | None = None, *, with_expired: bool = False) -> _Entry:
        self._forget()
        entry = self._entries.get(approval_id)
        # Another tenant's is not examined further, as if it did not exist.
        if entry is None or tenant not in (None, entry.tenant) or (entry.status == "expired" and not with_expired):
            raise UnknownApproval
        return entry

    def _forget(self) -> None:
        """Delete expired calls, except running ones."""
        now = self._clock()
        expired = [key for key, entry in self._entries.items() if entry.expires <= now and not entry.is_running]
        for key in expired:
            entry = self._drop(key)
            if entry.status == "pending":
                self._expire(key, entry)
        for key in [key for key, late in self._late.items() if late.kept_until <= now]:
            del self._late[key]


_STATUSES = frozenset(get_args(ApprovalStatus))


def _matches(listed: ListedApproval, matching: Mapping[str, str]) -> bool:
    return all(attrgetter(".".join(FILTERS[name]))(listed) == value for name, value in matching.items())
