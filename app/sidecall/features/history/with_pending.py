"""The stored history together with calls that are not written yet."""

from collections.abc import Collection, Mapping, Sequence
from operator import attrgetter

from sidecall.features.history.blocks import Block, Piece
from sidecall.features.history.memory_store import find_in, find_sums, read_in
from sidecall.features.history.packing import Packer
from sidecall.features.history.rollups import FoundSum, SummaryPart
from sidecall.features.history.stores import Blocks, BlockSearch

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

    async def sum_up(self, tenant: str, by: SummaryPart, first: int, before: int) -> Sequence[FoundSum]:
        """Return the sums of these hours."""
        waiting = find_sums(self._packer.sums, tenant, by, first, before)
        return [*await self._blocks.sum_up(tenant, by, first, before), *waiting]
