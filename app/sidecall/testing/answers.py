"""What a tool has answered to a call in a test, and the call that waits for a person."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

from pydantic_core import from_json

from sidecall.client.answers import Failure, Progress, ToolAnswer
from sidecall.features.approvals.record import Decision
from sidecall.kernel.concurrency.backpressure import Pause
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ABSENT, Content, ToolMessage, find_value
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.kernel.ports.observer import CurrentCall
from sidecall.kernel.ports.user_tokens import SignIn
from sidecall.testing.bridge import shared_loop


class Desk(Protocol):
    """Carries out what a person has decided about a call."""

    async def decide(self, approval_id: str, decision: Decision, by: str) -> "Answer":
        """Decide about a call that waits, and return what came of it."""

    async def sign_in(self, approval: Approval, token: str) -> "Answer":
        """Go on with a call that waits for a person's sign-in."""


@dataclass(frozen=True)
class Answer:
    """The answer to one call, as a server gives it.

    `progress` is what the tool has reported while it ran, `parts` what it has yielded before its end, in order. For a
    call that waits for a person `status` is `awaiting_approval`, `approval` is not None, and `content` says so.
    """

    message: ToolMessage
    progress: list[Progress] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)
    approval: "PendingApproval | None" = None

    @property
    def content(self) -> Content:
        """The text, or the list of content blocks, that the model reads."""
        return self.message.content

    @property
    def artifact(self) -> Any:
        """The part for the program, in JSON types; None without one."""
        return self.message.artifact

    @property
    def value(self) -> Any:
        """The result in JSON types; where the tool declares none, the content, parsed if it is an object or a list."""
        value, content = find_value(self.message), self.message.content
        if value is not ABSENT or not isinstance(content, str) or not content.startswith(("{", "[")):
            return content if value is ABSENT else value
        try:
            return from_json(content)
        except ValueError:
            return content

    @property
    def status(self) -> Literal["success", "error", "awaiting_approval"]:
        """How the call ended, or that it waits."""
        return self.message.status if self.approval is None else "awaiting_approval"

    @property
    def error(self) -> Failure | None:
        """Why the call failed: `kind`, `message`, `retryable`, `errors`; None if it did not, or waits."""
        return None if self.approval is not None else ToolAnswer.read(self.message.model_dump()).failure

    @property
    def metadata(self) -> dict[str, Any]:
        """The `response_metadata`: duration, dropped arguments, verdicts of guardrails and others."""
        return self.message.response_metadata

    def approve(self, args: Mapping[str, Any] | None = None, reason: str | None = None) -> "Answer":
        """Approve the call that waits, as `approval.approve` does."""
        return self._require_approval().approve(args, reason)

    def reject(self, reason: str | None = None) -> "Answer":
        """Reject the call that waits, as `approval.reject` does."""
        return self._require_approval().reject(reason)

    async def aapprove(self, args: Mapping[str, Any] | None = None, reason: str | None = None) -> "Answer":
        """Do the same as `approve` in async code."""
        return await self._require_approval().aapprove(args, reason)

    async def areject(self, reason: str | None = None) -> "Answer":
        """Do the same as `reject` in async code."""
        return await self._require_approval().areject(reason)

    def _require_approval(self) -> "PendingApproval":
        if self.approval is None:
            raise LookupError(f"The call waits for no person; it was answered: {self.status}, {self.content!r:.200}")
        return self.approval


@dataclass(frozen=True)
class PendingApproval:
    """A call that waits for a person: what they are shown, and how they decide.

    `args` are the arguments of the call without hidden ones. `description` and `payload` are what a tool says that asks
    itself, `preview` what it would do. `sign_in` is where a person would sign in; None for a call that waits for a
    decision. `question` counts a tool's questions, from 1. `document` is the whole, as `GET /approvals/{id}` has it.
    """

    id: str
    name: str
    args: Any
    description: str | None
    preview: Any
    payload: Any
    sign_in: SignIn | None
    question: int
    document: Approval = field(repr=False)
    _desk: Desk = field(repr=False, compare=False)

    @classmethod
    def of(cls, approval: Approval, desk: Desk) -> Self:
        """Show an approval, about which decisions go to a desk."""
        call = approval.tool_call
        shown = (approval.description, approval.preview, approval.payload, approval.sign_in, approval.question)
        return cls(approval.id, call.name, call.args, *shown, approval, desk)

    async def aapprove(
        self, args: Mapping[str, Any] | None = None, reason: str | None = None, by: str = "approver"
    ) -> Answer:
        """Approve the call, and return its answer; the tool may ask again.

        Args:
            args: The person's own arguments in place of the model's.
            reason: The person's words, which a tool that asked itself gets as `context.reply`.
            by: Who decides.

        Raises:
            InvalidDecision: The arguments do not fit; the call continues to wait.
            ApprovalConflict: The call was decided already, or waits for a sign-in.
        """
        edited = None if args is None else dict(args)
        said = Decision(decision="approve", args=edited, reason=reason, question=self.question)
        return await self._desk.decide(self.id, said, by)

    async def areject(self, reason: str | None = None, by: str = "approver") -> Answer:
        """Reject the call, and return the answer that the model reads.

        Raises:
            ApprovalConflict: The call was decided already.
        """
        said = Decision(decision="reject", reason=reason, question=self.question)
        return await self._desk.decide(self.id, said, by)

    async def acomplete_sign_in(self, token: str) -> Answer:
        """Go on with a call that waits for a sign-in: the person has signed in, and this is their token.

        Raises:
            ApprovalConflict: It waits for a decision.
        """
        return await self._desk.sign_in(self.document, token)

    def approve(self, args: Mapping[str, Any] | None = None, reason: str | None = None, by: str = "approver") -> Answer:
        """Do the same as `aapprove` in sync code."""
        return shared_loop().run(self.aapprove(args, reason, by))

    def reject(self, reason: str | None = None, by: str = "approver") -> Answer:
        """Do the same as `areject` in sync code."""
        return shared_loop().run(self.areject(reason, by))

    def complete_sign_in(self, token: str) -> Answer:
        """Do the same as `acomplete_sign_in` in sync code."""
        return shared_loop().run(self.acomplete_sign_in(token))


class EventRecorder(CurrentCall):
    """Listens to the calls of a pipeline, also to those that run after a person's decision."""

    def __init__(self) -> None:
        self.progress: list[Progress] = []
        self.parts: list[Any] = []

    def begin(self, invocation: Invocation) -> Any:
        """Listen to a call from its beginning."""
        invocation.request = invocation.request.copy_with(listener=self._hear)
        return super().begin(invocation)

    def finish(self, message: ToolMessage) -> Answer:
        """Return an answer with what was recorded."""
        return Answer(message, self.progress, self.parts)

    def _hear(self, kind: str, call_id: str, said: Mapping[str, Any]) -> Pause | None:
        if kind == "progress":
            self.progress.append(Progress(call_id, said["done"], said["total"], said["message"]))
        elif kind == "partial":
            self.parts.append(said["content"])
        return None
