"""The entry of a call, and the values that are stored with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.messages import ToolMessage

# How much of each call the history keeps.
HistoryMode = Literal["off", "meta", "full"]


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


class CallPage(Struct, frozen=True):
    """A part of a list, newest first, and the id after which the next one begins; None where there is no more."""

    calls: Sequence[CallEntry]
    cursor: str | None = None


def to_datetime(seconds: float) -> datetime:
    """Return a time in UTC, from seconds since 1970."""
    return datetime.fromtimestamp(seconds, UTC)


def measure_ms(started: datetime, ended: datetime) -> float:
    """Return the milliseconds between two times."""
    return round((ended - started).total_seconds() * 1000, 3)
