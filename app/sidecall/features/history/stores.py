"""Protocols of the store of blocks and sums."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sidecall.features.calls.entry import CallFilter
from sidecall.features.history.blocks import Block, Piece, mark
from sidecall.storage.database import Database

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
        single = (("kind", wanted.kind), ("caller", wanted.caller), ("status", wanted.status))
        groups = [(mark(part, value),) for part, value in single if value is not None]
        named = [] if wanted.names is None else [tuple(mark("name", name) for name in wanted.names)]
        # Nearly every block has a success.
        return [*named, *groups] if wanted.status == "succeeded" else [*groups, *named]


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

    async def sum_up(self, tenant: str, by: "_sums.SummaryPart", first: int, before: int) -> "Sequence[_sums.FoundSum]":
        """Return the sums of these hours, all within what is kept."""


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

    async def keep(self, blocks: Sequence[Block], sums: "Sequence[_sums.Sum]") -> None:
        """Store blocks, and add to sums, durably if the store is durable."""

    async def forget(self, now: float) -> bool:
        """Delete some calls that are too old or too many, in a short step; return whether there may be more."""
