"""Calls that wait for a person's word."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from sidecall.core.errors import SidecallError
from sidecall.core.invocation import CallRequest, Invocation
from sidecall.core.messages import ToolCall, ToolMessage

ApprovalStatus = Literal["pending", "approved", "rejected"]
DecisionName = Literal["approve", "reject"]


class Approval(BaseModel):
    """Say which call waits for whom, and what became of it."""

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
    """Hold what a person decides; a member that is spelled wrong is refused, lest something else be approved."""

    model_config = ConfigDict(extra="forbid")

    decision: DecisionName
    args: dict[str, Any] | None = Field(default=None, description="Other arguments to run the call with.")
    reason: str | None = Field(default=None, description="Why; when you reject, the model reads it.", max_length=10_000)


class ApprovalRequired(SidecallError):
    """The call waits for a person's approval."""

    def __init__(self, approval: Approval) -> None:
        super().__init__(f"{approval.tool_call.name} waits for a person's approval ({approval.id}).")
        self.approval = approval


class Approvals(Protocol):
    """Remember calls that wait for approval."""

    def ask(self, invocation: Invocation) -> Approval:
        """Keep a call; one that waits already, with the same id and arguments, is not kept twice.

        Raises:
            TooManyApprovals: Too many calls wait.
        """

    def get(self, approval_id: str) -> Approval:
        """Find an approval.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """

    def list(self, status: ApprovalStatus | None = None) -> Sequence[Approval]:
        """List approvals, oldest first."""

    def request(self, approval_id: str) -> CallRequest:
        """Give the call that waits, with everything that came beside it.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """

    def decide(self, approval_id: str, decision: Decision, by: str) -> Approval:
        """Note a person's decision, once.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
        """

    def reopen(self, approval_id: str) -> None:
        """Take a decision back, of a call that there was no room to run."""

    def answer(self, approval_id: str, message: ToolMessage) -> Approval:
        """Keep the answer of a decided call, and forget the call."""
