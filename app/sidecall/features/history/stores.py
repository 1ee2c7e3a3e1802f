"""Where blocks and sums are kept."""

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
    """Which blocks are looked for: those that may hold a call that is wanted, with an id from `first` on.

    `last` is what the last id of a block has to be below, and `before` the first one.
    """

    wanted: CallFilter
    first: str
    before: str
    last: str
    most: int

    def list_marks(self) -> list[tuple[str, ...]]:
        """List the marks that such a block has, one of each group; those that the fewest blocks have come first."""
        wanted = self.wanted
        single = (("kind", wanted.kind), ("caller", wanted.caller), ("status", wanted.status))
        groups = [(mark(part, value),) for part, value in single if value is not None]
        named = [] if wanted.names is None else [tuple(mark("name", name) for name in wanted.names)]
        # Nearly every block has one that succeeded.
        return [*named, *groups] if wanted.status == "succeeded" else [*groups, *named]


@dataclass(frozen=True, slots=True)
class HistoryBounds:
    """How long calls are kept, in seconds, and how many, in how many bytes."""

    ttl: float
    most_calls: int
    most_bytes: int

    def can_spare(self, calls: int, size: int) -> bool:
        """Return whether as much is kept without a block as there may be: it goes only where so much is left then."""
        return calls >= self.most_calls or size >= self.most_bytes


class FoundBlocks(Protocol):
    """Where blocks and sums are found; all methods raise StoreUnavailable where that cannot be read just now."""

    async def find(self, search: BlockSearch) -> Sequence[tuple[str, bytes]]:
        """Return the last ids and heads of blocks, newest first."""

    async def read(self, tenant: str, pieces: Mapping[str, Piece]) -> Mapping[str, bytes]:
        """Return these parts of what blocks keep of their calls, by their last ids; without blocks that are gone."""

    async def sum_up(self, tenant: str, by: "_sums.SummaryPart", first: int, before: int) -> "Sequence[_sums.FoundSum]":
        """Return the sums of these hours, of which none is older than what is kept."""


class Blocks(FoundBlocks, Protocol):
    """Where blocks and sums are kept; all methods raise StoreUnavailable where that cannot be used just now."""

    @property
    def database(self) -> Database | None:
        """Which database they are in; None for memory."""

    async def open(self) -> None:
        """Make it ready.

        Raises:
            StoreUnfit: It cannot be used by this program.
        """

    async def close(self) -> None:
        """Finish what was begun, for a bounded time."""

    async def keep(self, blocks: Sequence[Block], sums: "Sequence[_sums.Sum]") -> None:
        """Keep blocks, and add to sums; once this returns they outlive this process, if anything here does."""

    async def forget(self, now: float) -> bool:
        """Forget some of what is too old or too much, in a short step; return whether there may be more."""
