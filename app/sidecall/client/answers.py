"""Typed answers: results of calls, approvals, durable calls, and events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from sidecall.client.blocks import MediaBlock, read_blocks

# How a remembered call may stand when it has come to its end.
ENDS = frozenset(("succeeded", "failed", "cancelled", "expired", "outcome_unknown"))


class ClientError(Exception):
    """Base of all exceptions of this package."""


class ToolFailed(ClientError):
    """A call failed; the text is for the model, and `answer` has all about it."""

    def __init__(self, answer: "ToolAnswer") -> None:
        super().__init__(answer.error)
        self.answer = answer


@dataclass(frozen=True)
class Failure:
    """Why a call failed: `kind` is for programs, `message` for the model; `errors` lists what to fix by location."""

    kind: str
    message: str
    retryable: bool = False
    errors: list[dict[str, Any]] = field(default_factory=list)
    nearest: list[str] = field(default_factory=list)
    retry_after_ms: int | None = None


@dataclass(frozen=True)
class ToolAnswer:
    """The answer to a call: the nine keys of LangChain's ToolMessage.

    `replayed` is true if it was first given to an earlier request with the same key. `approval` is what the call waits
    for, if it has not run and the program has asked for an answer nevertheless.
    """

    content: Any
    tool_call_id: str
    name: str
    status: Literal["success", "error"] = "success"
    artifact: Any = None
    id: str | None = None
    type: str = "tool"
    additional_kwargs: dict[str, Any] = field(default_factory=dict)
    response_metadata: dict[str, Any] = field(default_factory=dict)
    replayed: bool = False
    approval: "CallApproval | None" = None

    @classmethod
    def read(cls, message: Mapping[str, Any], *, replayed: bool = False) -> Self:
        """Read a ToolMessage; unknown keys of newer servers are dropped."""
        return cls(**_choose(cls, message), replayed=replayed)

    @property
    def text(self) -> str:
        """The content as one text; images and files are named in it."""
        return "\n".join(map(_name_block, read_blocks(self.content)))

    @property
    def error(self) -> str | None:
        """Why the call failed, in words for the model; None if it succeeded."""
        return self.text if self.status == "error" else None

    def raise_for_status(self) -> Self:
        """Return the answer itself.

        Raises:
            ToolFailed: The call failed.
        """
        if self.status == "error":
            raise ToolFailed(self)
        return self

    @property
    def failure(self) -> Failure | None:
        """Why the call failed; None if it succeeded."""
        error = self.response_metadata.get("error")
        return None if error is None else Failure(**_choose(Failure, error))

    @property
    def message(self) -> dict[str, Any]:
        """The nine keys, for `langchain_core.messages.ToolMessage`."""
        return {key: value for key, value in vars(self).items() if key not in ("replayed", "approval")}


@dataclass(frozen=True)
class SignInLink:
    """Where a person signs in, so that a tool may act for them; the call then continues by itself."""

    provider: str
    url: str


@dataclass(frozen=True)
class CallApproval:
    """A call that waits for a person, and the result; `document` is the server's complete answer."""

    id: str
    status: Literal["pending", "approved", "rejected", "expired", "cancelled"]
    tool_call: dict[str, Any]
    description: str | None = None
    preview: Any = None
    reason: str | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read the server's answer."""
        return cls(**_choose(cls, document), document=dict(document))

    @property
    def sign_in(self) -> SignInLink | None:
        """The sign-in that the call waits for; None if it waits for a decision."""
        link = self.document.get("sign_in")
        return None if link is None else SignInLink(link["provider"], link["url"])

    @property
    def question(self) -> str:
        """The question for the person, in words that a model may pass on."""
        name, link = self.tool_call["name"], self.sign_in
        if link is None:
            return f"{name} waits until a person has decided about it. It has not run."
        return (
            f"{name} waits until a person has signed in at {link.provider}: {link.url} It has not run. Once they have "
            "signed in, make the same call again for its answer."
        )

    @property
    def answer(self) -> ToolAnswer | None:
        """The answer to the call, once there is one."""
        message = self.document.get("message")
        return None if message is None else ToolAnswer.read(message)


@dataclass(frozen=True)
class PersonVerdict:
    """A person's decision: approve a call, possibly with other arguments, or reject it with a reason.

    With `question`, the number of the question they read, it answers no other question of the same call.
    """

    decision: Literal["approve", "reject"]
    args: dict[str, Any] | None = None
    reason: str | None = None
    always: bool = False
    expires_in: float | None = None
    question: int | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The request body."""
        return {key: value for key, value in vars(self).items() if value not in (None, False)}


@dataclass(frozen=True)
class CallState:
    """The state of a durable call; `document` is the server's complete answer."""

    id: str
    name: str
    status: str
    tool_call_id: str
    kind: str | None = None
    approval_id: str | None = None
    document: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Self:
        """Read the server's answer."""
        return cls(**_choose(cls, document), document=dict(document))

    @classmethod
    def of(cls, answer: ToolAnswer) -> Self:
        """Return the state of a call that the server has answered and does not store."""
        status, kind = ("failed", answer.failure.kind) if answer.failure else ("succeeded", None)
        said = {"id": answer.id or "", "name": answer.name, "status": status, "tool_call_id": answer.tool_call_id}
        return cls.read({**said, "kind": kind, "approval_id": None, "message": answer.message})

    @property
    def has_ended(self) -> bool:
        """Whether the call has ended."""
        return self.status in ENDS

    @property
    def awaited(self) -> str | None:
        """The id of the pending approval; None if the call waits for no person."""
        return self.approval_id if self.status == "awaiting_approval" else None

    @property
    def answer(self) -> ToolAnswer | None:
        """The answer to the call, once there is one."""
        message = self.document.get("message")
        return None if message is None else ToolAnswer.read(message)


@dataclass(frozen=True)
class Progress:
    """The progress that a tool reports."""

    tool_call_id: str
    done: float
    total: float | None = None
    message: str | None = None


@dataclass(frozen=True)
class PartialAnswer:
    """A part of an answer that a tool has sent early."""

    tool_call_id: str
    content: Any


@dataclass(frozen=True)
class MissedEvents:
    """The number of events of a call that were dropped, because this client was too slow or its tool could not wait."""

    tool_call_id: str
    count: int


@dataclass(frozen=True)
class StatusChange:
    """A durable call has a new status."""

    status: str
    attempt: int | None = None
    kind: str | None = None
    approval_id: str | None = None


CallEvent = Progress | PartialAnswer | MissedEvents | StatusChange | CallApproval | ToolAnswer


def _name_block(block: str | MediaBlock) -> str:
    return block if isinstance(block, str) else block.words


def _choose(kind: type[Any], document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in kind.__dataclass_fields__ if key in document}


def read_event(name: str, document: Mapping[str, Any]) -> CallEvent | None:
    """Read one event of a stream; None for unknown ones."""
    if name in ("message", "approval"):
        return ToolAnswer.read(document) if name == "message" else CallApproval.read(document)
    kinds = {"progress": Progress, "partial": PartialAnswer, "missed": MissedEvents, "status": StatusChange}
    kind = kinds.get(name)
    event: CallEvent | None = None if kind is None else kind(**_choose(kind, document))
    return event
