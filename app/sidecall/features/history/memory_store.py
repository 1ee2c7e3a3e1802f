"""The history in this process's memory."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from sidecall.features.history.blocks import Block, Piece, mark
from sidecall.features.history.conversations import (
    ROWS,
    ConversationCount,
    ConversationCounts,
    ConversationKey,
    ConversationSearch,
    CountedConversation,
    find_conversations,
)
from sidecall.features.history.rollups import HOUR, FoundSum, Sum, Sums, SumSearch
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.database import Database, first_id

if TYPE_CHECKING:
    from sidecall.features.history import rollups as _sums


@dataclass(frozen=True, slots=True)
class BlockSearch:
    """Filters for blocks that may hold wanted calls, with an id from `first` on.

    The last id of a block has to be below `last`, and its first id below `before`.
    """

    wanted: CallFilter
    first: str
    before: str
    last: str
    most: int

    def list_marks(self) -> list[tuple[str, ...]]:
        """List the marks of matching blocks, one of each group, rarest first."""
        wanted = self.wanted
        single = (
            ("conversation", wanted.conversation_id),
            ("kind", wanted.kind),
            ("caller", wanted.caller),
            ("status", wanted.status),
        )
        groups = [(mark(part, value),) for part, value in single if value is not None]
        named = [] if wanted.names is None else [tuple(mark("name", name) for name in wanted.names)]
        # Nearly every block has a success.
        return [*named, *groups] if wanted.status == "succeeded" else [*groups, *named]

    def list_texts(self) -> list[bytes]:
        """List what stands in the heads of matching blocks."""
        return [f'"{text}"'.encode() for text in (self.wanted.trace_id, self.wanted.request_id) if text is not None]


@dataclass(frozen=True, slots=True)
class HistoryBounds:
    """How long calls are kept, in seconds, and their maximum number and bytes."""

    ttl: float
    most_calls: int
    most_bytes: int

    def can_spare(self, calls: int, size: int) -> bool:
        """Return whether enough would be left without this block: otherwise it stays."""
        return calls >= self.most_calls or size >= self.most_bytes


class FoundBlocks(Protocol):
    """Reads blocks and sums; all methods raise StoreUnavailable while the store cannot be read."""

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""

    async def read(self, tenant: str, pieces: Mapping[str, Piece]) -> Mapping[str, bytes]:
        """Return these parts of blocks, by their last ids; deleted blocks are left out."""

    async def sum_up(self, wanted: "_sums.SumSearch") -> "Sequence[_sums.FoundSum]":
        """Return the sums that are wanted, all of hours within what is kept."""


class Blocks(FoundBlocks, Protocol):
    """Stores blocks and sums; all methods raise StoreUnavailable while the store cannot be used."""

    @property
    def database(self) -> Database | None:
        """The database; None for memory."""

    async def open(self) -> None:
        """Prepare the store.

        Raises:
            StoreUnfit: It cannot be used by this version.
        """

    async def close(self) -> None:
        """Finish pending work, within a bounded time."""

    async def keep(
        self, blocks: Sequence[Block], sums: "Sequence[_sums.Sum]", counted: Sequence[CountedConversation] = ()
    ) -> None:
        """Store blocks, and add to sums and counts of conversations, durably if the store is durable."""

    async def find_conversations(self, search: ConversationSearch) -> Sequence[CountedConversation]:
        """Return conversations, the latest first."""

    async def get_conversation(self, key: ConversationKey) -> ConversationCount | None:
        """Return the counts of a conversation; None if it has none."""

    async def forget(self, now: float) -> bool:
        """Delete some calls that are too old or too many, in a short step; return whether there may be more."""


# More would burden a process that serves calls.
MOST_CALLS = 10_000

MOST_BYTES = 16 * 1024 * 1024

_STEP = 64


class MemoryBlocks:
    """Keep blocks in a list, in the order of their last ids."""

    database = None

    def __init__(self, bounds: HistoryBounds) -> None:
        self._ttl = bounds.ttl
        self._bounds = replace(
            bounds, most_calls=min(bounds.most_calls, MOST_CALLS), most_bytes=min(bounds.most_bytes, MOST_BYTES)
        )
        self._blocks: list[Block] = []
        self._sums = Sums()
        self._conversations = ConversationCounts()
        self._calls = self._bytes = 0
        self._swept = 0

    async def open(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    async def keep(
        self, blocks: Sequence[Block], sums: Sequence[Sum], counted: Sequence[CountedConversation] = ()
    ) -> None:
        """Store blocks, and add to sums; the oldest are deleted at once if there are too many."""
        self._conversations.add(counted)
        self._forget_conversations()
        for block in blocks:
            insort(self._blocks, block, key=_by_last_id)
            self._calls += block.calls
            self._bytes += block.size
        self._sums.add(sums)
        while self._can_spare_oldest():
            self._drop_oldest()

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""
        return find_in(self._blocks, search)

    async def read(self, tenant: str, pieces: Mapping[str, Piece]) -> Mapping[str, bytes]:
        """Return these parts of blocks."""
        return read_in(self._blocks, tenant, pieces)

    async def sum_up(self, wanted: SumSearch) -> Sequence[FoundSum]:
        """Return the sums that are wanted."""
        return find_sums(self._sums, wanted)

    async def forget(self, now: float) -> bool:
        """Delete what is too old."""
        oldest, hour = first_id(now - self._ttl), int(now - self._ttl) // HOUR
        for _ in range(_STEP):
            if not self._blocks or self._blocks[0].last_id >= oldest:
                break
            self._drop_oldest()
        if hour > self._swept:
            self._swept = hour
            self._sums = Sums({key: counts for key, counts in self._sums.items() if key.hour >= hour})
            self._forget_conversations(now - self._ttl)
        return bool(self._blocks) and self._blocks[0].last_id < oldest

    async def find_conversations(self, search: ConversationSearch) -> Sequence[CountedConversation]:
        """Return conversations, the latest first."""
        return find_conversations(self._conversations, search)

    async def get_conversation(self, key: ConversationKey) -> ConversationCount | None:
        """Return the counts of a conversation; None if it has none."""
        return self._conversations.get(key)

    def _forget_conversations(self, oldest: float = 0.0) -> None:
        """Forget those without a call since then, and the oldest of too many."""
        most = ROWS * self._bounds.most_calls
        over = len(self._conversations) - most
        if oldest == 0.0 and over <= 0:
            return
        # A tenth more than has to go, so that this is not done at each call.
        by_age = sorted(self._conversations, key=lambda key: self._conversations[key].last)
        surplus = set(by_age[: over + most // 10]) if over > 0 else set()
        kept = {k: it for k, it in self._conversations.items() if it.last >= oldest and k not in surplus}
        self._conversations = ConversationCounts(kept)

    def _can_spare_oldest(self) -> bool:
        oldest = self._blocks[0] if self._blocks else None
        return oldest is not None and self._bounds.can_spare(self._calls - oldest.calls, self._bytes - oldest.size)

    def _drop_oldest(self) -> None:
        block = self._blocks.pop(0)
        self._calls -= block.calls
        self._bytes -= block.size


def find_in(blocks: Sequence[Block], search: BlockSearch) -> list[tuple[str, bytes]]:
    """Return the last ids and heads of blocks, newest first by their last ids."""
    groups, texts = search.list_marks(), search.list_texts()
    found: list[tuple[str, bytes]] = []
    for index in range(bisect_left(blocks, search.last, key=_by_last_id) - 1, -1, -1):
        block = blocks[index]
        if block.last_id < search.first or len(found) == search.most:
            break
        is_near = block.tenant == search.wanted.tenant and block.first_id < search.before
        if is_near and _has_all(block, groups) and all(text in block.heads for text in texts):
            found.append((block.last_id, block.heads))
    return found


def read_in(blocks: Iterable[Block], tenant: str, pieces: Mapping[str, Piece]) -> dict[str, bytes]:
    """Return parts of what these blocks keep of their calls."""
    return {
        block.last_id: block.bodies[slice(*pieces[block.last_id])]
        for block in blocks
        if block.last_id in pieces and block.tenant == tenant
    }


def find_sums(sums: Sums, wanted: SumSearch) -> list[FoundSum]:
    """Return those that are wanted."""
    found = ((key, counts) for key, counts in sums.items() if wanted.has(key))
    return [FoundSum(key.part, key.value, key.hour, key.span, counts) for key, counts in found]


def _has_all(block: Block, groups: Sequence[Sequence[str]]) -> bool:
    """Return whether one call of a block has a mark of each of these groups."""
    common = -1
    for group in groups:
        bits = 0
        for text in group:
            bits |= block.marks.get(text, 0)
        common &= bits
    return common != 0


def _by_last_id(block: Block) -> str:
    return block.last_id
