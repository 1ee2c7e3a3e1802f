"""Approvals kept in this process."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import to_json, to_jsonable_python
from uuid_utils import uuid7

from sidecall.core.approval import Approval, ApprovalStatus, Decision
from sidecall.core.errors import ApprovalConflict, UnknownApproval
from sidecall.core.invocation import CallRequest, Invocation
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.overload import TooManyApprovals

_STATUS: dict[str, ApprovalStatus] = {"approve": "approved", "reject": "rejected"}


@dataclass(slots=True)
class _Entry:
    approval: Approval
    request: CallRequest | None
    fingerprint: tuple[str, ...]
    expires: float

    @property
    def runs(self) -> bool:
        return self.approval.status == "approved" and self.approval.message is None


class MemoryApprovals:
    """Remember calls for `ttl` seconds after they came; they are lost when the process ends."""

    def __init__(self, ttl: float = 3600.0, most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl = ttl
        self._most = most
        self._clock = clock
        self._entries: dict[str, _Entry] = {}

    def ask(self, invocation: Invocation) -> Approval:
        """Keep a call, or find the one like it that waits.

        Raises:
            TooManyApprovals: Too many calls wait.
        """
        self._forget()
        fingerprint = _fingerprint(invocation)
        for entry in self._entries.values():
            if entry.fingerprint == fingerprint and entry.approval.status == "pending":
                return entry.approval
        if len(self._entries) >= self._most:
            self._make_room()
        approval = self._approval(invocation)
        self._entries[approval.id] = _Entry(approval, invocation.request, fingerprint, self._clock() + self._ttl)
        return approval

    def _approval(self, invocation: Invocation) -> Approval:
        now = datetime.now(UTC)
        return Approval(
            id=str(uuid7()),
            tool_call=ToolCall(name=invocation.tool.name, args=_shown(invocation.args), id=invocation.call.id),
            requested_by=invocation.request.caller.subject,
            created_at=now,
            expires_at=now + timedelta(seconds=self._ttl),
        )

    def get(self, approval_id: str) -> Approval:
        """Find an approval.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """
        return self._entry(approval_id).approval

    def list(self, status: ApprovalStatus | None = None) -> Sequence[Approval]:
        """List approvals, oldest first."""
        self._forget()
        approvals = [entry.approval for entry in self._entries.values()]
        return [approval for approval in approvals if status is None or approval.status == status]

    def request(self, approval_id: str) -> CallRequest:
        """Give the call that waits.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """
        request = self._pending(approval_id).request
        assert request is not None
        return request

    def decide(self, approval_id: str, decision: Decision, by: str) -> Approval:
        """Note a decision, once.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """
        entry = self._pending(approval_id)
        noted: dict[str, Any] = {
            "status": _STATUS[decision.decision],
            "decided_at": datetime.now(UTC),
            "decided_by": by,
            "reason": decision.reason,
        }
        if decision.args is not None:
            noted["tool_call"] = entry.approval.tool_call.model_copy(update={"args": decision.args})
        entry.approval = entry.approval.model_copy(update=noted)
        return entry.approval

    def reopen(self, approval_id: str) -> None:
        """Take a decision back, of a call that there was no room to run."""
        entry = self._entries[approval_id]
        taken_back = {"status": "pending", "decided_at": None, "decided_by": None, "reason": None}
        entry.approval = entry.approval.model_copy(update=taken_back)

    def answer(self, approval_id: str, message: ToolMessage) -> Approval:
        """Keep the answer of a decided call, which has not been forgotten while it ran."""
        entry = self._entries[approval_id]
        entry.approval = entry.approval.model_copy(update={"message": message})
        entry.request = None
        return entry.approval

    def _pending(self, approval_id: str) -> _Entry:
        entry = self._entry(approval_id)
        if entry.approval.status != "pending":
            raise ApprovalConflict(f"The approval was {entry.approval.status} already, by {entry.approval.decided_by}.")
        return entry

    def _entry(self, approval_id: str) -> _Entry:
        self._forget()
        entry = self._entries.get(approval_id)
        if entry is None:
            raise UnknownApproval
        return entry

    def _forget(self) -> None:
        """Drop what has expired, but for calls that run."""
        now = self._clock()
        expired = [key for key, entry in self._entries.items() if entry.expires <= now and not entry.runs]
        for key in expired:
            del self._entries[key]

    def _make_room(self) -> None:
        """Forget the oldest approval that is answered.

        Raises:
            TooManyApprovals: There is none.
        """
        for key, entry in self._entries.items():
            if entry.approval.message is not None:
                del self._entries[key]
                return
        raise TooManyApprovals


def _shown(args: Mapping[str, Any]) -> dict[str, Any]:
    """Say arguments as JSON, also those that a guardrail put in place of the model's."""
    shown: dict[str, Any] = to_jsonable_python(args, fallback=str, inf_nan_mode="strings")
    return shown


def _fingerprint(invocation: Invocation) -> tuple[str, ...]:
    """Say what makes two calls the same: who asks for what, with what beside it."""
    request = invocation.request
    said = to_json([invocation.args, request.state, request.context], inf_nan_mode="constants", fallback=repr)
    return request.caller.tenant, request.caller.subject, invocation.tool.name, invocation.call.id, said.decode()
