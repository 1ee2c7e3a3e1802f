"""What a tool asks of the graph that its caller runs, beside its answer."""

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.core.errors import ToolOutputError
from sidecall.core.messages import Status

# What LangGraph's add_messages takes for "all messages so far"; nothing is left to be answered then.
_REMOVE_ALL = "__remove_all__"
_WANTED = "a mapping of the state's keys to their new values, or a list of such pairs"


@dataclass(frozen=True, slots=True)
class Command:
    """Return this from a tool to change the caller's state or to say where its graph goes on, as in LangGraph.

    `update` maps keys of the state to new values. The message in its `messages` that answers the call is what the
    model reads. `goto` names the next nodes. The caller finds both in the answer's `response_metadata`.
    """

    update: Any = None
    goto: Any = ()


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The parts of a message that a tool has made itself."""

    content: Any
    artifact: Any = None
    status: Status = "success"
    additional_kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommandParts:
    """The parts of a command; `goto` is empty when the graph goes on as it would."""

    answer: MessageParts
    update: Mapping[str, Any]
    goto: Any


def is_command(value: Any) -> bool:
    """Return whether a result is a Command: ours or LangGraph's, which is not imported."""
    return type(value).__name__ == "Command" and hasattr(value, "update") and hasattr(value, "goto")


def is_message(value: Any) -> bool:
    """Return whether a result is a ToolMessage, ours or LangChain's."""
    return type(value).__name__ == "ToolMessage" and hasattr(value, "content") and hasattr(value, "tool_call_id")


def is_command_type(annotation: Any) -> bool:
    """Return whether an annotation promises a command, `Command[Literal["node"]]` included."""
    return getattr(typing.get_origin(annotation) or annotation, "__name__", "") == "Command"


def read_message(message: Any) -> MessageParts:
    """Read a message: one of ours, or any object or mapping with the same names."""
    status: Status = "error" if _get(message, "status") == "error" else "success"
    kwargs = _get(message, "additional_kwargs")
    return MessageParts(
        _get(message, "content"), _get(message, "artifact"), status, kwargs if isinstance(kwargs, Mapping) else {}
    )


def read_command(tool: str, command: Any, call_id: str) -> CommandParts:
    """Take a command apart: the answer to the call, and what is left of the update.

    Args:
        tool: The tool's name, for errors.
        command: Our Command or LangGraph's.
        call_id: The id of the call.

    Raises:
        ToolOutputError: Its update is no mapping, or has no message that answers the call, as in LangGraph's ToolNode.
    """
    update = _read_update(tool, command.update)
    messages = update.get("messages", ())
    messages = list(messages) if isinstance(messages, (list, tuple)) else [messages]
    answers = [index for index, message in enumerate(messages) if _is_answer(message, call_id)]
    goto = _write_goto(command.goto)
    if answers:
        answer = read_message(messages.pop(answers[0]))
        rest = {key: value for key, value in update.items() if key != "messages"}
        return CommandParts(answer, {**rest, **({"messages": messages} if messages else {})}, goto)
    is_expected = command.update is not None and getattr(command, "graph", None) is None
    if is_expected and not any(_get(message, "id") == _REMOVE_ALL for message in messages):
        raise ToolOutputError(
            f"Error: {tool} returned a Command whose update has no message that answers the call; it should have one"
            " among its messages: Command(update={'messages': [ToolMessage(content='...')], ...})."
        )
    return CommandParts(MessageParts(None), update, goto)


def _read_update(tool: str, update: Any) -> Mapping[str, Any]:
    if update is None:
        return {}
    if isinstance(update, Mapping):
        return update
    if isinstance(update, (list, tuple)) and all(_is_pair(item) for item in update):
        mapping = dict(update)
        if len(mapping) == len(update):
            return mapping
        raise ToolOutputError(
            f"Error: {tool} returned a Command whose update names a key twice; it should be {_WANTED}."
        )
    kind = type(update).__name__
    raise ToolOutputError(f"Error: {tool} returned a Command whose update is of type {kind}; it should be {_WANTED}.")


def _is_pair(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str)


_ABSENT = object()


def _get(message: Any, name: str, default: Any = None) -> Any:
    return message.get(name, default) if isinstance(message, Mapping) else getattr(message, name, default)


def _is_answer(message: Any, call_id: str) -> bool:
    return _get(message, "tool_call_id", _ABSENT) in (call_id, "", None)


def _write_goto(goto: Any) -> Any:
    """Write LangGraph's Send as an object; it has no JSON form of its own."""
    if isinstance(goto, Sequence) and not isinstance(goto, str):
        return [_write_goto(node) for node in goto]
    return {"node": goto.node, "arg": goto.arg} if type(goto).__name__ == "Send" else goto
