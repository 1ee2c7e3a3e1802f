"""Answers for graphs: messages, and Commands that tools returned."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from langchain_core.messages import ToolMessage
from langgraph.types import Command, Send

from sidecall.client.answers import ToolAnswer

GraphOutput: TypeAlias = ToolMessage | Command[Any] | list[Command[Any] | ToolMessage]


def read_graph_output(answer: ToolAnswer) -> GraphOutput:
    """Return the message of an answer, or the Command that the tool returned, with the message in it."""
    message = ToolMessage(**answer.message)
    asked = answer.response_metadata
    if "commands" in asked:
        commands = asked["commands"]
        bringing = next((it for it in commands if "answer_at" in it), commands[0])
        return [_make_command(it, message if it is bringing else None) for it in commands]
    return _make_command(asked, message) if "state_update" in asked else message


def _make_command(asked: Mapping[str, Any], message: ToolMessage | None) -> Command[Any]:
    update = asked.get("state_update") or {}
    goto = asked.get("goto") or []
    steps = [Send(**step) if isinstance(step, dict) else step for step in (goto if isinstance(goto, list) else [goto])]
    said = [*update.get("messages", [])]
    if message is not None:
        # Other messages may be those before it, or one that removes all before it.
        said.insert(asked.get("answer_at", 0), message)
    return Command(
        update={**update, **({"messages": said} if said else {})},
        goto=steps,
        graph=asked.get("graph"),
        resume=asked.get("resume"),
    )
