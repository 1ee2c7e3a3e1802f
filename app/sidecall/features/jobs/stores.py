"""Protocols of the store of calls."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct
from pydantic_core import from_json

from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.records import (
    Acceptance,
    CallCompletion,
    CallDecision,
    ClaimedCall,
    LostCall,
    measure_queue,
)
from sidecall.kernel.core.cost import to_number
from sidecall.kernel.core.messages import make_unchecked
from sidecall.kernel.ports.call_entry import (
    CallEntry,
    CallFilter,
    CallPage,
    measure_ms,
    to_datetime,
)

# What a call that has just been accepted has not.
_UNDECIDED = dict.fromkeys(("approval_id", "decided_by", "decided_at", "reason", "asked_args"))
_UNKNOWN_UNTIL_END = dict.fromkeys(("queue_ms", "attempts", "cost"))
_OF_PLAIN_CALLS = dict.fromkeys(("progress", "worker"))


class AcceptedCall(Struct):
    """A stored call and, once it was stored, its end; `ended_at` is in seconds since 1970.

    Most clients want the answer only, so the entry is made on request.
    """

    call: CallRecord
    acceptance: Acceptance
    end: CallCompletion | None = None
    ended_at: float | None = None

    @property
    def entry(self) -> CallEntry:
        """The entry of the call."""
        call, end = self.call, self.end
        is_begun = self.acceptance.owner is not None
        created, sent = call.created_at, call.tool_call
        ended_at = None if self.ended_at is None else to_datetime(self.ended_at)
        fields = {
            "id": call.id,
            "name": sent.name,
            "tool_call_id": sent.id,
            "status": end.status if end is not None else "running" if is_begun else "queued",
            "kind": None if end is None else end.kind,
            "caller": call.caller.subject,
            "tenant": call.caller.tenant,
            "is_durable": True,
            "attempt": int(is_begun),
            "created_at": created,
            "started_at": created if is_begun else None,
            "ended_at": ended_at,
            "duration_ms": None if ended_at is None else measure_ms(created, ended_at),
            **_UNKNOWN_UNTIL_END,
            "tags": None,
            "args": _read(self.acceptance.args),
            **_UNDECIDED,
            "replay_of": self.acceptance.replay_of,
            **call.origin._asdict(),
            **_OF_PLAIN_CALLS,
            "message": None,
        }
        return make_unchecked(CallEntry, fields if end is None else fields | _describe_end(end, call))


def _describe_end(end: CallCompletion, call: CallRecord) -> dict[str, Any]:
    """Return what is known of a call once it has ended."""
    return {
        "queue_ms": measure_queue(end.waited, call.created_at, call.created_at, 1),
        "attempts": end.attempts,
        "cost": to_number(end.cost),
        "message": end.message,
        **({} if end.trace_id is None else {"trace_id": end.trace_id}),
        **({} if end.decision is None else end.decision.describe()),
    }


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)


class EndedCalls(Protocol):
    """The ended calls of the store, and the room that all stored calls take."""

    @property
    def is_full(self) -> bool:
        """Whether the maximum number or bytes of calls is reached."""

    async def forget(self, room_for: int = 0) -> bool:
        """Delete some ended calls that are too old or too many, in one short step; return whether there may be more.

        Calls with a live key, approval or pending webhook, and those that have just ended, are kept.

        Args:
            room_for: How many more calls there should be room for.
        """


class Calls(Protocol):
    """Stores calls.

    Each method is one durable step. A server that ends a call names its attempt, so that of two servers that run the
    same call only one is accepted.
    """

    kept: EndedCalls

    async def accept(self, call: CallRecord, acceptance: Acceptance) -> AcceptedCall | None:
        """Store a call that is begun or queued; None if there is one with its key.

        Raises:
            StoreUnavailable: It was not accepted.
        """

    async def record(self, call: CallRecord, acceptance: Acceptance, end: CallCompletion) -> AcceptedCall | None:
        """Store a call that has ended in its first attempt; None if there is one with its key.

        Raises:
            StoreUnavailable: It was not stored.
        """

    async def find(self, key: CallKey) -> CallEntry | None:
        """Find the call of a key; None if there is none or the key has expired, which frees it.

        Raises:
            KeyReused: It belongs to another call.
        """

    async def get(self, call_id: str, tenant: str) -> CallEntry:
        """Find a call.

        Raises:
            UnknownCall: This tenant has none of that id.
        """

    async def get_record(self, call_id: str) -> CallRecord | None:
        """Return a call as it was sent; None if it is not kept."""

    async def list(
        self, wanted: CallFilter, limit: int = 100, cursor: str | None = None, *, is_whole: bool = False
    ) -> CallPage:
        """List calls, newest first, after a cursor.

        Args:
            wanted: The filter.
            limit: The maximum number; a page has fewer when they are large.
            cursor: The cursor of the page before.
            is_whole: Whether to read their answers too.
        """

    async def release(self, call_id: str, attempt: int) -> bool:
        """Queue a call again that could not start, or may run twice; return whether its cancellation was requested."""

    async def hold(
        self, call_id: str, attempt: int | None, approval_id: str, decision: CallDecision | None = None
    ) -> bool:
        """Mark a call as waiting for a person, and return whether its cancellation was requested.

        A call that waits again has no attempt; at its end the stored decision is used unless another is given.
        """

    async def finish(self, call_id: str, attempt: int | None, end: CallCompletion) -> float | None:
        """End an attempt (None for a call that waits for a person), and return the time.

        Returns:
            Seconds since 1970; None if another end was stored first.
        """

    async def forget(self, call_id: str, attempt: int) -> None:
        """Forget a call that was refused before it began, and its key."""

    async def list_held(self, limit: int = 1000) -> Sequence[CallEntry]:
        """List the calls that wait for a person, longest waiting first."""

    async def find_suspended(self, approval_id: str) -> CallEntry | None:
        """Find the call that waits for this approval; None if none does."""


class CallQueue(Protocol):
    """Queued calls, and the servers that may claim them.

    Each method is one durable step.
    """

    async def claim(self, owner: str, most: int, may_take: Callable[[str], bool] = ...) -> Sequence[ClaimedCall]:
        """Claim up to `most` queued calls of these tools, fairly between callers."""

    def note(self, call_id: str, tenant: str, caller: str) -> None:
        """Note that a call was just queued, so that it is not looked for."""

    def look_again(self) -> None:
        """Note that calls were queued, so that the list is read again."""

    async def count_queued(self) -> int:
        """Count the calls that wait for a server to begin them."""

    async def count_open(self) -> tuple[int, int]:
        """Count queued and running calls at all servers."""

    async def cancel(self, call_id: str, end: CallCompletion) -> bool:
        """End a queued call, or ask the server that runs it to cancel; False where it is neither."""

    async def ask_to_cancel(self, call_id: str) -> bool:
        """Ask the server that runs a call to cancel it; False where none does."""

    async def list_cancelled(self, owner: str) -> Sequence[str]:
        """List the calls of this server whose cancellation was requested."""

    async def ask_to_cancel_held(self, call_id: str) -> None:
        """Request the cancellation of an approved call, should it wait again."""

    async def list_held_cancelled(self, limit: int = 1000) -> Sequence[CallEntry]:
        """List the calls that wait for a person and whose cancellation was requested."""

    async def list_lost(self, dead_since: float, owner: str) -> Sequence[LostCall]:
        """List the calls running on other servers that have not responded since then, in seconds since 1970."""

    async def list_orphans(self, owner: str, runs: Callable[[str], bool]) -> Sequence[LostCall]:
        """List the calls that this server should run, without those that it `runs`."""
