"""Calls packed into blocks: columns for filters, then the bodies, so that a call takes a fraction of a row."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from pydantic_core import from_json

from sidecall.features.history.pending_calls import KeptDecision, show_decision
from sidecall.features.history.redactor import read_shown
from sidecall.kernel.core.context import CallOrigin
from sidecall.kernel.core.cost import to_number
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.call_entry import CallEntry, CallFilter, CallStatus, to_datetime

# Maximum calls of a block, and milliseconds between its first and last id.
MOST_CALLS = 256
SPAN = 2000
ID = 36
# Appended to the bodies of a block.
_END = 2**30
_BITS = tuple(1 << index for index in range(MOST_CALLS))


class Heads(NamedTuple):
    """The columns for filters: the id of each call, and by number its tool, caller and outcome.

    `costs` is no filter; in billionths, and empty if no call has cost anything. So are the columns after it if no call
    has a conversation, a trace or a request; the last two have one value for each call. `waits` (microseconds) is empty
    if no call has waited for its turn, and `attempts` if each ran once; both are None in blocks of earlier versions.
    """

    ids: str
    names: list[str]
    callers: list[str]
    ends: list[tuple[CallStatus, str | None]]
    name_of: list[int]
    caller_of: list[int]
    end_of: list[int]
    places: list[int]
    costs: Sequence[int] = ()
    conversations: Sequence[str | None] = ()
    conversation_of: Sequence[int] = ()
    traces: Sequence[str | None] = ()
    requests: Sequence[str | None] = ()
    waits: Sequence[int] | None = None
    attempts: Sequence[int] | None = None

    def find(self, wanted: CallFilter, first: str, before: str) -> Iterator[tuple[str, int]]:
        """Yield id and number of each matching call, with ids from `first` on and below `before`."""
        indexes: Sequence[int] | None = None
        for of, fitting in self._list_conditions(wanted):
            indexes = _places(of, fitting) if indexes is None else [index for index in indexes if of[index] in fitting]
        ids = self.ids
        for index in range(len(self.end_of)) if indexes is None else indexes:
            call_id = ids[index * ID : index * ID + ID]
            if first <= call_id < before:
                yield call_id, index

    def _list_conditions(self, wanted: CallFilter) -> Iterator[tuple[Sequence[Any], set[Any]]]:
        """Yield the columns to filter by, with the wanted numbers or values."""
        if wanted.status is not None or wanted.kind is not None:
            ends = {
                number
                for number, (status, kind) in enumerate(self.ends)
                if wanted.status in (None, status) and wanted.kind in (None, kind)
            }
            yield self.end_of, ends
        if wanted.names is not None:
            yield self.name_of, {number for number, name in enumerate(self.names) if name in wanted.names}
        if wanted.caller is not None:
            yield self.caller_of, {number for number, caller in enumerate(self.callers) if caller == wanted.caller}
        if wanted.conversation_id is not None:
            yield self._condition(self.conversation_of, _find_numbers(self.conversations, wanted.conversation_id))
        if wanted.trace_id is not None:
            yield self._condition(self.traces, {wanted.trace_id})
        if wanted.request_id is not None:
            yield self._condition(self.requests, {wanted.request_id})

    def _condition(self, column: Sequence[Any], fitting: set[Any]) -> tuple[Sequence[Any], set[Any]]:
        """Return what to filter by; no call fits an empty column."""
        return (column, fitting) if column else (self.end_of, set())

    def read_origin(self, index: int) -> CallOrigin:
        """Return what a call belongs to."""
        conversation = self.conversations[self.conversation_of[index]] if self.conversation_of else None
        trace = self.traces[index] if self.traces else None
        return CallOrigin(conversation, trace, self.requests[index] if self.requests else None)

    def read_turn(self, index: int) -> dict[str, Any]:
        """Return what an entry says of how long a call waited for its turn, and how often it ran."""
        waits, attempts = self.waits, self.attempts
        return {
            "queue_ms": None if waits is None else waits[index] / 1000 if waits else 0.0,
            "attempts": None if attempts is None else attempts[index] if attempts else 1,
        }


def _find_numbers(values: Sequence[Any], wanted: Any) -> set[int]:
    return {number for number, value in enumerate(values) if value == wanted}


def _places(of: Sequence[Any], fitting: set[Any]) -> list[int]:
    """Return the positions of these numbers."""
    if len(fitting) > 1:
        return [index for index, number in enumerate(of) if number in fitting]
    # Most calls do not match: they are skipped without a Python step for each.
    found: list[int] = []
    for number in fitting:
        with suppress(ValueError):
            while True:
                found.append(of.index(number, found[-1] + 1 if found else 0))
    return found


class Body(NamedTuple):
    """The stored part of a call that filters do not need; times are in microseconds."""

    call_id: str
    ended: int
    took: int
    tags: list[str]
    args: Any = None
    is_whole: bool = False
    content: Any = None
    error: Any = None
    decision: KeptDecision = ()
    notes: tuple[Sequence[str], Sequence[str]] = ((), ())


@dataclass(frozen=True, slots=True)
class Block:
    """Calls of one tenant that were accepted at about the same time, ordered by id."""

    tenant: str
    first_id: str
    last_id: str
    heads: bytes
    bodies: bytes
    marks: Mapping[str, int]
    calls: int

    @property
    def size(self) -> int:
        """The size in bytes, about."""
        return len(self.heads) + len(self.bodies) + (ID + 50) * (len(self.marks) + 2)


def read_heads(text: bytes) -> Heads:
    """Read the columns for filters."""
    return Heads(*from_json(text))


def mark(part: str, value: str) -> str:
    """Return the mark of blocks in which a call has this value."""
    return f"{part}:{value}"


def make_marks(heads: Heads) -> dict[str, int]:
    """Return all marks of a block, and of each a bit for each call that has it."""
    marks: dict[str, int] = {}
    for part, values, of in (("name", heads.names, heads.name_of), ("caller", heads.callers, heads.caller_of)):
        marks |= {mark(part, value): bits for value, bits in zip(values, _spread(len(values), of), strict=True)}
    if heads.conversation_of:
        spread = _spread(len(heads.conversations), heads.conversation_of)
        named = zip(heads.conversations, spread, strict=True)
        marks |= {mark("conversation", value): bits for value, bits in named if value is not None}
    for (status, kind), bits in zip(heads.ends, _spread(len(heads.ends), heads.end_of), strict=True):
        for text in [mark("status", status)] + ([] if kind is None else [mark("kind", kind)]):
            marks[text] = marks.get(text, 0) | bits
    return marks


def _spread(count: int, of: Sequence[int]) -> list[int]:
    """Return for each number the bits of the calls that have it."""
    if count == 1:
        return [(1 << len(of)) - 1]
    found = [0] * count
    for number, bit in zip(of, _BITS, strict=False):
        found[number] |= bit
    return found


class Piece(NamedTuple):
    """A piece of a block's bodies: its start and its end."""

    begin: int
    end: int


