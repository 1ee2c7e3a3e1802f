"""Calls that wait for a person's word."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json
from uuid_utils import uuid7

from sidecall.core.errors import ApprovalConflict, SidecallError
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.record import CallRecord

ApprovalStatus = Literal["pending", "approved", "rejected"]
DecisionName = Literal["approve", "reject"]

_STATUS: Mapping[DecisionName, ApprovalStatus] = {"approve": "approved", "reject": "rejected"}


class Approval(BaseModel):
    """A call that waits for a person, and what became of it."""

    id: str = Field(description="A UUIDv7.")
    status: ApprovalStatus = "pending"
    tool_call: ToolCall = Field(description="The call as it will run; hidden arguments are not shown.")
    requested_by: str = Field(description="Who sent the call.")
    created_at: datetime
    expires_at: datetime = Field(description="When the approval is forgotten, decided or not.")
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = Field(default=None, description="What the person said; the model sees it when they rejected.")
    message: ToolMessage | None = Field(default=None, description="The answer to the call, once there is one.")


class Decision(BaseModel):
    """What a person decides; a member that is spelled wrong is refused, lest something else be approved."""

    model_config = ConfigDict(extra="forbid")

    decision: DecisionName
    args: dict[str, Any] | None = Field(default=None, description="Other arguments to run the call with.")
    reason: str | None = Field(default=None, description="Why; when you reject, the model reads it.", max_length=10_000)


class ApprovalRequired(SidecallError):
    """The call waits for a person's approval."""

    def __init__(self, approval: Approval) -> None:
        super().__init__(f"{approval.tool_call.name} waits for a person's approval ({approval.id}).")
        self.approval = approval


class ApprovalRecord(BaseModel):
    """What is kept of an approval: what people see of it, and the call to run.

    Each change makes a new record, so that a ledger can keep either the old or the new one.
    """

    model_config = ConfigDict(frozen=True)

    approval: Approval
    asked: ToolCall = Field(description="The call as it was shown first, whatever a person made of it.")
    tenant: str = Field(description="Whose call it is.")
    fingerprint: str = Field(description="The same for calls that need to be asked about only once.")
    call: CallRecord | None = Field(default=None, description="The call to run; None once it is answered.")

    @classmethod
    def of(cls, call: CallRecord, asked: ToolCall, ttl: float) -> Self:
        """Make the record of a call that begins to wait.

        Args:
            call: The call to run when it is approved.
            asked: The call as a person should see it.
            ttl: Seconds until the approval expires.
        """
        now = datetime.now(UTC)
        approval = Approval(
            id=str(uuid7()),
            tool_call=asked,
            requested_by=call.caller.subject,
            created_at=now,
            expires_at=now + timedelta(seconds=ttl),
        )
        return cls(
            approval=approval,
            asked=asked,
            tenant=call.caller.tenant,
            fingerprint=compute_fingerprint(call, asked),
            call=call,
        )

    @property
    def is_running(self) -> bool:
        """Whether the call is approved and has no answer yet."""
        return self.approval.status == "approved" and self.approval.message is None

    def require_pending(self) -> CallRecord:
        """Return the call that waits.

        Raises:
            ApprovalConflict: It is decided already.
        """
        approval = self.approval
        if approval.status != "pending":
            raise ApprovalConflict(f"The approval was {approval.status} already, by {approval.decided_by}.")
        assert self.call is not None
        return self.call

    def decide(self, decision: Decision, by: str) -> Self:
        """Note a person's decision.

        Raises:
            ApprovalConflict: It is decided already.
        """
        self.require_pending()
        return self._change(
            status=_STATUS[decision.decision],
            decided_at=datetime.now(UTC),
            decided_by=by,
            reason=decision.reason,
            tool_call=self.asked if decision.args is None else self.asked.model_copy(update={"args": decision.args}),
        )

    def reopen(self) -> Self:
        """Take the decision back."""
        return self._change(status="pending", decided_at=None, decided_by=None, reason=None, tool_call=self.asked)

    def answer(self, message: ToolMessage) -> Self:
        """Note the call's answer, and let go of the call, which may be large or secret."""
        return self._change(message=message).model_copy(update={"call": None})

    def _change(self, **members: Any) -> Self:
        return self.model_copy(update={"approval": self.approval.model_copy(update=members)})


def compute_fingerprint(call: CallRecord, asked: ToolCall) -> str:
    """Make the same text of calls that are the same: by whom, of what, and with what beside it."""
    caller = call.caller
    told = [caller.tenant, caller.subject, asked.name, asked.id, asked.args, call.state, call.context, call.lost]
    return hashlib.sha256(to_json(told)).hexdigest()


class Approvals(Protocol):
    """Where calls that wait for approval are kept, each until it expires.

    Each method is one step: whatever happens at the same time comes before it or after it.
    """

    async def ask(self, call: CallRecord, asked: ToolCall) -> ApprovalRecord:
        """Keep a call, or find the one of the same fingerprint that waits.

        Raises:
            TooManyApprovals: Too many calls wait.
        """

    async def get(self, approval_id: str) -> ApprovalRecord:
        """Find an approval.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """

    async def list(self, status: ApprovalStatus | None = None) -> Sequence[ApprovalRecord]:
        """List approvals, oldest first."""

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision: of several at once one succeeds.

        The approval does not expire before it has its answer.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """

    async def reopen(self, approval_id: str) -> None:
        """Take a decision back, of a call that there was no room to run."""

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Keep the answer of a decided call."""
