"""A turn with a remote agent, independent of its protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sidecall.kernel.core.usage import Usage

AgentDialect = Literal["chat", "responses", "a2a"]
APPROVED = "Approved."


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """A text for an agent; with `resumed` it is the reply to the agent's question.

    `reply` is the person's text, and `is_approved` their decision.
    """

    text: str
    context_id: str | None = None
    resumed: Mapping[str, Any] | None = None
    is_approved: bool = True
    reply: str | None = None

    @property
    def answer(self) -> str:
        """The message to the agent after a person's decision."""
        said = (self.reply or "").strip()
        if self.is_approved:
            return said or APPROVED
        return f"The person has rejected this: {said}" if said else "The person has rejected this."


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """A question of an agent to a person; `state` is where it continues."""

    text: str
    state: Mapping[str, Any]
    shown: Any = None


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """The result of a turn: a text with other parts, or a question."""

    text: str
    context_id: str | None = None
    task_id: str | None = None
    parts: Sequence[Mapping[str, Any]] = ()
    usage: Usage | None = None
    question: AgentQuestion | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


def read_usage(said: Any) -> Usage | None:
    """Read the token usage in the form of either of OpenAI's APIs; None without one."""
    if not isinstance(said, Mapping):
        return None
    taken = _count(said, "input_tokens", "prompt_tokens")
    made = _count(said, "output_tokens", "completion_tokens")
    return Usage(1, taken, made, _count(said, "total_tokens") or taken + made)


def _count(said: Mapping[str, Any], *names: str) -> int:
    return next((said[name] for name in names if isinstance(said.get(name), int)), 0)
