"""Where calls that wait for a person are kept, and what was decided about later ones."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRecord, ApprovalStatus, Decision
from sidecall.kernel.ports.approvals.listing import ApprovalPage, WaitingApprovals
from sidecall.kernel.ports.approvals.orphan import OnOrphan
from sidecall.kernel.ports.approvals.preview import NO_PREVIEW, Preview
from sidecall.kernel.ports.approvals.rules import ApprovalRule, RulePage

# Is told of an approval that has changed.
Notice = Callable[[Approval], Awaitable[None]]


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

    async def get(self, approval_id: str, tenant: str | None = None) -> ApprovalRecord:
        """Find an approval, of this tenant where one is named: another's takes no longer than one that is not there.

        Raises:
            UnknownApproval: There is none, or it has expired.
        """

    async def find_answered(self, approval_id: str) -> Approval | None:
        """Find what was decided about a call that is kept elsewhere, too; None if it has no answer yet.

        What was decided is found for a while after it has expired: as long as a call waits for it, or a minute.

        Raises:
            UnknownApproval: There is none, or it has expired: nobody decides about it from then on.
        """

    async def list(
        self,
        tenant: str,
        status: ApprovalStatus | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        with_expired: bool = False,
    ) -> ApprovalPage:
        """List a tenant's approvals, oldest first, no more than `limit`, after the page that the cursor is from.

        Those that have expired are listed for a while `with_expired`, or where their status is asked for.
        """

    async def count_waiting(self) -> WaitingApprovals:
        """Count the calls that wait for a person, of all tenants."""

    async def decide(self, approval_id: str, decision: Decision, by: str) -> ApprovalRecord:
        """Claim the decision: of several at once one succeeds.

        The approval does not expire before it has its answer.

        Raises:
            UnknownApproval: There is none.
            ApprovalConflict: It is decided already.
            TooManyApprovals: There is no room for what the person wrote; nothing is decided then.
            StoreUnavailable: Nobody knows whether it is decided; where it is, a listener for strays is told of it.
        """

    def on_orphan(self, listener: OnOrphan | None) -> None:
        """Let a listener hear, from now on, of what was decided here though nobody heard of that; None for none.

        And of calls that had begun, asked a person in the middle of their work, and have expired so.

        Each is told once, and is answered or reopened afterwards; where its server has ended, it has an answer already.
        """

    async def reopen(self, approval_id: str, preview: Preview | None = None) -> ApprovalRecord:
        """Take a decision back, of a call that there was no room to run, or that waits for what this preview says.

        What waits for something else expires as what is asked now.

        Raises:
            TooManyApprovals: There is no room for the preview; the call counts as running then.
        """

    async def answer(self, approval_id: str, message: ToolMessage) -> ApprovalRecord:
        """Keep the answer of a decided call.

        Raises:
            TooManyApprovals: There is no room for it; there always is for a short one.
        """


class ApprovalRules(Protocol):
    """Where decisions are kept that hold for later calls: one for each tool of a caller.

    Each method is one step and durable once it returns.
    """

    async def keep(self, rule: ApprovalRule) -> None:
        """Keep a rule, in place of the one for the same tool and caller.

        Raises:
            TooManyRules: There is no room for it.
        """

    async def find(self, caller: Caller, tool: str, definition: str) -> ApprovalRule | None:
        """Find the rule that holds for a caller's call of a tool that is defined so; None if there is none."""

    async def list(self, tenant: str, limit: int = 100, cursor: str | None = None) -> RulePage:
        """List a tenant's rules, oldest first, no more than `limit`, from where the page before says there are more."""

    async def remove(self, rule_id: str, tenant: str) -> None:
        """Revoke a rule of a tenant.

        Raises:
            UnknownRule: There is none.
        """
