"""The entry of a call, and the values that are stored with it."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json, to_json

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.cost import BILLION, to_number
from sidecall.kernel.core.messages import ABSENT, ToolCall, ToolMessage, find_value, make_unchecked, write_stored
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.json_data.text import quote_text
from sidecall.kernel.ports.approvals.fingerprint import read_args

# How much of each call the history keeps.
HistoryMode = Literal["off", "meta", "full"]


@dataclass(frozen=True, slots=True)
class CallKey:
    """The key that identifies repeated requests of a call.

    `expires_at` (seconds since 1970) is the expiry if the call ends at once; a later end extends it. `reused` describes
    the conflict when the key belongs to another call.
    """

    text: str
    fingerprint: str
    expires_at: float
    reused: str | None = None


def make_key(kind: str, caller: Caller, text: str, call: ToolCall, beside: Sequence[Any], expires_at: float) -> CallKey:
    """Make the key of a call; equal texts of two callers make two keys.

    Args:
        kind: The source of the text.
        caller: The sender.
        text: The text of the key.
        call: The call that the key identifies.
        beside: State and context, which also distinguish calls.
        expires_at: When the key expires if the call ends at once, in seconds since 1970.
    """
    whose = ", ".join(map(quote_text, (kind, caller.tenant, caller.subject, text)))
    # Without its id: programs that send none get a new one each time.
    what = [call.name, read_args(call.args), *beside]
    return CallKey(_hash(f"[{whose}]"), _hash(_write(what)), expires_at)


# Made on demand, since that takes as long as using it.
_write = json.JSONEncoder(sort_keys=True).encode


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CallDecision:
    """Who decided about a call, when and why.

    `asked_args` are the requested arguments and `args` those that ran, as JSON text without hidden values; both are
    None unless they were changed. `approval_id` is the approval of a repeated call, which has not waited itself.
    """

    by: str
    at: datetime | None = None
    reason: str | None = None
    asked_args: str | None = None
    args: str | None = None
    approval_id: str | None = None

    def write(self) -> str:
        """Write it as JSON text."""
        at = None if self.at is None else self.at.isoformat()
        return to_json((self.by, at, self.reason, self.asked_args, self.args, self.approval_id)).decode()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what this or an earlier version has written."""
        by, at, *rest = from_json(text)
        return cls(by, None if at is None else datetime.fromisoformat(at), *rest)

    def describe(self) -> dict[str, Any]:
        """Return the decision for an entry, with the arguments that ran if they were changed."""
        said: dict[str, Any] = {"decided_by": self.by, "decided_at": self.at, "reason": self.reason}
        if self.args is not None:
            said["args"] = from_json(self.args)
        if self.asked_args is not None:
            said["asked_args"] = from_json(self.asked_args)
        if self.approval_id is not None:
            said["approval_id"] = self.approval_id
        return said


CallStatus = Literal[
    "queued", "running", "awaiting_approval", "succeeded", "failed", "cancelled", "expired", "outcome_unknown"
]
# Bytes of arguments and answers after which a page of calls ends.
PAGE_CHARACTERS = 1024 * 1024

OPEN: frozenset[CallStatus] = frozenset(("queued", "running", "awaiting_approval"))


def _make_message_optional(schema: dict[str, Any]) -> None:
    schema["required"] = [name for name in schema["required"] if name != "message"]


