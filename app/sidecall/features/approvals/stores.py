"""Store protocols for pending approvals and for rules."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from msgspec import Struct
from pydantic import BaseModel, Field

from sidecall.features.approvals.record import ApprovalRecord, Decision
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.ports.approvals.approval import NO_PREVIEW, Approval, ApprovalState, ApprovalStatus, Preview
from sidecall.kernel.ports.approvals.rules import ApprovalRule, RulePage


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
    pending: int = Field(default=0, description="The same number.")
    next_expires_at: datetime | None = Field(description="When the first of them expires; null where none waits.")
    oldest_seconds: float | None = Field(default=None, description="How long the oldest waits; null where none does.")


class ApprovalPage(Struct, frozen=True):
    """A part of a list, and where the next one begins; None where there is nothing more."""

    approvals: Sequence[ListedApproval]
    cursor: str | None = None
    total: int = 0


# What lists are narrowed by, besides the status, and where a listed approval has it.
FILTERS: Mapping[str, tuple[str, ...]] = {
    "tool": ("tool_call", "name"),
    **{name: (name,) for name in ("requested_by", "conversation_id", "trace_id", "request_id")},
}
NO_FILTERS: Mapping[str, str] = {}


class WaitingTool(Struct, frozen=True):
    """How many calls wait that were asked about one definition of a tool; the hash is None where it is not known."""

    name: str
    hash: str | None
    count: int


class OrphanedDecision(Struct, frozen=True):
    """A decision that was stored although the person was told that it failed, or whose answer was not stored.

    `was_begun` says that its call may have run. `answer` is the stored end, if the server that ran it has ended.
    `has_expired` says that its call had begun, asked again, and was not decided in time.
    """

    record: ApprovalRecord
    was_begun: bool
    answer: ToolMessage | None = None
    has_expired: bool = False


OnOrphan = Callable[[OrphanedDecision], None]


# Called with an approval that has changed.
OnApproval = Callable[[Approval], Awaitable[None]]


class Approvals(Protocol):
    """Stores calls that wait for approval, each until it expires.

    Each method is atomic.
    """

    async def ask(self, call: CallRecord, asked: ToolCall, preview: Preview = NO_PREVIEW) -> ApprovalRecord:
        """Store a call with its preview, or find the one with the same fingerprint in any state.

        Raises:
            TooManyApprovals: Too many calls wait, or they are too large.
        """

    async def find(self, call: CallRecord) -> ApprovalRecord | None:
        """Return the approval with the same fingerprint in any state, or None."""

    async def get(self, approval_id: str, tenant: str | None = None, *, with_expired: bool = False) -> ApprovalRecord:
        """Return an approval, of this tenant if one is given; another tenant's takes the same time as a missing one.

        An expired one is found only `with_expired`, without long texts, as long as lists show it.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """

    async def find_answered(self, approval_id: str) -> Approval | None:
        """Return the decision on a call in any store; None while it has no answer.

        A decision can be found for a while after it has expired: as long as a call waits for it, or a minute.

        Raises:
            UnknownApproval: There is none, or it has expired, and can no longer be decided.
        """

    async def list(
        self,
        tenant: str,
        status: ApprovalStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        with_expired: bool = False,
        matching: Mapping[str, str] = NO_FILTERS,
    ) -> ApprovalPage:
        """List up to `limit` approvals of a tenant, oldest first, after the cursor.

        Expired ones are listed for a while `with_expired`, or if their status is asked for. `matching` has values by
        names of `FILTERS`; the page's `total` counts what fits, on all pages.
        """

    async def count_by_conversation(self, tenant: str, requested_by: str | None = None) -> Mapping[str, int]:
        """Count the calls of each conversation that wait for a person: all of a tenant, or those of one caller."""

    async def list_waiting_tools(self) -> Sequence[WaitingTool]:
        """List the tools of the calls that wait for a person, of all tenants."""

    async def count_waiting(self) -> WaitingApprovals:
        """Count the calls that wait for a person, of all tenants."""

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision: of several concurrent ones, one succeeds.

        The approval then does not expire before it has its answer.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
            TooManyApprovals: There is no room for what the person wrote; nothing is decided then.
            StoreUnavailable: It is unknown whether it is decided; if it is, the listener for orphans gets it.
        """

    def on_orphan(self, listener: OnOrphan | None) -> None:
        """Set the listener for orphaned decisions: made here, but not confirmed to the person; None removes it.

        It also gets calls that had begun, asked a person again and expired. Each is reported once, and must be answered
        or reopened; if its server has ended, it already has an answer.
        """

    async def reopen(self, approval_id: str, preview: Preview | None = None) -> ApprovalRecord:
        """Undo the decision on a call that could not run for lack of room, or that now waits for this preview.

        A call that waits for something new gets a new expiry time.

        Raises:
            TooManyApprovals: There is no room for the preview; the call counts as running then.
        """

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Store the answer of a decided call.

        Raises:
            TooManyApprovals: There is no room for it; there always is for a short one.
        """


class ApprovalRules(Protocol):
    """Stores rules: decisions that hold for later calls, one for each tool of a caller.

    Each method is atomic and durable.
    """

    async def keep(self, rule: ApprovalRule) -> None:
        """Store a rule, replacing the one for the same tool and caller.

        Raises:
            TooManyRules: There is no room for it.
        """

    async def find(self, caller: Caller, tool: str, definition: str) -> ApprovalRule | None:
        """Return the rule for a caller's calls of a tool with this definition, or None."""

    async def list(self, tenant: str, limit: int = 100, cursor: str | None = None) -> RulePage:
        """List up to `limit` rules of a tenant, oldest first, after the cursor."""

    async def remove(self, rule_id: str, tenant: str) -> None:
        """Delete a rule of a tenant.

        Raises:
            UnknownRule: There is none.
        """
