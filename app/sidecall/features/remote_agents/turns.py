"""What is said to an agent elsewhere, and what it answers, whatever it speaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sidecall.kernel.core.usage import Usage

AgentDialect = Literal["chat", "responses", "a2a"]
APPROVED = "Approved."


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """A text for an agent; with `resumed` it answers what the agent has asked a person.

    `reply` has the person's words, and `is_approved` says what they have decided.
    """

    text: str
    context_id: str | None = None
    resumed: Mapping[str, Any] | None = None
    is_approved: bool = True
    reply: str | None = None

    @property
    def answer(self) -> str:
        """What the agent is told of a person's decision."""
        said = (self.reply or "").strip()
        if self.is_approved:
            return said or APPROVED
        return f"The person has rejected this: {said}" if said else "The person has rejected this."


@dataclass(frozen=True, slots=True)
class AgentQuestion:
    """What an agent wants a person to decide; `state` says where it goes on."""

    text: str
    state: Mapping[str, Any]
    shown: Any = None


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What came of a turn: a text with other parts, or a question."""

    text: str
    context_id: str | None = None
    task_id: str | None = None
    parts: Sequence[Mapping[str, Any]] = ()
    usage: Usage | None = None
    question: AgentQuestion | None = None
    told: Mapping[str, Any] = field(default_factory=dict)


def read_usage(said: Any) -> Usage | None:
    """Read how much an agent's model has used, as OpenAI's two APIs say it; None where they do not."""
    if not isinstance(said, Mapping):
        return None
    taken = _count(said, "input_tokens", "prompt_tokens")
    made = _count(said, "output_tokens", "completion_tokens")
    return Usage(1, taken, made, _count(said, "total_tokens") or taken + made)


def _count(said: Mapping[str, Any], *names: str) -> int:
    return next((said[name] for name in names if isinstance(said.get(name), int)), 0)
