"""Find calls in blocks, in the order of their ids."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sidecall.features.history.blocks import (
    SPAN,
    Heads,
    Piece,
    cut_body,
    find_piece,
    make_entry,
    read_heads,
    unpack_body,
)
from sidecall.features.history.memory_store import BlockSearch, FoundBlocks
from sidecall.features.history.rollups import to_milliseconds
from sidecall.kernel.concurrency.loop_turns import in_turns
from sidecall.kernel.ports.call_entry import PAGE_CHARACTERS, CallEntry, CallFilter, CallPage
from sidecall.storage.database import first_id

# Blocks that are read first, and at most, at once.
_FEW = 4
_MANY = 128
# Bytes that are read at once, about.
_PORTION = 4 * 1024 * 1024
# Beyond all ids.
_TOP = "g"
# Seconds; a moment in seconds is not exact.
_SLACK = 0.01


@dataclass(frozen=True, slots=True)
class _Place:
    block: str
    heads: Heads
    index: int


class BlockReader:
    """Read calls newest first; skip a block whose calls are older than those found already."""

    def __init__(self, blocks: FoundBlocks, ttl: float) -> None:
        """Take the store; calls older than `ttl` seconds are not listed even if they are still stored."""
        self._blocks = blocks
        self._ttl = ttl

    async def list_page(self, wanted: CallFilter, limit: int, cursor: str | None) -> CallPage:
        """List calls, newest first, up to `limit`, fewer when they are large."""
        first = "" if wanted.since is None else first_id(wanted.since)
        before = _TOP if wanted.until is None else first_id(wanted.until)
        found = await self._find(wanted, first, before if cursor is None else min(before, cursor), limit + 1)
        chosen = sorted(found, reverse=True)[:limit]
        shown, seen = await self._show(wanted.tenant, [found[call_id] for call_id in chosen])
        return CallPage([entry for entry, _ in shown], chosen[seen - 1] if len(found) > seen else None)

    async def find(self, call_id: str, tenant: str) -> tuple[CallEntry, bool] | None:
        """Find a call, and whether its arguments are kept just as they were sent."""
        found = await self._find(CallFilter(tenant), call_id, f"{call_id}~", 1)
        shown, _ = await self._show(tenant, list(found.values()))
        return shown[0] if shown else None

    async def _find(self, wanted: CallFilter, first: str, before: str, most: int) -> dict[str, _Place]:
        """Find at least `most` of the newest calls: all that are not older than the last of them."""
        found: dict[str, _Place] = {}
        first = max(first, first_id(time.time() - self._ttl))
        last, count, seen = _end_of_blocks(before), _FEW, 0
        while True:
            blocks = await self._blocks.find(BlockSearch(wanted, first, before, last, count))
            async for block, text in in_turns(blocks, 4):
                heads = read_heads(text)
                found |= {call_id: _Place(block, heads, index) for call_id, index in heads.find(wanted, first, before)}
            if len(blocks) < count:
                return found
            # The remaining blocks end before this one, so they contain nothing newer.
            last = blocks[-1][0]
            sure = sum(call_id >= last for call_id in found)
            if sure >= most:
                return {call_id: place for call_id, place in found.items() if call_id >= last}
            # An estimate of how many contain the rest.
            seen += count
            count = min(max(_FEW, (seen * (most - sure) // sure + 2) if sure else 4 * count), _MANY)

    async def _show(self, tenant: str, places: Sequence[_Place]) -> tuple[list[tuple[CallEntry, bool]], int]:
        """Read calls until a page is full; return them, and how many were read."""
        shown, size, seen = list[tuple[CallEntry, bool]](), 0, 0
        for portion in _split(places):
            pieces = _find_pieces(portion)
            found = await self._blocks.read(tenant, pieces)
            async for place in in_turns(portion):
                if size >= PAGE_CHARACTERS:
                    return shown, seen
                seen += 1
                text = found.get(place.block)
                if text is not None:  # It may have been deleted meanwhile.
                    kept = cut_body(text, pieces[place.block].begin, place.heads.places, place.index)
                    body = unpack_body(kept)
                    shown.append((make_entry(tenant, place.heads, place.index, body), body.is_whole))
                    size += len(kept)
        return shown, seen


def _split(places: Sequence[_Place]) -> Iterator[Sequence[_Place]]:
    """Yield places in groups that are read at once; unwanted calls may lie between two of a block."""
    begun, size = 0, 0
    spans: dict[str, Piece] = {}
    for number, place in enumerate(places):
        span = _widen(spans.get(place.block), place)
        more = _measure(span) - _measure(spans.get(place.block))
        if number > begun and size + more > _PORTION:
            yield places[begun:number]
            begun, size, spans = number, 0, {}
            span = _widen(None, place)
            more = _measure(span)
        spans[place.block] = span
        size += more
    if places:
        yield places[begun:]


def _widen(span: Piece | None, place: _Place) -> Piece:
    """Return the part of a block from one call to another; the end of the last one is not known."""
    own = place.heads.places[place.index : place.index + 2]
    return Piece(own[0], own[-1]) if span is None else Piece(min(span.begin, own[0]), max(span.end, own[-1]))


def _measure(span: Piece | None) -> int:
    return 0 if span is None else span.end - span.begin


def _find_pieces(places: Sequence[_Place]) -> dict[str, Piece]:
    wanted: dict[str, list[int]] = {}
    heads = {place.block: place.heads for place in places}
    for place in places:
        wanted.setdefault(place.block, []).append(place.index)
    return {block: find_piece(heads[block].places, indexes) for block, indexes in wanted.items()}


def _end_of_blocks(before: str) -> str:
    """Return what the last ids of all blocks with an id below this one are below."""
    try:
        return first_id((to_milliseconds(before) + SPAN + 1) / 1000 + _SLACK)
    except ValueError:  # That of no call.
        return _TOP
