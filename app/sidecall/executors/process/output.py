"""What a tool returned, as it crosses from its process to the server, which alone makes a message of it.

There is one shape, a dict of plain values:

    kind        value, message or command
    content     what the model is to read; as the only long text it crosses as it is
    objects     present where `content` is a list that must not be taken for a list of blocks
    artifact    of a tool that returns content and artifact
    message     of a message or command: its artifact, status and additional_kwargs
    update      of a command: what is left of it beside the message
    goto        of a command
"""

import json
from collections.abc import Mapping
from typing import Any

from sidecall.core.command import Command, MessageParts, is_command, is_message, read_command, read_message
from sidecall.core.jsonable import no_json_form, to_plain
from sidecall.core.messages import ObjectList, ToolMessage, are_blocks
from sidecall.core.tool import CompiledTool

# Of these JSON knows all.
_SCALARS = frozenset((str, int, float, bool, type(None)))


def write_output(tool: CompiledTool, output: Any, call_id: str) -> dict[str, Any]:
    """Reduce what a tool returned to plain values.

    Raises:
        ToolOutputError: The server would raise it, had the tool run there.
    """
    content, artifact = tool.split(output)
    if is_command(content):
        command = read_command(tool.name, content, call_id)
        update = {"update": _reduce(tool, command.update, dict(command.update)), "goto": _reduce(tool, command.goto)}
        written = {"kind": "command", **update, **_write_message(tool, command.answer)}
    elif is_message(content):
        written = {"kind": "message", **_write_message(tool, read_message(content))}
    else:
        written = {"kind": "value", **_write_content(tool, content)}
    if tool.options.response_format == "content_and_artifact":
        written["artifact"] = _reduce(tool, artifact)
    return written


def _write_message(tool: CompiledTool, spoken: MessageParts) -> dict[str, Any]:
    kwargs = _reduce(tool, dict(spoken.additional_kwargs))
    content = _write_content(tool, spoken.content)
    said = {"artifact": _reduce(tool, spoken.artifact), "status": spoken.status, "additional_kwargs": kwargs}
    return {**content, "message": said}


def _write_content(tool: CompiledTool, content: Any) -> dict[str, Any]:
    plain = _reduce(tool, content)
    if plain is not content and are_blocks(plain) and not are_blocks(content):
        return {"content": plain, "objects": True}
    return {"content": plain}


def _reduce(tool: CompiledTool, value: Any, readable: Any = None) -> Any:
    try:
        return reduce(value if readable is None else readable)
    except ValueError as error:
        raise no_json_form(tool.name, value) from error


def reduce(value: Any) -> Any:
    """Reduce a value to what JSON has, but keep the numbers that it lacks: the server notes that they were lost.

    Raises:
        ValueError: JSON has no form for it.
    """
    if type(value) in _SCALARS:
        return value
    try:
        json.dumps(value)
    except BaseException:  # JSON does not know it, or its own code crashed.
        lost: list[tuple[float, tuple[str | int, ...]]] = []
        plain = to_plain(value, lambda number, path: lost.append((number, path)))
        for number, path in lost:
            plain = _put_back(plain, path, number)
        return plain
    return value


def _put_back(plain: Any, path: tuple[str | int, ...], number: float) -> Any:
    """Put a number where null stands for it."""
    if not path:
        return number
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = number
    return plain


def read_output(tool: CompiledTool, written: Mapping[str, Any], call_id: str) -> Any:
    """Return an output of which the server makes the same message as of the tool's own."""
    content = ObjectList(written["content"]) if "objects" in written else written["content"]
    if written["kind"] == "command":
        message = {"tool_call_id": call_id, "content": content, **written["message"]}
        others = written["update"].get("messages", [])
        messages = [message, *(others if isinstance(others, list) else [others])]
        content = Command(update={**written["update"], "messages": messages}, goto=written["goto"])
    elif written["kind"] == "message":
        # Not checked, since a message of another library may hold what ours does not.
        content = ToolMessage.model_construct(tool_call_id=call_id, content=content, **written["message"])
    return (content, written["artifact"]) if tool.options.response_format == "content_and_artifact" else content
