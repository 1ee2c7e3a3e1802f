"""Approvals in a database."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from sidecall.features.approvals.decision_tracker import DecisionTracker, ExpiredCalls
from sidecall.features.approvals.packing import (
    EXPIRED_SHOWN,
    EndedApprovals,
    MakeAnswer,
    PackedApproval,
    answer_lost,
    describe_waiting,
    expire,
    read_packed,
    read_time,
)
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
from sidecall.kernel.concurrency.loop_turns import in_turns
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.overload import APPROVALS_FULL, StoreUnavailable, TooManyApprovals
from sidecall.kernel.ports.approvals.approval import NO_PREVIEW, Approval, ApprovalStatus, Preview
from sidecall.storage.database import Database, Dialect

# Bytes of an entry besides its texts: index entries, a short decision and a short answer.
_BESIDE = 4096
_LARGE = 256 * 1024
# Expired approvals that are read at once: they may be large, or many.
_AT_ONCE = 20
# Bytes after which a page ends.
_PAGE_BYTES = 1024 * 1024
# Seconds between attempts to store an answer.
_PAUSE = 1.0


class SqlApprovals:
    """Keep up to `most` calls, of `most_bytes` together, for `ttl` seconds each."""

    def __init__(
        self,
        database: Database,
        owner: str,
        ttl: float = 3600.0,
        most: int = 5000,
        most_bytes: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Take the bounds; `owner` is the id of this process in the database."""
        self._database = database
        self._owner = owner
        self._ttl = ttl
        self._most = most
        self._most_bytes = most_bytes
        self._clock = clock
        self._ended = EndedApprovals(database, most, most_bytes, _BESIDE, self._write)
        self._carried = DecisionTracker(self._find_own)
        self._expired = ExpiredCalls()
        self._late: set[asyncio.Task[None]] = set()
        # Large ones take several times their size while they are written, so they are written one at a time.
        self._turn = asyncio.Lock()

    async def ask(self, call: CallRecord, asked: ToolCall, preview: Preview = NO_PREVIEW) -> ApprovalRecord:
        """Store a call that waits, or return the approval of the same call, in any state.

        Raises:
            TooManyApprovals: So many wait or run already, or so many bytes of them; what has ended makes room.
        """
        fingerprint = compute_fingerprint(call, asked)
        known = await self._find(fingerprint)
        if known is not None:
            return known
        record = ApprovalRecord.of(call, asked, self._ttl, preview)
        packed = PackedApproval.of(record)
        await self.forget()
        await self._ended.forget_oldest()
        async with self._turn if packed.size > _LARGE else nullcontext():
            kept = await self._keep(record, packed, fingerprint)
        if not kept and await self._ended.make_room(packed.size + _BESIDE):
            kept = await self._keep(record, packed, fingerprint)
        if kept:
            return record
        # Of two concurrent ones the other may have been first, or an expired one is still waited for.
        rows = await self._database.read("find_decided_approval", fingerprint)
        known = read_packed(rows[0][0]) if rows else await self._find(fingerprint)
        if known is not None:
            return known
        [(count, _)] = await self._database.read("count_approvals")
        raise TooManyApprovals(None if count >= self._most else APPROVALS_FULL)

    async def _keep(self, record: ApprovalRecord, packed: PackedApproval, fingerprint: str) -> bool:
        """Return whether there was room, and no other call like it."""
        texts = packed.list()[0].model_dump_json(), packed.write()
        expires, size = self._clock() + self._ttl, packed.size + _BESIDE
        values = (record.approval.id, record.tenant, fingerprint, expires, size, *texts)
        return await self._database.write("ask_approval", *values, self._most, self._most_bytes) is not None

    async def find(self, call: CallRecord) -> ApprovalRecord | None:
        """Find the approval of the same call, in any state; None if there is none."""
        return await self._find(compute_fingerprint(call))

    async def _find(self, fingerprint: str) -> ApprovalRecord | None:
        rows = await self._database.read("find_approval", fingerprint, self._clock())
        return read_packed(rows[0][0]) if rows else None

    async def get(self, approval_id: str, tenant: str | None = None, *, with_expired: bool = False) -> ApprovalRecord:
        """Find an approval, of this tenant if one is given; an expired one is found only `with_expired`.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """
        now = self._clock()
        rows = await self._database.read("get_approval", approval_id, now, tenant)
        if rows:
            return read_packed(rows[0][0])
        rows = await self._database.read("get_expired_approval", approval_id, now, tenant) if with_expired else []
        if not rows:
            raise UnknownApproval
        record = read_packed(rows[0][0])
        return record if record.approval.status == "expired" else expire(record)

    async def find_answered(self, approval_id: str) -> Approval | None:
        """Find the decision about a call, even one that has just expired; None while it has no answer.

        Raises:
            UnknownApproval: There is none, or it has expired, and it cannot be decided any more.
            StoreUnavailable: The database is unavailable.
        """
        now = self._clock()
        rows = await self._database.read("get_decided_approval", approval_id, now)
        if not rows and not await self._expire_one(approval_id, now):
            rows = await self._database.read("get_decided_approval", approval_id, now)  # Another process was faster.
        if not rows:
            raise UnknownApproval
        approval = read_packed(rows[0][0]).approval
        return approval if approval.message is not None else None

    async def count_waiting(self) -> WaitingApprovals:
        """Count the calls that wait for a person, of all tenants."""
        now = self._clock()
        [(count, first, asked)] = await self._database.read("count_waiting_approvals", now)
        return describe_waiting(count, first, None if asked is None else now - read_time(asked))

    async def list_waiting_tools(self) -> Sequence[WaitingTool]:
        """List the tools of the calls that wait for a person, of all tenants."""
        rows = await self._database.read("list_waiting_tools", self._clock())
        return [WaitingTool(*row) for row in rows]

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
        if status == "expired" or with_expired:
            with suppress(StoreUnavailable):  # What can be read is shown all the same.
                await self.forget()
        values: Sequence[Any] = (tenant, self._clock())
        where, more = self._write_where(status, matching, with_expired=with_expired)
        values, page = (*values, *more), f"{where} AND number > ${len(more) + 3} ORDER BY number LIMIT ${len(more) + 4}"
        rows = await self._database.read("list_approvals", *values, int(cursor or 0), limit + 1, where=page)
        [(total,)] = await self._database.read("count_listed_approvals", *values, where=where)
        listed: list[ListedApproval] = []
        size = last = 0
        async for number, text in in_turns(rows):
            if len(listed) == limit or size >= _PAGE_BYTES:
                return ApprovalPage(listed, str(last), total)
            listed.append(ListedApproval.model_validate_json(text))
            size, last = size + len(text), number
        return ApprovalPage(listed, None, total)

    def _write_where(
        self, status: ApprovalStatus | None, matching: Mapping[str, str], *, with_expired: bool
    ) -> tuple[str, Sequence[str]]:
        """Return conditions with placeholders from $3 on, and the values of these."""
        dialect = self._database.dialect
        wanted: dict[str, str] = {} if status is None else {"status": status}
        wanted |= {_write_path(dialect, FILTERS[name]): value for name, value in matching.items()}
        where = "" if with_expired or status is not None else "AND status <> 'expired' "
        where += " ".join(f"AND {column} = ${number}" for number, column in enumerate(wanted, 3))
        return where, list(wanted.values())

    async def count_by_conversation(self, tenant: str, requested_by: str | None = None) -> Mapping[str, int]:
        """Count the calls of each conversation that wait for a person."""
        rows = await self._database.read("count_approvals_by_conversation", tenant, self._clock(), requested_by)
        return {name: count for name, count in rows if name is not None}

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision; of several concurrent ones, in any process, one succeeds.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
            TooManyApprovals: There is no room for what the person wrote; nothing is decided then.
        """
        before = await self.get(approval_id)
        after = before.decide(decision, by)
        with self._carried.deciding(approval_id):
            if await self._change(before, after):
                self._carried.begin(after)
                return after
        (await self.get(approval_id)).require_pending()  # Another process was faster.
        raise TooManyApprovals(APPROVALS_FULL)

    def on_orphan(self, listener: OnOrphan | None) -> None:
        """Register a listener for decisions that were stored without being delivered; None removes it."""
        self._carried.hear(listener)
        self._expired.hear(listener)

    async def _find_own(self, approval_id: str) -> ApprovalRecord | None:
        rows = await self._database.read("get_own_approval", approval_id, self._owner)
        return read_packed(rows[0][0]) if rows else None

    async def reopen(self, approval_id: str, preview: Preview | None = None) -> ApprovalRecord:
        """Revoke a decision: there was no room to run the call, or it waits again, with this preview.

        Raises:
            TooManyApprovals: There is no room for the preview; the call counts as running then.
        """
        before = await self._find_running(approval_id)
        expires = None if preview is None else self._clock() + self._ttl
        return await self._replace(before, before.reopen(preview, self._ttl), expires)

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Store the answer of a decided call; retry while the database is unavailable.

        Raises:
            TooManyApprovals: There is no room for it; a short one always fits.
        """
        before = await self._find_running(approval_id)
        return await self._replace(before, before.answer(message))

    async def _replace(
        self, before: ApprovalRecord, after: ApprovalRecord, expires: float | None = None
    ) -> ApprovalRecord:
        approval_id = before.approval.id
        if await self._insist(before, after, expires):
            return after
        try:
            kept = await self.get(approval_id)
        except (UnknownApproval, StoreUnavailable):
            self._carried.leave(approval_id)
            return after
        if _is_open(kept):
            raise TooManyApprovals(APPROVALS_FULL)
        self._carried.end(approval_id)
        return kept  # This server was considered dead, and another one wrote the answer that everybody gets.

    async def forget(self) -> None:
        """Delete expired approvals.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        now, number = self._clock(), 0
        while expired := await self._database.read("list_expired_approvals", now, number, _AT_ONCE):
            number = expired[-1][0]
            for _, _, text in expired:
                record = read_packed(text)
                if await self._expire(record, now):
                    self._expired.note(record)
        await self._database.write("forget_approvals", now)

    async def _expire_one(self, approval_id: str, now: float) -> bool:
        rows = await self._database.read("find_expired_approval", approval_id, now)
        return bool(rows) and await self._expire(read_packed(rows[0][0]), now)

    async def _expire(self, record: ApprovalRecord, now: float) -> bool:
        """List an undecided call as expired for a while; return False where it was decided first."""
        approval_id, packed = record.approval.id, PackedApproval.of(expire(record))
        if packed.size > _BESIDE:  # Its id is long.
            return await self._database.write("drop_expired_approval", approval_id, now) is not None
        texts = packed.list()[0].model_dump_json(), packed.write()
        values = (approval_id, now, *texts, max(self._ttl, EXPIRED_SHOWN))
        return await self._database.write("expire_approval", *values) is not None

    async def settle_lost(self, make_answer: MakeAnswer, dead_since: float) -> int:
        """Answer calls that were decided by servers that stopped responding; return how many."""
        settled = 0
        for _, text in await self._database.read("find_lost_approvals", dead_since):
            record = read_packed(text)
            answer = answer_lost(record, make_answer)
            if await self._change(record, record.answer(answer)):
                settled += 1
                self._carried.note_lost(record, answer)
        return settled

    async def close(self) -> None:
        """Discard what could not be written; the next process that opens the database recovers it as unanswered."""
        self._carried.close()
        for task in self._late:
            task.cancel()

    async def _find_running(self, approval_id: str) -> ApprovalRecord:
        return self._carried.get(approval_id) or await self.get(approval_id)

    async def _change(
        self, before: ApprovalRecord, after: ApprovalRecord, expires: float | None = None, owner: str | None = None
    ) -> bool:
        """Replace a record; return False where it has changed meanwhile, or the new one is too large."""
        if await self._write(before, after, expires, owner):
            return True
        more = PackedApproval.of(after).size - PackedApproval.of(before).size
        return more > 0 and await self._ended.make_room(more) and await self._write(before, after, expires, owner)

    async def _write(
        self, before: ApprovalRecord, after: ApprovalRecord, expires: float | None = None, owner: str | None = None
    ) -> bool:
        """Replace a record, if it has not changed and there is room.

        It keeps its expiry unless the new one names another. `owner` is the server that runs the call, where that
        matters.
        """
        packed = PackedApproval.of(after)
        is_running = _is_open(after)
        row = await self._database.write(
            "change_approval",
            after.approval.id,
            before.approval.status,
            int(_is_open(before)),
            after.approval.status,
            int(is_running),
            self._owner if is_running else None,
            packed.size + _BESIDE,
            self._most_bytes,
            _BESIDE,
            self._clock(),
            packed.list()[0].model_dump_json(),
            packed.write(),
            expires,
            owner,
        )
        return row is not None

    async def _insist(self, before: ApprovalRecord, after: ApprovalRecord, expires: float | None) -> bool:
        """Change a record of a running call; while the database is unavailable, retry even if no client waits."""
        try:
            is_changed = await self._change(before, after, expires, self._owner)
        except (StoreUnavailable, asyncio.CancelledError) as error:
            self._carried.begin(before)
            task = asyncio.create_task(self._try_again(before, after, expires))
            self._late.add(task)
            task.add_done_callback(self._late.discard)
            if isinstance(error, asyncio.CancelledError):
                raise
            return True
        if is_changed:
            self._carried.end(before.approval.id)
        return is_changed

    async def _try_again(self, before: ApprovalRecord, after: ApprovalRecord, expires: float | None) -> None:
        approval_id = before.approval.id
        # If that write succeeded after all and was decided again, another record is running here.
        while self._carried.get(approval_id) is before:
            await asyncio.sleep(_PAUSE)
            with suppress(StoreUnavailable):
                if self._carried.is_deciding(approval_id) or self._carried.get(approval_id) is not before:
                    continue
                if await self._change(before, after, expires, self._owner):
                    self._carried.end(approval_id)
                else:  # It was written, or another server has answered, or there is no room.
                    self._carried.leave(approval_id)


def _write_path(dialect: Dialect, path: tuple[str, ...]) -> str:
    """Write where a text stands in what lists show; PostgreSQL reads no NUL out of JSON."""
    if dialect == "sqlite":
        return f"json_extract(listed, '$.{'.'.join(path)}')"
    return f"(CAST(replace(listed, '\\u0000', '\\u0001') AS json) #>> '{{{','.join(path)}}}')"


def _is_open(record: ApprovalRecord) -> bool:
    """Return whether a call is decided and has no answer yet; a rejected one gets an answer too."""
    return record.approval.status != "pending" and record.approval.message is None
