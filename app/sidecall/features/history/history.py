"""The history of calls that ended at this server."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import islice
from operator import attrgetter

from sidecall.feature import Start
from sidecall.features.history.blocks import Block, Piece
from sidecall.features.history.conversations import (
    ConversationCount,
    ConversationKey,
    ConversationSearch,
    CountedConversation,
)
from sidecall.features.history.listing import BlockReader
from sidecall.features.history.memory_store import (
    Blocks,
    BlockSearch,
    HistoryBounds,
    MemoryBlocks,
    find_in,
    find_sums,
    read_in,
)
from sidecall.features.history.packing import Packer
from sidecall.features.history.pending_calls import PendingCalls
from sidecall.features.history.redactor import CallRedactor
from sidecall.features.history.rollups import (
    HOUR,
    CallSummary,
    FoundSum,
    SummaryPart,
    SumSearch,
    choose_part,
    find_without_kind,
    summarize,
)
from sidecall.features.history.sql_store import SqlBlocks
from sidecall.features.jobs.errors import CallNotKept, UnknownCall
from sidecall.features.ledger.open_ledger import IN_MEMORY, open_history
from sidecall.features.telemetry.redact import Redaction
from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.context import Caller, cut_id
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.call_entry import OPEN, CallEntry, CallFilter, CallPage
from sidecall.kernel.ports.observer import CallNotes
from sidecall.storage.database import Database

logger = logging.getLogger("sidecall")

# Seconds between two writes, and between two checks for old calls.
_ROUND = 0.5

_LOOK = 5.0
# Others get a turn between two steps of deletion.
_REST = 0.02
# Blocks that are written at once.
_WRITTEN = 32

_EVER = 2**40


class History:
    """Note each ended call, write it a moment later, and find it again."""

    def __init__(self, notes: PendingCalls, packer: Packer, blocks: Blocks, ttl: float) -> None:
        """Take the parts; calls are kept for `ttl` seconds."""
        self._notes = notes
        self.notes: CallNotes = notes
        self._packer = packer
        self._blocks = blocks
        self._ttl = ttl
        self._backlog: deque[Block] = deque()
        self._found = HistoryWithPending(blocks, self._backlog, packer)
        self._listing = BlockReader(self._found, ttl)
        self._writing: asyncio.Task[None] | None = None
        self._rounds: list[asyncio.Task[None]] = []
        self._told = 0
        notes.when_many = self._pack_all

    @property
    def dropped(self) -> int:
        """How many calls were dropped for lack of room."""
        return self._notes.dropped

    @property
    def database(self) -> Database | None:
        """The database of the history; None in memory."""
        return self._blocks.database

    async def open(self) -> None:
        """Start to write.

        Raises:
            StoreUnfit: The store cannot be used by this version.
        """
        await self._blocks.open()
        self._rounds = [asyncio.create_task(self._go_round()), asyncio.create_task(self._forget())]

    async def close(self) -> None:
        """Write the rest, within a bounded time."""
        if not self._rounds:
            return
        for task in self._rounds:
            task.cancel()
        await asyncio.gather(*self._rounds, return_exceptions=True)
        self._rounds = []
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self._blocks.close)
            stack.callback(self._give_up)
            await self._settle_if_possible()

    async def settle(self) -> None:
        """Write all noted calls.

        Raises:
            StoreUnavailable: The store is unavailable.
        """
        while self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])
        await self._notes.settle()
        if self._notes or self._backlog or self._notes.conversations:
            self._writing = asyncio.create_task(self._write())
            await outlast(self._writing)

    async def list(self, wanted: CallFilter, limit: int, cursor: str | None) -> CallPage:
        """List calls, newest first, up to `limit`, after the cursor of the page before."""
        if wanted.status in OPEN:
            return CallPage([])
        await self._settle_if_possible()
        if wanted.caller is not None:
            wanted = replace(wanted, caller=cut_id(wanted.caller))  # As it is kept.
        return await self._listing.list_page(wanted, limit, cursor)

    async def get(self, call_id: str, tenant: str) -> CallEntry:
        """Find a call.

        Raises:
            UnknownCall: The tenant has no kept call of that id.
        """
        await self._settle_if_possible()
        found = await self._listing.find(call_id, tenant)
        if found is None:
            raise UnknownCall
        return found[0]

    async def get_sent(self, call_id: str, tenant: str) -> CallRecord:
        """Return a call as it was sent.

        Raises:
            UnknownCall: The tenant has no kept call of that id.
            CallNotKept: The request is not kept, or not completely.
        """
        await self._settle_if_possible()
        found = await self._listing.find(call_id, tenant)
        if found is None:
            raise UnknownCall
        entry, is_whole = found
        if not is_whole:
            raise CallNotKept
        call = ToolCall(name=entry.name, args=entry.args, id=entry.tool_call_id)
        caller = Caller(entry.caller, tenant)
        return CallRecord(id=call_id, created_at=entry.created_at, tool_call=call, caller=caller)

    async def list_conversations(self, search: ConversationSearch) -> Sequence[CountedConversation]:
        """Return conversations, the latest first."""
        await self._settle_if_possible()
        since = max(search.since, time.time() - self._ttl)
        return await self._blocks.find_conversations(replace(search, since=since))

    async def find_conversation(self, key: ConversationKey) -> ConversationCount | None:
        """Return the counts of a conversation; None if none is kept."""
        await self._settle_if_possible()
        found = await self._blocks.get_conversation(key)
        return found if found is None or found.last >= time.time() - self._ttl else None

    async def summarize(self, by: Sequence[SummaryPart], wanted: CallFilter) -> CallSummary:
        """Summarize calls in groups, in whole hours that begin before `until` and end after `since`.

        Of a filter, tool, status, kind and caller count besides these.
        """
        await self._settle_if_possible()
        since, until = wanted.since, wanted.until
        if wanted.caller is not None:
            wanted = replace(wanted, caller=cut_id(wanted.caller))  # As it is kept.
        first = None if since is None else int(since // HOUR)
        before = None if until is None else int(-(-until // HOUR))
        # On the day of the oldest stored hour, the hours before it do not count.
        oldest = max(first or 0, int(time.time() - self._ttl) // HOUR)
        end = _EVER if before is None else before
        search = SumSearch(wanted.tenant, choose_part(by, wanted), oldest, end, "hour" in by)
        found = await self._found.sum_up(search)
        if search.part == "kind":
            found = [*found, *find_without_kind(await self._found.sum_up(replace(search, part="status")))]
        return summarize(by, wanted, (first, before), found)

    async def _settle_if_possible(self) -> None:
        # Waiting calls and earlier ones are still found.
        try:
            await self.settle()
        except StoreUnavailable:
            pass
        except Exception:
            logger.exception("calls could not be written into the history")

    def _pack_all(self) -> None:
        """Pack the noted calls, as long as there is about a full block of them."""
        for block in self._packer.pack(self._notes.take()):
            self._backlog.append(block)
            self._notes.held += block.size
        failures = self._packer.take_failures()
        if failures:
            self._warn_missing("for which there was no room")
            self._notes.dropped += len(failures)
            self._warn_missing("which could not be packed", failures[0])

    async def _write(self) -> None:
        self._pack_all()
        while self._backlog or self._packer.sums or self._notes.conversations:
            blocks = list(islice(self._backlog, _WRITTEN))
            sums, counted = self._packer.take_sums(), self._notes.conversations.take()
            try:
                await self._blocks.keep(blocks, sums, counted)
            except BaseException:
                self._packer.sums.add(sums)
                self._notes.conversations.add(counted)
                raise
            for block in blocks:
                self._backlog.popleft()
                self._notes.held -= block.size
        self._warn_missing("for which there was no room")

    def _give_up(self) -> None:
        """Count the calls that could not be written before shutdown."""
        self._warn_missing("for which there was no room")
        self._notes.dropped += sum(block.calls for block in self._backlog)
        self._backlog.clear()
        self._warn_missing("which could not be written before this server ended")

    def _warn_missing(self, why: str, failure: Exception | None = None) -> None:
        if self.dropped != self._told:
            logger.warning("the history lacks %d calls, %s", self.dropped - self._told, why, exc_info=failure)
            self._told = self.dropped

    async def _go_round(self) -> None:
        while True:
            await asyncio.sleep(_ROUND)
            await self._settle_if_possible()

    async def _forget(self) -> None:
        while True:
            more = False
            try:
                more = await self._blocks.forget(time.time())
            except StoreUnavailable:
                pass
            except Exception:
                logger.exception("the history could not be looked through for what is too old")
            await asyncio.sleep(_REST if more else _LOOK)


def make_history(start: Start) -> History:
    """Make the history of a server, next to its ledger; it is opened when the server starts.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    settings = start.server
    most = settings.max_history_value_bytes
    redactor = CallRedactor(Redaction(settings.log_redact, longest=most), most) if settings.history == "full" else None
    kept = HistoryBounds(settings.history_ttl, settings.max_history_calls, settings.max_history_bytes)
    database = open_history(settings.store or IN_MEMORY, is_server=start.is_server, writers=start.writers)
    blocks = MemoryBlocks(kept) if database is None else SqlBlocks(database, kept)
    return History(PendingCalls(settings.history_buffer_bytes, redactor), Packer(), blocks, kept.ttl)


_by_last_id = attrgetter("last_id")


class HistoryWithPending:
    """Find blocks and sums, both stored and pending."""

    def __init__(self, blocks: Blocks, backlog: Collection[Block], packer: Packer) -> None:
        """Join the store with the blocks of a backlog, and with a packer's sums."""
        self._blocks = blocks
        self._backlog = backlog
        self._packer = packer

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""
        waiting = find_in(sorted(self._backlog, key=_by_last_id), search)
        found = dict(await self._blocks.find(search))
        return sorted((found | dict(waiting)).items(), reverse=True)[: search.most]

    async def read(self, tenant: str, pieces: Mapping[str, Piece]) -> Mapping[str, bytes]:
        """Return these parts of what blocks keep of their calls."""
        found = read_in(self._backlog, tenant, pieces)
        rest = {last_id: piece for last_id, piece in pieces.items() if last_id not in found}
        return {**found, **await self._blocks.read(tenant, rest)} if rest else found

    async def sum_up(self, wanted: SumSearch) -> Sequence[FoundSum]:
        """Return the sums that are wanted."""
        waiting = find_sums(self._packer.sums, wanted)
        return [*await self._blocks.sum_up(wanted), *waiting]
