"""Calls that wait for a person's word."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, Field
from uuid_utils import uuid7

from sidecall.core.errors import ApprovalConflict, SidecallError
from sidecall.core.json_text import parse_json
from sidecall.core.messages import ToolCall, ToolMessage
from sidecall.core.record import CallRecord

ApprovalStatus = Literal["pending", "approved", "rejected"]
DecisionName = Literal["approve", "reject"]

_STATUS: Mapping[DecisionName, ApprovalStatus] = {"approve": "approved", "reject": "rejected"}


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do, as its tool's author says it, in text or JSON; or `error`: why there is nothing to show."""

    shown: Any = None
    error: str | None = None


NO_PREVIEW = Preview()


class ApprovalState(BaseModel):
    """Where an approval stands, whatever it is about."""

    # What is always there is said to be.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: str = Field(description="A UUIDv7.")
    status: ApprovalStatus = "pending"
    requested_by: str = Field(description="Who sent the call.")
    created_at: datetime
    expires_at: datetime = Field(description="When the approval is forgotten, decided or not.")
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = Field(default=None, description="What the person said; the model sees it when they rejected.")


class Approval(ApprovalState):
    """A call that waits for a person, and what became of it."""

    tool_call: ToolCall = Field(description="The call as it will run; hidden arguments are not shown.")
    asked_args: dict[str, Any] | str | None = Field(
        default=None, description="The arguments that the model sent, where the person has put others in their place."
    )
    preview: Any = Field(default=None, description="What the call that came would do, where its tool can say so.")
    preview_error: str | None = Field(default=None, description="Why there is no preview, where one was to be made.")
    message: ToolMessage | None = Field(default=None, description="The answer to the call, once there is one.")


class ListedCall(BaseModel):
    """A call in a list."""

    name: str
    args: dict[str, Any] | None = Field(description="null where they are too large for a list.")
    id: str
    type: Literal["tool_call"] = "tool_call"


class ListedApproval(ApprovalState):
    """An approval in a list, without what is large; the approval itself has the whole."""

    tool_call: ListedCall = Field(description="The call as it will run; hidden arguments are not shown.")
    args_bytes: int = Field(description="How long its arguments are, as JSON.")
    message: ToolMessage | None = Field(
        default=None, description="The answer to the call; null where there is none yet, or it is too large for a list."
    )
    message_bytes: int | None = Field(default=None, description="How long the answer is, as JSON; null without one.")


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """A part of a list, and where the next one begins; None where there is nothing more."""

    approvals: Sequence[ListedApproval]
    cursor: str | None = None


class Decision(BaseModel):
    """What a person decides; a member that is spelled wrong is refused, lest something else be approved."""

    model_config = ConfigDict(extra="forbid")

    decision: DecisionName
    args: dict[str, Any] | None = Field(default=None, description="Other arguments to run the call with.")
    reason: str | None = Field(default=None, description="Why; when you reject, the model reads it.", max_length=10_000)


class ApprovalRequired(SidecallError):
    """The call waits for a person's decision, or has it and still runs."""

    def __init__(self, approval: Approval) -> None:
        waits = (
            "waits for a person's approval" if approval.status == "pending" else f"was {approval.status} and still runs"
        )
        super().__init__(f"{approval.tool_call.name} {waits} ({approval.id}).")
        self.approval = approval


class AnsweredBefore(SidecallError):
    """The call was decided about and answered when it came before."""

    def __init__(self, approval: Approval, message: ToolMessage) -> None:
        super().__init__(f"{approval.tool_call.name} was answered before ({approval.id}).")
        self.answer = message


