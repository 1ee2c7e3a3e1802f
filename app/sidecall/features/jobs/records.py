"""The values that are stored of a durable call: its key, its acceptance, its attempts and its end."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Self

from msgspec import Struct
from pydantic_core import from_json, to_json

from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.cost import BILLION, to_number
from sidecall.kernel.core.messages import (
    ABSENT,
    ToolMessage,
    find_value,
    make_unchecked,
    write_message,
    write_stored,
)
from sidecall.kernel.ports.call_entry import CallEntry, CallStatus, measure_ms, to_datetime


class CallDecision(Struct, frozen=True):
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


class Acceptance(Struct):
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


class ClaimedCall(Struct):
    """A call that a server has claimed: its record, and the attempt that has to be named at its end.

    `describe` returns its entry; None where the server that accepted it knows it better. `is_unwanted` is true when it
    was cancelled during an earlier run.
    """

    record: CallRecord
    attempt: int
    describe: Callable[[], CallEntry] | None = None
    is_unwanted: bool = False


class LostCall(Struct, frozen=True):
    """A call whose server stopped while it ran."""

    id: str
    name: str
    attempt: int
    record: CallRecord


class CallCompletion(Struct):
    """How an attempt at a call ended; `text` is its answer as JSON once it was serialized, so that this is done once.

    `never_ran` is true when it waited for a person and its tool was not started; `decision` is the person's decision.
    `trace_id` is the trace of its span. `waited` is for how many seconds it waited for its turn once it was begun, and
    `attempts` how often its tool was run.
    """

    status: CallStatus
    kind: str | None
    message: ToolMessage
    text: bytes | None = None
    never_ran: bool = False
    decision: CallDecision | None = None
    trace_id: str | None = None
    waited: float = 0.0
    attempts: int = 0

    @property
    def cost(self) -> int:
        """What it cost, as its answer says, in billionths."""
        cost: float | None = self.message.response_metadata.get("cost")
        return round(cost * BILLION) if cost else 0

    def write(self) -> bytes:
        """Return its answer as JSON."""
        if self.text is None:
            self.text = write_message(self.message)
        return self.text

    def store(self) -> bytes:
        """Return the answer as JSON, as it is stored."""
        return self.write() if find_value(self.message) is ABSENT else write_stored(self.message)


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
