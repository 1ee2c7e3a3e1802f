"""Ask an agent at an endpoint of Chat Completions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sidecall.features.remote_agents.connection import AgentConnection
from sidecall.kernel.core.context import Usage
from sidecall.kernel.core.errors import ToolException

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


_NO_CONTEXT = "This agent keeps no conversation: leave out context_id, and say all that it has to know."

_WANTS_TOOLS = "The agent has asked for tools of its own, which it is not given here. Ask it in another way."


async def ask_chat(line: AgentConnection, url: str, turn: AgentTurn, model: str | None) -> AgentAnswer:
    """Send a text, and return the answer.

    Raises:
        ToolException: The agent cannot answer.
    """
    if turn.context_id is not None:
        raise ToolException(_NO_CONTEXT)
    body: dict[str, Any] = {"messages": [{"role": "user", "content": turn.text}]}
    if model is not None:
        body["model"] = model
    if not line.streams:
        return _read_whole(await line.post(url, body))
    said, usage = "", None
    async for event in line.stream(url, {**body, "stream": True, "stream_options": {"include_usage": True}}):
        if isinstance(event, Mapping) and "error" in event:
            raise ToolException(f"The agent has failed: {str(event['error'])[:500]}")
        choice = _choose(event)
        if "message" in choice:  # It does not stream after all.
            return _read_whole(event)
        delta = _read_text(choice.get("delta"))
        said += delta
        line.add(delta)
        usage = read_usage(event.get("usage")) or usage
    line.finish()
    return _answer(said, usage)


def _read_whole(body: Any) -> AgentAnswer:
    return _answer(_read_text(_choose(body).get("message")), read_usage(body.get("usage")))


def _choose(body: Any) -> Mapping[str, Any]:
    choices = body.get("choices") if isinstance(body, Mapping) else None
    if not isinstance(choices, list):
        raise ToolException("The agent's answer is none of Chat Completions.")
    return choices[0] if choices and isinstance(choices[0], Mapping) else {}


def _read_text(message: Any) -> str:
    if not isinstance(message, Mapping):
        return ""
    if message.get("tool_calls"):
        raise ToolException(_WANTS_TOOLS)
    text = message.get("content") or message.get("refusal") or ""
    if isinstance(text, list):
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, Mapping))
    return str(text)


def _answer(text: str, usage: Usage | None) -> AgentAnswer:
    if not text.strip():
        raise ToolException("The agent has answered without a text.")
    return AgentAnswer(text, usage=usage)
