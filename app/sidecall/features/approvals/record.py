"""The record of a call that waits for a person: how decisions and answers change it, and which calls are equal."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from uuid_utils import uuid7

from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.json_data.text import read_args, read_object
from sidecall.kernel.ports.approvals.approval import (
    NO_PREVIEW,
    AlreadyAnswered,
    Approval,
    ApprovalRequired,
    ApprovalStatus,
    AskedTool,
    Preview,
)
from sidecall.kernel.ports.approvals.review import Decided
from sidecall.kernel.ports.approvals.rules import DecisionName
from sidecall.kernel.ports.workspaces import HEADER, name_conversation

# Decisions by which a call does not run.
REFUSED: tuple[ApprovalStatus, ...] = ("rejected", "cancelled")


_STATUS: Mapping[DecisionName, ApprovalStatus] = {"approve": "approved", "reject": "rejected"}


def _read_whole(value: Any) -> Any:
    """Return an integer that JSON writes as 2.0 as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Decision(BaseModel, defer_build=True):
    """A person's decision; unknown members are refused, so that a typo never approves something else."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: DecisionName
    question: Annotated[int | None, BeforeValidator(_read_whole)] = Field(
        default=None, ge=1, description="The `question` that was read; where another one waits by now, it is refused."
    )
    args: Annotated[dict[str, Any] | None, BeforeValidator(read_object)] = Field(
        default=None, description="Other arguments to run the call with."
    )
    hash: str | None = Field(
        default=None,
        pattern=r"^[0-9a-f]{64}$",
        description="The `hash` of the tool's definition that was read, where it is not the one that was asked about.",
    )
    reason: str | None = Field(
        default=None,
        description="Why; when you reject, the model reads it.",
        max_length=10_000,
        pattern=r"^[^\x00]*$",  # Which no database keeps in a text.
    )
    always: bool = Field(
        default=False, description="Whether it holds for all later calls of this tool by this caller as well."
    )
    expires_in: float | None = Field(
        default=None,
        gt=0,
        le=31_536_000,
        allow_inf_nan=False,
        description="With `always`: for how many seconds; null until it is revoked.",
    )


class Withdrawal(Decision, defer_build=True):
    """The rejection that a store writes for a cancelled call; clients cannot send it."""

    decision: DecisionName = "reject"


class ApprovalRecord(BaseModel, defer_build=True):
    """A stored approval: what people see of it, and the call to run.

    Each change makes a new record, so that a store can keep either the old or the new one.
    """

    model_config = ConfigDict(frozen=True)

    approval: Approval
    asked: ToolCall = Field(description="The call as it was shown first, before a person edited it.")
    tenant: str = Field(description="Whose call it is.")
    fingerprint: str = Field(description="The same for calls that need to be asked about only once.")
    call: CallRecord | None = Field(default=None, description="The call to run; None once it is answered.")
    state: Any = Field(default=None, description="What the tool gets back that has asked.")
    tool: AskedTool | None = Field(default=None, description="What a decision is about, as long as one is awaited.")
    begun: Decided | None = Field(default=None, description="What let a call begin that waits again; None for others.")

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
            conversation_id=name_conversation(call.headers, call.context),
            trace_id=call.trace_id,
            request_id=call.request_id,
            created_at=now,
            expires_at=now + timedelta(seconds=ttl),
            preview=preview.shown,
            preview_error=preview.error,
            description=preview.description,
            payload=preview.payload,
            sign_in=preview.sign_in,
            tool_hash=None if preview.tool is None else preview.tool.hash,
        )
        return cls(
            approval=approval,
            asked=asked,
            tenant=call.caller.tenant,
            fingerprint=compute_fingerprint(call, asked),
            call=call,
            state=preview.state,
            tool=preview.tool,
        )

    @property
    def is_running(self) -> bool:
        """Whether the call is decided and has no answer yet."""
        return self.approval.status != "pending" and self.approval.message is None

    @property
    def is_inside(self) -> bool:
        """Whether the pending call is one that the tool itself wants to make."""
        return self.call is not None and self.asked.name != self.call.tool_call.name

    @property
    def tells_tool(self) -> bool:
        """Whether the tool runs again after any decision."""
        return self.is_inside or self.state is not None

    @property
    def tells_or_runs(self) -> bool:
        """Whether the tool runs by the decision that was made."""
        return self.approval.status == "approved" or self.tells_tool

    def as_error(self) -> ApprovalRequired | AlreadyAnswered:
        """Return the error for an equal later call, which never runs a second time."""
        message = self.approval.message
        return ApprovalRequired.of(self.approval) if message is None else AlreadyAnswered(self.approval, message)

    def require_pending(self) -> CallRecord:
        """Return the call if it is pending.

        Raises:
            ApprovalConflict: It is decided already, or has expired.
        """
        approval = self.approval
        if approval.status == "expired":
            raise ApprovalConflict("The approval has expired: nobody decided about the call in time.")
        if approval.status != "pending":
            raise ApprovalConflict(f"The approval was {approval.status} already, by {approval.decided_by}.")
        assert self.call is not None
        return self.call

    def require_asked(self, question: int | None) -> CallRecord:
        """Return the call if it waits for an answer to this question, or to any if none is named.

        Raises:
            ApprovalConflict: It is decided already, or asks something else.
        """
        call, waiting = self.require_pending(), self.approval.question
        if question not in (None, waiting):
            raise ApprovalConflict(f"Question {waiting} waits, not {question}: read the approval, and decide anew.")
        return call

    def decide(self, decision: Decision, by: str) -> Self:
        """Record a person's decision.

        Raises:
            ApprovalConflict: It is decided already, or about another question.
        """
        self.require_asked(decision.question)
        return self._change(
            status="cancelled" if isinstance(decision, Withdrawal) else _STATUS[decision.decision],
            tool_hash=decision.hash or self.approval.tool_hash,
            decided_at=datetime.now(UTC),
            decided_by=by,
            reason=decision.reason,
            always=decision.always,
            **({} if self.state is not None else self._edit(decision.args)),
        )

    def _edit(self, args: dict[str, Any] | None) -> dict[str, Any]:
        """Return the arguments shown of a call that has not begun: a person's edits, or the model's."""
        is_edited = args is not None and args != self.asked.args
        call = self.asked if args is None else self.asked.model_copy(update={"args": args})
        return {"tool_call": call, "asked_args": self.asked.args if is_edited else None}

    def reopen(self, preview: Preview | None = None, ttl: float = 0.0) -> Self:
        """Undo the decision; with a preview the call waits for something else, for `ttl` seconds from now."""
        undecided: dict[str, Any] = {"decided_at": None, "decided_by": None, "reason": None, "always": False}
        state, begun = self.state, self.begun
        if preview is not None:
            state, begun = preview.state, None if preview.state is None else self._describe_beginning()
        # What has begun goes on with the arguments that it has begun with.
        undecided |= self._edit(None) if state is None else {}
        tool = self.tool if preview is None else preview.tool
        undecided["tool_hash"] = None if tool is None else tool.hash
        if preview is not None:
            undecided |= {"preview": preview.shown, "preview_error": preview.error, "sign_in": preview.sign_in}
            undecided |= {"description": preview.description, "payload": preview.payload}
            undecided["question"] = self.approval.question + 1
            undecided["expires_at"] = datetime.now(UTC) + timedelta(seconds=ttl)
        call = self.call
        if call is not None and state is not None and self.approval.asked_args is not None:
            call = call.put_args(self.approval.tool_call.args)
        return self._change(status="pending", **undecided).model_copy(
            update={"state": state, "call": call, "begun": begun, "tool": tool}
        )

    def _describe_beginning(self) -> Decided | None:
        approval = self.approval
        if not approval.decided_by or approval.sign_in is not None:  # Who signs in has said nothing of the call.
            return self.begun
        return Decided(approval.decided_by, approval.decided_at, approval.reason)

    def answer(self, message: ToolMessage) -> Self:
        """Record the call's answer, and drop the call, which may be large or secret."""
        return self._change(message=message).model_copy(update={"call": None, "state": None, "tool": None})

    def _change(self, **members: Any) -> Self:
        return self.model_copy(update={"approval": self.approval.model_copy(update=members)})