class CallEntry(BaseModel, defer_build=True):
    """What is known of one call, whether it waits, runs or has ended."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_serialization_defaults_required=True,
        json_schema_extra=_make_message_optional,
    )

    id: str = Field(description="The invocation's id, a UUIDv7; also the `id` of its ToolMessage.")
    name: str = Field(description="The tool.")
    tool_call_id: str = Field(description="The id that the model gave the call.")
    status: CallStatus
    kind: str | None = Field(default=None, description="Why it failed, in one word: the `kind` of its error.")
    caller: str = Field(description="Who sent it.")
    tenant: str = Field(exclude=True)
    is_durable: bool = Field(description="Whether it was on disk before it was accepted, and goes on after a restart.")
    attempt: int = Field(description="How often it was begun.")
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    duration_ms: float | None = Field(default=None, description="From its start to its end.")
    queue_ms: float | None = Field(
        default=None,
        description="How long it waited for its turn: for a place among the calls, a thread or a process, and a "
        "remembered call in the queue before that; null where that is not kept.",
    )
    attempts: int | None = Field(
        default=None,
        description="How often its tool was run: more than once where its author lets it be tried again, 0 for a call "
        "that was refused before or answered with what was kept; null where that is not kept.",
    )
    cost: float | None = Field(
        default=None, description="What it has cost, in the operator's currency; null if it has not run."
    )
    tags: tuple[str, ...] | None = Field(
        default=None,
        description="Those of its tool when it ran; of a remembered call those that it has now, null if it is gone.",
    )
    args: Any = Field(default=None, description="Its arguments, without secrets and shortened; null if not kept.")
    approval_id: str | None = Field(default=None, description="The approval that it waits for, or waited for.")
    decided_by: str | None = Field(
        default=None,
        description="Who decided about it, or about all such calls; null if no decision was needed or kept.",
    )
    decided_at: datetime | None = Field(default=None, description="When they did.")
    reason: str | None = Field(default=None, description="What they said of it; null if nothing, or not kept.")
    asked_args: Any = Field(
        default=None,
        description="What its model asked for, where a person has put other arguments in place; null if not kept.",
    )
    replay_of: str | None = Field(default=None, description="The call that this one repeats.")
    conversation_id: str | None = Field(default=None, description="Its conversation; null where it names none.")
    trace_id: str | None = Field(
        default=None, description="Its trace: that of its span, or the one that its sender has named; null without one."
    )
    request_id: str | None = Field(default=None, description="The HTTP request that it came with.")
    progress: dict[str, Any] | None = Field(
        default=None, description="What its tool has reported last, while a plain call runs; null for others."
    )
    worker: int | None = Field(
        default=None, description="The process of this server that runs a plain call; null for others."
    )
    message: ToolMessage | None = Field(
        default=None, description="Its answer, once there is one and where it is kept; absent in lists."
    )

    @property
    def has_ended(self) -> bool:
        """Whether the call is finished."""
        return self.status not in OPEN


# Not frozen, since one is made for each call: setting fields of frozen ones takes several times as long.
@dataclass(slots=True)
class Acceptance:
    """What is stored with the record of an accepted call.

    Args:
        owner: The server that starts it at once; None if it is queued.
        args: Its arguments as JSON text, without hidden values.
        key: The key that identifies repeated requests.
        replay_of: The call that it repeats.
        callback_url: The URL of the webhook for its end.
    """

    owner: str | None = None
    args: str | None = None
    key: CallKey | None = None
    replay_of: str | None = None
    callback_url: str | None = None


@dataclass(slots=True)
class ClaimedCall:
    """A call that a server has claimed: its record, and the attempt that has to be named at its end.

    `describe` returns its entry; None where the server that accepted it knows it better. `is_unwanted` is true when it
    was cancelled during an earlier run.
    """

    record: CallRecord
    attempt: int
    describe: Callable[[], CallEntry] | None = None
    is_unwanted: bool = False


@dataclass(frozen=True, slots=True)
class LostCall:
    """A call whose server stopped while it ran."""

    id: str
    name: str
    attempt: int
    record: CallRecord


@dataclass(slots=True)
class CallCompletion:
    """How an attempt at a call ended; `text` is its answer as JSON once it was serialized, so that this is done once.

    `never_ran` is true when it waited for a person and its tool was not started; `decision` is the person's decision.
    `trace_id` is the trace of its span. `waited` is for how many seconds it waited for its turn once it was begun, and
    `attempts` how often its tool was run.
    """

    status: CallStatus
    kind: str | None
    message: ToolMessage
    text: bytes | None = field(default=None, repr=False, compare=False)
    never_ran: bool = False
    decision: CallDecision | None = None
    trace_id: str | None = None
    waited: float = 0.0
    attempts: int = 0

    @property
    def cost(self) -> int:
        """What it cost, as its answer says, in billionths."""
        cost: float = self.message.response_metadata.get("cost", 0.0)
        return round(cost * BILLION)

    def write(self) -> bytes:
        """Return its answer as JSON."""
        if self.text is None:
            # As pydantic's own method, with less overhead.
            self.text = self.message.__pydantic_serializer__.to_json(self.message)
        return self.text

    def store(self) -> bytes:
        """Return the answer as JSON, as it is stored."""
        return self.write() if find_value(self.message) is ABSENT else write_stored(self.message)


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Filters for calls; None means any. Times are in seconds since 1970."""

    tenant: str
    names: Sequence[str] | None = None
    status: CallStatus | None = None
    kind: str | None = None
    caller: str | None = None
    since: float | None = None
    until: float | None = None
    conversation_id: str | None = None
    trace_id: str | None = None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class CallPage:
    """A part of a list, newest first, and the id after which the next one begins; None where there is no more."""

    calls: Sequence[CallEntry]
    cursor: str | None = None


def to_datetime(seconds: float) -> datetime:
    """Return a time in UTC, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def measure_ms(started: datetime, ended: datetime) -> float:
    """Return the milliseconds between two times."""
    return round((ended - started).total_seconds() * 1000, 3)


def measure_queue(waited: float, accepted: datetime, started: datetime | None, attempt: int) -> float:
    """Return for how many milliseconds a remembered call waited for its turn.

    Args:
        waited: Seconds that it waited once it was begun.
        accepted: When it was accepted.
        started: When it was begun last; None if it never was.
        attempt: How often it was begun. Before a second time it has run already, or waited for a person.
    """
    queued = measure_ms(accepted, started) if started is not None and attempt <= 1 else 0.0
    return round(queued + waited * 1000, 3)


def end_entry(entry: CallEntry, end: CallCompletion, at: float) -> CallEntry:
    """Return the entry of a call that ended at this time, in seconds since 1970."""
    started = entry.started_at or entry.created_at
    ended = to_datetime(at)
    fields = {
        **entry.__dict__,
        **({} if end.decision is None else end.decision.describe()),
        "status": end.status,
        "kind": end.kind,
        "message": end.message,
        "started_at": started,
        "ended_at": ended,
        "duration_ms": measure_ms(started, ended),
        "queue_ms": measure_queue(end.waited, entry.created_at, entry.started_at, entry.attempt),
        "attempts": end.attempts,
        "cost": to_number(end.cost),
        "trace_id": end.trace_id or entry.trace_id,
    }
    return make_unchecked(CallEntry, fields)
