"""Commands: what a tool asks of the caller's graph, besides its answer."""

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import GenericAlias
from typing import Any, ClassVar, Literal

from msgspec import Struct
from pydantic import BaseModel

from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.core.messages import Status

# What LangGraph's add_messages takes for "all messages so far"; nothing is left to be answered then.
_REMOVE_ALL = "__remove_all__"
_WANTED = "a mapping of the state's keys to their new values, or a list of such pairs"


@dataclass(frozen=True, slots=True)
class Send:
    """The next node of the caller's graph and its input, as in LangGraph."""

    node: str
    arg: Any


@dataclass(frozen=True, slots=True)
class Command:
    """Return this from a tool to change the caller's state or to route its graph, as in LangGraph.

    `update` maps keys of the state to new values. The message in its `messages` that answers the call is what the model
    reads. `goto` names the next nodes, in this graph or in the one that `graph` names, `resume` is the value for an
    interrupted graph. The caller finds all of them in the answer's `response_metadata`.
    """

    update: Any = None
    goto: Any = ()
    graph: str | None = None
    resume: Any = None

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"
    # Authors say which nodes may come next: `Command[Literal["pay"]]`.
    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)


@dataclass(frozen=True, slots=True)
class MessageParts:
    """The parts of a message that a tool has made itself."""

    content: Any
    artifact: Any = None
    status: Status = "success"
    additional_kwargs: Mapping[str, Any] = field(default_factory=dict)


class CommandParts(Struct, frozen=True):
    """The parts of a command; `goto` is empty when the graph continues as usual.

    `place` is the index of the answer among the messages of the update, None where another command holds the answer.
    For several commands these are the combined parts, and `each` has the parts of every one.
    """

    answer: MessageParts
    update: Mapping[str, Any]
    goto: Any
    graph: str | None = None
    resume: Any = None
    each: tuple["CommandParts", ...] = ()
    place: int | None = None


def is_command(value: Any) -> bool:
    """Return whether a result is a Command: ours or LangGraph's, which is not imported."""
    return type(value).__name__ == "Command" and hasattr(value, "update") and hasattr(value, "goto")


def is_message(value: Any) -> bool:
    """Return whether a result is a ToolMessage, ours or LangChain's."""
    return type(value).__name__ == "ToolMessage" and hasattr(value, "content") and hasattr(value, "tool_call_id")


def is_series(value: Any) -> bool:
    """Return whether a result is a list of commands and messages, of which one answers the call."""
    return type(value) in (list, tuple) and bool(value) and all(is_command(it) or is_message(it) for it in value)


def is_command_type(annotation: Any) -> bool:
    """Return whether an annotation is a command, such as `Command[Literal["node"]]`, or messages."""
    name = getattr(typing.get_origin(annotation) or annotation, "__name__", "")
    return name in ("Command", "ToolMessage") or any(is_command_type(part) for part in typing.get_args(annotation))


def read_message(message: Any) -> MessageParts:
    """Read a message: ours, or an object or mapping with the same names."""
    status: Status = "error" if _get(message, "status") == "error" else "success"
    kwargs = _get(message, "additional_kwargs")
    return MessageParts(
        _get(message, "content"), _get(message, "artifact"), status, kwargs if isinstance(kwargs, Mapping) else {}
    )


def read_command(tool: str, command: Any, call_id: str) -> CommandParts:
    """Split a command into the answer to the call and the rest of the update.

    Args:
        tool: The tool's name, for errors.
        command: Our Command or LangGraph's.
        call_id: The id of the call.

    Raises:
        ToolOutputError: Its update is no mapping, or has no message that answers the call, as in LangGraph's ToolNode.
    """
    return read_series(tool, (command,), call_id)


def read_series(tool: str, outputs: Sequence[Any], call_id: str) -> CommandParts:
    """Split a list of commands and messages into the answer to the call and the combined command.

    The answer is the first message with the call's id; else the first without an id; else, if no command updates
    messages, the first message. The other messages join those of the update, so that none is lost.

    Raises:
        ToolOutputError: There is no answer among them, as in LangGraph's ToolNode, or commands contradict each other.
    """
    updates = [
        _read_update(tool, output.update) if is_command(output) else {"messages": [output]} for output in outputs
    ]
    messages = [_list_messages(update) for update in updates]
    place = _find_answer(messages, call_id, any_id=not any(map(is_command, outputs)))
    if place is None and any(_wants_answer(*pair) for pair in zip(outputs, messages, strict=True)):
        raise ToolOutputError(
            f"Error: {tool} returned a Command whose update has no message that answers the call; it should have one"
            " among its messages: Command(update={'messages': [ToolMessage(content='...')], ...})."
        )
    answer = MessageParts(None) if place is None else read_message(messages[place[0]].pop(place[1]))
    kept = [_put_messages(update, left) for update, left in zip(updates, messages, strict=True)]
    parts = [
        CommandParts(answer, update, write_goto(_get(it, "goto", ())), _get(it, "graph"), _get(it, "resume"), (), at)
        for it, update, at in zip(outputs, kept, _list_places(place, len(outputs)), strict=True)
    ]
    return parts[0] if len(parts) == 1 else _join(tool, answer, parts, list(map(is_command, outputs)))