def describe_decision(approval: Approval) -> Decided | None:
    """Return a person's decision on the call; None while it is pending."""
    if not approval.decided_by:
        return None
    return _add_args(Decided(approval.decided_by, approval.decided_at, approval.reason), approval)


def describe_beginning(record: ApprovalRecord) -> Decided | None:
    """Return the decision by which a call has begun that waits again; None for any other."""
    return None if record.begun is None else _add_args(record.begun, record.approval)


def _add_args(decided: Decided, approval: Approval) -> Decided:
    if approval.asked_args is None:
        return decided
    return replace(decided, asked_args=approval.asked_args, args=approval.tool_call.args)


def compute_fingerprint(call: CallRecord, asked: ToolCall | None = None) -> str:
    """Return equal fingerprints for equal calls: same caller, context, conversation, tool, arguments and id.

    The state is left out, since it changes while a call waits. `known_as` replaces an id, and a call without either
    equals no other. Where a tool asks about calls that it wants to make itself, each of these counts separately.
    """
    caller, sent = call.caller, call.tool_call
    known_as = call.known_as or sent.id or [call.id]
    told = [caller.tenant, caller.subject, sent.name, known_as, read_args(sent.args), call.context]
    if HEADER.lower() in call.headers:
        told.append({HEADER: call.headers[HEADER.lower()]})
    if asked is not None and asked.name != sent.name:
        told += [asked.name, read_args(asked.args)]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