def find_piece(places: Sequence[int], indexes: Sequence[int]) -> Piece:
    """Return the piece that contains these calls."""
    after = max(indexes) + 1
    return Piece(places[min(indexes)], places[after] if after < len(places) else _END)


def cut_body(text: bytes, begin: int, places: Sequence[int], index: int) -> bytes:
    """Return the body of a call, from the piece that begins there."""
    end = places[index + 1] - begin if index + 1 < len(places) else len(text)
    return text[places[index] - begin : end]


def unpack_body(text: bytes) -> Body:
    """Read the body of a call."""
    call_id, ended, took, tags, kept, *decision = read_shown(text)
    args, is_whole, content, error, *notes = kept or (None, False, None, None)
    return Body(call_id, ended, took, tags, args, is_whole, content, error, tuple(decision), *notes)


def place_all(texts: Sequence[bytes]) -> list[int]:
    """Return where each of these texts begins when all are put together."""
    return list(accumulate(map(len, texts), initial=0))[:-1]


def make_entry(tenant: str, heads: Heads, index: int, body: Body) -> CallEntry:
    """Make the entry of a call."""
    name = heads.names[heads.name_of[index]]
    status, kind = heads.ends[heads.end_of[index]]
    call_id = heads.ids[index * ID : index * ID + ID]
    cost = to_number(heads.costs[index]) if heads.costs else 0.0
    began = to_datetime((body.ended - body.took) / 1e6)
    return CallEntry(
        id=call_id,
        name=name,
        tool_call_id=body.call_id,
        status=status,
        kind=kind,
        caller=heads.callers[heads.caller_of[index]],
        tenant=tenant,
        is_durable=False,
        attempt=1,
        created_at=began,
        started_at=began,
        ended_at=to_datetime(body.ended / 1e6),
        duration_ms=body.took / 1000,
        cost=cost,
        tags=tuple(body.tags),
        args=body.args,
        **show_decision(body.decision),
        **heads.read_origin(index)._asdict(),
        **heads.read_turn(index),
        message=None if body.content is None else _make_message(call_id, name, body, cost),
    )


def _make_message(call_id: str, name: str, body: Body, cost: float) -> ToolMessage:
    error = {} if body.error is None else {"error": body.error}
    notes = dict(zip(("ignored_args", "repaired", "cost"), (*body.notes, cost), strict=True))
    return ToolMessage(
        content=body.content,
        tool_call_id=body.call_id,
        name=name,
        id=call_id,
        status="error" if error else "success",
        response_metadata={"duration_ms": body.took / 1000, **{key: it for key, it in notes.items() if it}, **error},
    )
