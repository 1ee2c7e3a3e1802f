"""An accepted call, as the server knows it without reading the store."""

from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from sidecall.features.calls.entry import Acceptance, CallCompletion, CallEntry, measure_ms, to_datetime
from sidecall.kernel.core.cost import to_number
from sidecall.kernel.core.messages import make_unchecked
from sidecall.kernel.core.record import CallRecord


@dataclass(slots=True)
class AcceptedCall:
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
            "cost": None if end is None else to_number(end.cost),
            "tags": None,
            "args": _read(self.acceptance.args),
            "approval_id": None,
            "decided_by": None,
            "decided_at": None,
            "reason": None,
            "asked_args": None,
            "replay_of": self.acceptance.replay_of,
            "message": None if end is None else end.message,
        }
        return make_unchecked(CallEntry, fields | _describe_decision(end))


def _describe_decision(end: CallCompletion | None) -> dict[str, Any]:
    return {} if end is None or end.decision is None else end.decision.describe()


def _read(text: str | None) -> Any:
    return None if text is None else from_json(text)
