"""Calls in blocks: what is looked for stands in columns, the rest behind it, so that a call costs a part of a row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from pydantic_core import from_json

from sidecall.core.calls.entry import CallEntry, CallFilter, CallStatus, to_datetime
from sidecall.core.messages import ToolMessage
from sidecall.history.showing import read_shown

# Calls of one block, and the milliseconds between the first and the last of its ids.
MOST_CALLS = 256
SPAN = 2000
ID = 36


class Heads(NamedTuple):
    """What filters look at: of each call its id, and by number its name, its caller and how it ended."""

    ids: str
    names: list[str]
    callers: list[str]
    ends: list[tuple[CallStatus, str | None]]
    name_of: list[int]
    caller_of: list[int]
    end_of: list[int]
    places: list[int]

    def find(self, wanted: CallFilter, first: str, before: str) -> Iterator[tuple[str, int]]:
        """Yield the id and the number of each call that is wanted, with ids from `first` on and below `before`."""
        names = _numbers(self.names, wanted.names)
        callers = _numbers(self.callers, None if wanted.caller is None else [wanted.caller])
        ends = {
            number
            for number, (status, kind) in enumerate(self.ends)
            if wanted.status in (None, status) and wanted.kind in (None, kind)
        }
        ids = self.ids
        for index, of in enumerate(zip(self.name_of, self.caller_of, self.end_of, strict=True)):
            if of[2] in ends and of[0] in names and of[1] in callers:
                call_id = ids[index * ID : index * ID + ID]
                if first <= call_id < before:
                    yield call_id, index


def _numbers(known: Sequence[str], wanted: Sequence[str] | None) -> set[int]:
    return {number for number, text in enumerate(known) if wanted is None or text in wanted}


class Body(NamedTuple):
    """What is kept of one call beside what filters look at; times are in microseconds."""

    call_id: str
    ended: int
    took: int
    tags: list[str]
    args: Any = None
    is_whole: bool = False
    content: Any = None
    error: Any = None


@dataclass(frozen=True, slots=True)
class Block:
    """Calls of one tenant that were accepted at about the same time, in the order of their ids."""

    tenant: str
    first_id: str
    last_id: str
    heads: bytes
    bodies: bytes
    marks: tuple[str, ...]
    calls: int

    @property
    def size(self) -> int:
        """How many bytes it takes, about."""
        return len(self.heads) + len(self.bodies) + (ID + 40) * (len(self.marks) + 2)


def read_heads(text: bytes) -> Heads:
    """Read what filters look at."""
    return Heads(*from_json(text))


def mark(part: str, value: str) -> str:
    """Return how a block is marked in which a call has this value."""
    return f"{part}:{value}"


def make_marks(heads: Heads) -> tuple[str, ...]:
    """Return all marks of a block."""
    statuses = {status for status, _ in heads.ends}
    kinds = {kind for _, kind in heads.ends if kind is not None}
    parts = (("name", heads.names), ("caller", heads.callers), ("status", sorted(statuses)), ("kind", sorted(kinds)))
    return tuple(mark(part, value) for part, values in parts for value in values)


def unpack_body(bodies: bytes, places: Sequence[int], index: int) -> Body:
    """Read what is kept of one call."""
    end = places[index + 1] if index + 1 < len(places) else len(bodies)
    *body, kept = read_shown(bodies[places[index] : end])
    return Body(*body, *(kept or ()))


def place_all(texts: Sequence[bytes]) -> list[int]:
    """Return where each of these texts begins when all are put together."""
    return list(accumulate(map(len, texts), initial=0))[:-1]


def make_entry(tenant: str, heads: Heads, index: int, body: Body) -> CallEntry:
    """Make what is shown of a call."""
    name = heads.names[heads.name_of[index]]
    status, kind = heads.ends[heads.end_of[index]]
    call_id = heads.ids[index * ID : index * ID + ID]
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
        tags=tuple(body.tags),
        args=body.args,
        message=None if body.content is None else _make_message(call_id, name, body),
    )


def _make_message(call_id: str, name: str, body: Body) -> ToolMessage:
    error = {} if body.error is None else {"error": body.error}
    return ToolMessage(
        content=body.content,
        tool_call_id=body.call_id,
        name=name,
        id=call_id,
        status="error" if error else "success",
        response_metadata={"duration_ms": body.took / 1000, **error},
    )