class ApprovalWanted(SidecallError):
    """A tool that runs wants a person to approve a call which it is about to make itself."""

    def __init__(self, tool_call: ToolCall) -> None:
        super().__init__(f"{tool_call.name} has to be approved by a person.")
        self.tool_call = tool_call


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
    def of(cls, call: CallRecord, asked: ToolCall, ttl: float, preview: Preview = NO_PREVIEW) -> Self:
        """Make the record of a call that begins to wait.

        Args:
            call: The call to run when it is approved.
            asked: The call as a person should see it.
            ttl: Seconds until the approval expires.
            preview: What the call would do.
        """
        now = datetime.now(UTC)
        approval = Approval(
            id=str(uuid7()),
            tool_call=asked,
            requested_by=call.caller.subject,
            created_at=now,
            expires_at=now + timedelta(seconds=ttl),
            preview=preview.shown,
            preview_error=preview.error,
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
        """Whether the call is decided about and has no answer yet."""
        return self.approval.status != "pending" and self.approval.message is None

    @property
    def is_inside(self) -> bool:
        """Whether what waits is a call that the tool wants to make itself."""
        return self.call is not None and self.asked.name != self.call.tool_call.name

    def as_error(self) -> ApprovalRequired | AnsweredBefore:
        """Make what ends the same call when it comes again: it never runs a second time."""
        message = self.approval.message
        return ApprovalRequired(self.approval) if message is None else AnsweredBefore(self.approval, message)

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
        is_edited = decision.args is not None and decision.args != self.asked.args
        return self._change(
            status=_STATUS[decision.decision],
            decided_at=datetime.now(UTC),
            decided_by=by,
            reason=decision.reason,
            asked_args=self.asked.args if is_edited else None,
            tool_call=self.asked if decision.args is None else self.asked.model_copy(update={"args": decision.args}),
        )

    def reopen(self) -> Self:
        """Take the decision back."""
        undecided = {"decided_at": None, "decided_by": None, "reason": None, "asked_args": None}
        return self._change(status="pending", tool_call=self.asked, **undecided)

    def answer(self, message: ToolMessage) -> Self:
        """Note the call's answer, and let go of the call, which may be large or secret."""
        return self._change(message=message).model_copy(update={"call": None})

    def _change(self, **members: Any) -> Self:
        return self.model_copy(update={"approval": self.approval.model_copy(update=members)})


def compute_fingerprint(call: CallRecord, asked: ToolCall | None = None) -> str:
    """Make the same text of calls that are the same: from whom and on whose behalf, of what, under which id.

    The state is none of it, since it moves on while a call waits. A call without an id is like no other. Where a tool
    asks about what it is about to do itself, each such call counts by itself.
    """
    caller, sent = call.caller, call.tool_call
    told = [caller.tenant, caller.subject, sent.name, sent.id or [call.id], read_args(sent.args), call.context]
    if asked is not None and asked.name != sent.name:
        told += [asked.name, read_args(asked.args)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def read_args(args: dict[str, Any] | str) -> Any:
    """Read the arguments, which are the same as text and as an object."""
    if isinstance(args, dict):
        return args
    try:
        return parse_json(args.encode(errors="surrogatepass") or b"{}")
    except ValueError:
        return args


class Approvals(Protocol):
    """Where calls that wait for approval are kept, each until it expires.

    Each method is one step: whatever happens at the same time comes before it or after it.
    """

    async def ask(self, call: CallRecord, asked: ToolCall, preview: Preview = NO_PREVIEW) -> ApprovalRecord:
        """Keep a call with what it would do, or find the one of the same fingerprint, whatever has become of it.

        Raises:
            TooManyApprovals: Too many calls wait, or they are too large.
        """

    async def find(self, call: CallRecord) -> ApprovalRecord | None:
        """Find the approval of a call of the same fingerprint, whatever has become of it; None if there is none."""

    async def get(self, approval_id: str) -> ApprovalRecord:
        """Find an approval.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """

    async def list(
        self, tenant: str, status: ApprovalStatus | None = None, limit: int = 100, cursor: str | None = None
    ) -> ApprovalPage:
        """List a tenant's approvals, oldest first, no more than `limit`, after the page that the cursor is from."""

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision: of several at once one succeeds.

        The approval does not expire before it has its answer.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
            TooManyApprovals: There is no room for what the person wrote; nothing is decided then.
        """

    async def reopen(self, approval_id: str) -> None:
        """Take a decision back, of a call that there was no room to run."""

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Keep the answer of a decided call.

        Raises:
            TooManyApprovals: There is no room for it; there always is for a short one.
        """
