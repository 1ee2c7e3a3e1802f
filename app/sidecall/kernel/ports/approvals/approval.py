"""Approvals: calls that wait for a person's decision."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.user_tokens import SignIn

# An expired one is listed for a while, but can no longer be decided.
ApprovalStatus = Literal["pending", "approved", "rejected", "expired", "cancelled"]


class ApprovalState(BaseModel, defer_build=True):
    """The state of an approval."""

    # What is always there is said to be.
    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: str = Field(description="A UUIDv7.")
    status: ApprovalStatus = "pending"
    question: int = Field(default=1, description="Which of its tool's questions waits, or was decided last, from 1.")
    requested_by: str = Field(description="Who sent the call.")
    conversation_id: str | None = Field(
        default=None,
        description="The conversation of the call, whose files its tool works on; null where it names none.",
    )
    trace_id: str | None = Field(default=None, description="The trace of the call that asked; null where it has none.")
    request_id: str | None = Field(default=None, description="The HTTP request that the call came with.")
    created_at: datetime
    expires_at: datetime = Field(description="When the approval is forgotten, decided or not.")
    decided_at: datetime | None = None
    decided_by: str | None = None
    reason: str | None = Field(default=None, description="What the person said; the model sees it when they rejected.")
    always: bool = Field(default=False, description="Whether the decision made a rule for the caller's later calls.")
    description: str | None = Field(default=None, description="What is to be decided, where the tool itself asks.")
    tool_hash: str | None = Field(
        default=None,
        description="The hash of the tool's definition that was asked about, or that the decision has named; null "
        "where none is known.",
    )
    sign_in: SignIn | None = Field(
        default=None,
        description="Where a person has to sign in; the call goes on by itself then. null where none has to.",
    )


class Approval(ApprovalState):
    """A call that waits for a person, and what became of it."""

    tool_call: ToolCall = Field(description="The call as it will run; hidden arguments are not shown.")
    asked_args: dict[str, Any] | str | None = Field(
        default=None, description="The arguments that the model sent, where the person has put others in their place."
    )
    preview: Any = Field(default=None, description="What the call that came would do, where its tool can say so.")
    preview_error: str | None = Field(default=None, description="Why there is no preview, where one was to be made.")
    payload: Any = Field(default=None, description="What else the tool shows, where it asks itself.")
    message: ToolMessage | None = Field(default=None, description="The answer to the call, once there is one.")


class ApprovalRequired(SidecallError):
    """A person has to decide about the call first.

    A tool raises it when it finds that out, and runs again from its beginning, with `context.approved`, once the person
    has said yes. What comes out of the pipeline has the `approval` that the call waits for, or has and still runs.
    """

    approval: Approval

    def __init__(
        self, message: str | None = None, *, preview: Any = None, payload: Any = None, state: Any = None
    ) -> None:
        """Ask a person for a decision.

        Args:
            message: What there is to decide.
            preview: What the call would do, in text or JSON; instead of what the tool's `preview` says.
            payload: What else the person should see, as JSON.
            state: What the tool wants back as `context.resumed`, as JSON of 16 KiB at most; it is never shown. With
                one the tool runs again after any decision, `context.reply` has their words,
                `context.rejection` is None unless they have rejected, and it may ask again.

        Raises:
            ValueError: The state is too long, or JSON cannot say it.
        """
        super().__init__(message or "A person has to approve this call.")
        self.description = message
        self.preview = preview
        self.payload = payload
        self.state = None if state is None else copy_state(state)

    @classmethod
    def of(cls, approval: Approval) -> "ApprovalRequired":
        """Build the exception for a call that has an approval."""
        error = ApprovalRequired(f"{approval.tool_call.name} {_describe_wait(approval)} ({approval.id}).")
        error.approval = approval
        return error

    def repeat(self) -> "ApprovalRequired":
        """Build the exception for an outer tool: the person decides the whole call, and is shown this one."""
        if self.is_new:
            return self
        call = self.approval.tool_call
        text = self.approval.description or f"It wants to call {call.name}."
        return ApprovalRequired(text, payload={"name": call.name, "args": call.args})

    @property
    def is_new(self) -> bool:
        """Whether a tool has just raised it and no person was asked yet."""
        return "approval" not in vars(self)


def _describe_wait(approval: Approval) -> str:
    if approval.status != "pending":
        return f"was {approval.status} and still runs"
    if approval.sign_in is None:
        return "waits for a person's approval"
    return f"waits until a person has signed in at {approval.sign_in.provider}: {approval.sign_in.url}"


class AlreadyAnswered(SidecallError):
    """The call was decided about and answered when it came before."""

    def __init__(self, approval: Approval, message: ToolMessage) -> None:
        super().__init__(f"{approval.tool_call.name} was answered before ({approval.id}).")
        self.approval = approval
        self.answer = message


_LONGEST = 16 * 1024


def copy_state(state: Any) -> Any:
    """Copy a tool's state as JSON.

    Raises:
        ValueError: It is too long, or JSON cannot say it.
    """
    text = to_text(state)
    if len(text.encode()) > _LONGEST:
        raise ValueError(f"A tool's state takes {_LONGEST:,} bytes at most.")
    return json.loads(text)


class ApprovalWanted(SidecallError):
    """A tool that runs wants a person to approve a call which it is about to make itself."""

    def __init__(self, tool_call: ToolCall) -> None:
        super().__init__(f"{tool_call.name} has to be approved by a person.")
        self.tool_call = tool_call


@dataclass(frozen=True, slots=True)
class AskedTool:
    """The definition of the tool that a person is asked about, and its hash."""

    hash: str
    definition: Any


@dataclass(frozen=True, slots=True)
class Preview:
    """What the deciding person should know, as the tool's author describes it.

    `shown` is what the call would do, in text or JSON; `error` is why there is no preview. A tool that asks while it
    runs sets `description` to the question, `payload` to further data, and `state` to what it wants back. With
    `sign_in` there is no decision: a person has to sign in first. `tool` is what the decision is bound to.
    """

    shown: Any = None
    error: str | None = None
    description: str | None = None
    payload: Any = None
    sign_in: SignIn | None = None
    state: Any = None
    tool: AskedTool | None = None


NO_PREVIEW = Preview()
