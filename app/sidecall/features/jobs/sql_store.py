"""Calls in a database."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import from_json

from sidecall.features.jobs.errors import UnknownCall
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import Acceptance, CallCompletion, CallDecision, measure_queue
from sidecall.features.jobs.retention import CallBounds, KeptCalls
from sidecall.features.jobs.stores import AcceptedCall, EndedCalls
from sidecall.kernel.concurrency.fair_queue import Shares
from sidecall.kernel.concurrency.loop_turns import make_each
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.cost import to_number
from sidecall.kernel.core.messages import read_stored
from sidecall.kernel.json_data.text import quote_text
from sidecall.kernel.ports.call_entry import (
    CallEntry,
    CallFilter,
    CallPage,
    measure_ms,
    to_datetime,
)
from sidecall.storage.database import LONG_READS, Database, Row, read_page

# The number of an entry's columns, in the order of the statements that read one.
_COLUMNS = 23

ATTEMPT = 8

_ENDED = 11
# Bytes of a row besides its texts.
_BESIDE = 256


class SqlCalls:
    """Store calls in one table; a call with a key is indexed by it."""

    def __init__(
        self, database: Database, bounds: CallBounds | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._database = database
        self._clock = clock
        self._kept = KeptCalls(database, bounds, clock)
        self.kept: EndedCalls = self._kept
        # A filter that matches few of many calls may take long.
        self._shares = Shares(LONG_READS[database.dialect], most_waiting=1000)

    async def accept(self, call: CallRecord, acceptance: Acceptance) -> AcceptedCall | None:
        """Store a call that is begun or queued; None if there is one with its key.

        Raises:
            StoreUnavailable: It was not accepted.
        """
        origin, record = call.origin, call.write()
        args, key, owner = acceptance.args, acceptance.key, acceptance.owner
        whose, created = _name_call(call)
        status, attempt, started = ("queued", 0, None) if owner is None else ("running", 1, created)
        known = (None, None, None) if key is None else (key.text, key.fingerprint, key.expires_at)
        url = acceptance.callback_url
        size = len(record) + _BESIDE + _measure(args)
        row: Row | None = None
        self._kept.take(1, size)  # Before the write, so that each of many concurrent ones counts those before it.
        try:
            row = await self._database.write(
                *("accept_call", *whose, status, attempt, owner, created, started, args, record.decode(), *known),
                *(acceptance.replay_of, size, url, None if url is None else created, *origin),
                size=size,
            )
        finally:
            if row is None:
                self._kept.take(-1, -size)
        return None if row is None else AcceptedCall(call, acceptance)

    async def record(self, call: CallRecord, acceptance: Acceptance, end: CallCompletion) -> AcceptedCall | None:
        """Store a call that has ended in its first attempt; None if there is one with its key.

        Raises:
            StoreUnavailable: It was not stored.
        """
        record, message, now, key = call.write(), end.store(), self._clock(), acceptance.key
        whose, created = _name_call(call)
        free_at = self._kept.keep_until(now, was_held=False)
        known: Row = (None, None, None, free_at)
        if key is not None:
            expires_at = key.expires_at + now - created  # Ended calls renew the time of their key.
            known = (key.text, key.fingerprint, expires_at, max(free_at, expires_at))
        said = None if end.decision is None else end.decision.write()
        size = len(record) + _measure(acceptance.args) + len(message) + _measure(said) + _BESIDE
        texts = (acceptance.args, record.decode(), message.decode())
        conversation_id, trace_id, request_id = call.origin
        row: Row | None = None
        self._kept.take(1, size)
        try:
            row = await self._database.write(
                *("record_call", *whose, end.status, end.kind, created, created, now),
                *(*texts, *known, acceptance.replay_of, size, said, end.cost, end.waited, end.attempts),
                *(conversation_id, end.trace_id or trace_id, request_id),
                size=size,
            )
        finally:
            if row is None:
                self._kept.take(-1, -size)
        return None if row is None else AcceptedCall(call, acceptance, end, now)

    async def find(self, key: CallKey) -> CallEntry | None:
        """Find the call of a key; None if there is none or the key has expired, which frees it.

        Raises:
            KeyReused: It belongs to another call.
        """
        rows = await self._database.read("find_key", key.text)
        if not rows:
            return None
        fingerprint, expires_at = rows[0][_COLUMNS:]
        now = self._clock()
        if rows[0][_ENDED] is not None and expires_at <= now:
            await self._database.write("free_key", rows[0][0], now)
            return None
        key.require_same_call(fingerprint)
        return to_entry(rows[0][:_COLUMNS])

    async def get(self, call_id: str, tenant: str) -> CallEntry:
        """Find a call.

        Raises:
            UnknownCall: This tenant has none of that id.
        """
        rows = await self._database.read("get_call", call_id, tenant)
        if not rows:
            raise UnknownCall
        return to_entry(rows[0])

    async def get_record(self, call_id: str) -> CallRecord | None:
        """Return a call as it was sent; None if it is not kept."""
        rows = await self._database.read("get_call_record", call_id)
        return None if not rows or rows[0][0] is None else CallRecord.from_json(rows[0][0])

    async def list(
        self, wanted: CallFilter, limit: int = 100, cursor: str | None = None, *, is_whole: bool = False
    ) -> CallPage:
        """List calls, newest first, up to `limit`, fewer when they are large, with or without answers."""
        async with self._shares.take((wanted.tenant, "")):
            page = await read_page(self._database, wanted, limit, cursor, is_whole=is_whole)
        return CallPage(await make_each(to_entry, page.rows), page.cursor)

    async def release(self, call_id: str, attempt: int) -> bool:
        """Queue a call again that could not start, or may run twice; return whether its cancellation was requested."""
        row = await self._database.write("release_call", call_id, attempt)
        return row is not None and bool(row[1])

    async def hold(
        self, call_id: str, attempt: int | None, approval_id: str, decision: CallDecision | None = None
    ) -> bool:
        """Mark a call as waiting for a person, even one without an attempt.

        Return whether its cancellation was requested.
        """
        said = None if decision is None else decision.write()
        size = _measure(said)
        step = (
            ("hold_call", attempt, approval_id) if attempt is not None else ("hold_call_again", approval_id, said, size)
        )
        row = await self._database.write(step[0], call_id, *step[1:], size=size)
        if row is not None:
            self._kept.take(0, size)
        return row is not None and bool(row[1])

    async def finish(self, call_id: str, attempt: int | None, end: CallCompletion) -> float | None:
        """End an attempt (None for a call that waits for a person), and return the time.

        None if another end was stored first.
        """
        text, now, is_held = end.store(), self._clock(), attempt is None
        said = None if end.decision is None else end.decision.write()
        message, size = text.decode(), len(text) + _measure(said)
        told = (end.status, end.kind, message, now, size, self._kept.keep_until(now, was_held=is_held))
        row = (
            ("settle_call", call_id, *told, int(end.never_ran), said, end.cost)
            if is_held
            else ("finish_call", call_id, attempt, *told, said, end.cost, end.trace_id, end.waited, end.attempts)
        )
        if await self._database.write(*row, size=size) is None:
            return None
        self._kept.take(0, size)
        return now

    async def forget(self, call_id: str, attempt: int) -> None:
        """Forget a call that was refused before it began, and its key."""
        row = await self._database.write("forget_call", call_id, attempt)
        if row is not None:
            self._kept.take(-1, -row[1])

    async def list_held(self, limit: int = 1000) -> Sequence[CallEntry]:
        """List the calls that wait for a person, longest waiting first."""
        return [to_entry(row) for row in await self._database.read("list_held_calls", limit)]

    async def find_suspended(self, approval_id: str) -> CallEntry | None:
        """Find the call that waits for this approval; None if none does."""
        rows = await self._database.read("find_suspended_call", approval_id)
        return to_entry(rows[0]) if rows else None


def _name_call(call: CallRecord) -> tuple[Row, float]:
    """Return the tenant and id of a call as columns, and its creation time in seconds since 1970."""
    said = call.__dict__  # All at once, since attribute access on a model is slow.
    caller, sent = said["caller"], said["tool_call"].__dict__
    named = (said["id"], caller.tenant, caller.subject, sent["name"], quote_text(sent["id"]))
    return named, said["created_at"].timestamp()


def to_entry(row: Row) -> CallEntry:
    """Read an entry from the columns of one."""
    call_id, tenant, caller, name, sent_id, status, kind, durable, attempt, created, started, ended, *texts = row
    args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, *turn, message = texts
    cost, waited, attempts = turn
    started_at = None if started is None else to_datetime(started)
    ended_at = None if ended is None else to_datetime(ended)
    origin = {"conversation_id": conversation_id, "trace_id": trace_id, "request_id": request_id}
    shown = {"args": _read(args), "approval_id": approval_id, **origin}
    shown |= {} if decision is None else CallDecision.read(decision).describe()
    return CallEntry(
        id=call_id,
        name=name,
        tool_call_id=json.loads(sent_id),
        status=status,
        kind=kind,
        caller=caller,
        tenant=tenant,
        is_durable=bool(durable),
        attempt=attempt,
        created_at=to_datetime(created),
        started_at=started_at,
        ended_at=ended_at,
        duration_ms=None if started_at is None or ended_at is None else measure_ms(started_at, ended_at),
        replay_of=replay_of,
        queue_ms=None if waited is None else measure_queue(waited, to_datetime(created), started_at, attempt),
        attempts=attempts,
        cost=None if cost is None else to_number(cost),
        message=None if message is None else read_stored(json.loads(message)),
        **shown,
    )


def _measure(text: str | None) -> int:
    if text is None:
        return 0
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)