def _find_answer(messages: list[list[Any]], call_id: str, *, any_id: bool) -> tuple[int, int] | None:
    places = [
        (i, j, _get(it, "tool_call_id", _ABSENT)) for i, group in enumerate(messages) for j, it in enumerate(group)
    ]
    named = [place[:2] for place in places if place[2] == call_id]
    nameless = [place[:2] for place in places if place[2] in ("", None)]
    others = [place[:2] for place in places] if any_id else []
    return next(iter([*named, *nameless, *others]), None)


def _list_places(place: tuple[int, int] | None, count: int) -> list[int | None]:
    """Return for each output the index of the answer among its messages."""
    return [place[1] if place is not None and place[0] == index else None for index in range(count)]


def _find_joined(parts: list[CommandParts]) -> int | None:
    """Return the index of the answer among all messages."""
    before = 0
    for part in parts:
        if part.place is not None:
            return before + part.place
        before += len(part.update.get("messages", ()))
    return None


def _wants_answer(output: Any, messages: list[Any]) -> bool:
    """Return whether the caller would be left without an answer."""
    is_expected = _get(output, "update") is not None and _get(output, "graph") is None
    return is_expected and not any(_get(message, "id") == _REMOVE_ALL for message in messages)


def _list_messages(update: Mapping[str, Any]) -> list[Any]:
    messages = update.get("messages", ())
    return list(messages) if isinstance(messages, (list, tuple)) else [messages]


def _put_messages(update: Mapping[str, Any], messages: list[Any]) -> Mapping[str, Any]:
    rest = {key: value for key, value in update.items() if key != "messages"}
    return {**rest, "messages": messages} if messages else rest


def _join(tool: str, answer: MessageParts, parts: list[CommandParts], are_commands: list[bool]) -> CommandParts:
    """Combine several commands: lists are concatenated, as the reducers of a state do."""
    update: dict[str, Any] = {}
    for key, value in (item for part in parts for item in part.update.items()):
        if key not in update:
            update[key] = value
        elif isinstance(value, (list, tuple)) and isinstance(update[key], (list, tuple)):
            update[key] = [*update[key], *value]
        elif update[key] != value:
            raise ToolOutputError(f"Error: {tool} returned Commands that give the state's {key!r} different values.")
    gotos = [node for part in parts for node in (part.goto if isinstance(part.goto, list) else [part.goto])]
    graphs = {part.graph for part, is_one in zip(parts, are_commands, strict=True) if is_one}
    resume = next((part.resume for part in parts if part.resume is not None), None)
    each = tuple(part for part, is_one in zip(parts, are_commands, strict=True) if is_one)
    graph = next(iter(graphs)) if len(graphs) == 1 else None
    goto = gotos[0] if len(gotos) == 1 else gotos
    return CommandParts(answer, update, goto, graph, resume, each if len(each) > 1 else (), _find_joined(parts))


def _read_update(tool: str, update: Any) -> Mapping[str, Any]:
    if update is None:
        return {}
    if isinstance(update, Mapping):
        return update
    fields = _read_fields(update)
    if fields is not None:
        return fields
    if isinstance(update, (list, tuple)) and update and all(_is_any_message(item) for item in update):
        return {"messages": update}  # Of a graph whose state is a list of messages.
    if isinstance(update, (list, tuple)) and all(_is_pair(item) for item in update):
        mapping = dict(update)
        if len(mapping) == len(update):
            return mapping
        raise ToolOutputError(
            f"Error: {tool} returned a Command whose update names a key twice; it should be {_WANTED}."
        )
    kind = type(update).__name__
    raise ToolOutputError(f"Error: {tool} returned a Command whose update is of type {kind}; it should be {_WANTED}.")


def _read_fields(update: Any) -> Mapping[str, Any] | None:
    """Read an object of the state's class: the fields that were set, as in LangGraph."""
    if isinstance(update, BaseModel):
        return {name: getattr(update, name) for name in update.model_fields_set}
    if dataclasses.is_dataclass(update) and not isinstance(update, type):
        return {it.name: getattr(update, it.name) for it in dataclasses.fields(update)}
    return None


def _is_pair(item: Any) -> bool:
    return isinstance(item, (list, tuple)) and len(item) == 2 and isinstance(item[0], str)


def _is_any_message(item: Any) -> bool:
    if isinstance(item, Mapping):
        return "content" in item and ("role" in item or "type" in item or "tool_call_id" in item)
    return hasattr(item, "content") and hasattr(item, "type")


_ABSENT = object()


def _get(message: Any, name: str, default: Any = None) -> Any:
    return message.get(name, default) if isinstance(message, Mapping) else getattr(message, name, default)


def write_goto(goto: Any) -> Any:
    """Serialize where a graph goes on; a Send becomes an object."""
    if isinstance(goto, Sequence) and not isinstance(goto, str):
        return [write_goto(node) for node in goto]
    return {"node": goto.node, "arg": goto.arg} if type(goto).__name__ == "Send" else goto
