"""The entry of a call, and the values that are stored with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sidecall.features.calls.decision import CallDecision
from sidecall.features.calls.keys import CallKey
from sidecall.kernel.core.cost import BILLION, to_number
from sidecall.kernel.core.messages import ToolMessage, make_unchecked
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.core.result_values import ABSENT, find_value, write_stored

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
    """

    status: CallStatus
    kind: str | None
    message: ToolMessage
    text: bytes | None = field(default=None, repr=False, compare=False)
    never_ran: bool = False
    decision: CallDecision | None = None

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
        "cost": to_number(end.cost),
    }
    return make_unchecked(CallEntry, fields)
