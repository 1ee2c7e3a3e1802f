"""Approvals in lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.approvals.approval import ApprovalState


class ListedCall(BaseModel, defer_build=True):
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


class WaitingApprovals(BaseModel, defer_build=True):
    """How many calls wait for a person, of all tenants."""

    waiting: int
    next_expires_at: datetime | None = Field(description="When the first of them expires; null where none waits.")


@dataclass(frozen=True, slots=True)
class ApprovalPage:
    """A part of a list, and where the next one begins; None where there is nothing more."""

    approvals: Sequence[ListedApproval]
    cursor: str | None = None
