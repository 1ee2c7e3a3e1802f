"""What a tool returned, as it crosses from its process to the server, which alone makes a message of it.

There is one shape, a dict of plain values:

    kind        value, message, command or series
    content     what the model is to read; as the only long text it crosses as it is
    objects     present where `content` is a list that must not be taken for a list of blocks
    json        present where `content` is the JSON text of a value
    artifact    of a tool that returns content and artifact
    message     of a message or command: its artifact, status and additional_kwargs
    update      of a command: what is left of it beside the message; goto, graph and resume too
    outputs     of a series: the commands and messages in it, as plain values

A large content crosses as its JSON text, of which the model reads a part at most, so that nobody builds it again.
"""

import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic_core import to_json

from sidecall.kernel.core.command import (
    Command,
    MessageParts,
    is_command,
    is_message,
    is_series,
    read_command,
    read_message,
    read_series,
    write_goto,
)
from sidecall.kernel.core.messages import JsonText, ObjectList, ToolMessage, are_blocks
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.json_data.to_json import no_json_form, to_plain, to_text, too_large

# Of these JSON knows all, but not each int: Python writes none that is very long.
_SCALARS = frozenset((str, float, bool, type(None)))
# Bytes that a character of a text takes at most, written as `\u0000`.
_ESCAPED = 6


class ResultBounds(NamedTuple):
    """How many bytes of JSON may cross as structure, None where there is no bound.

    Contents beyond `text_from` cross as text, and so do lists of blocks beyond `most`. All else beyond that is refused.
    """

    text_from: int | None = None
    most: int | None = None


UNBOUNDED = ResultBounds()


def write_output(tool: CompiledTool, output: Any, call_id: str, bounds: ResultBounds = UNBOUNDED) -> dict[str, Any]:
    """Reduce a tool's output to plain values.

    Raises:
        ToolOutputError: The server would raise it, had the tool run there, or it is too large.
    """
    if type(output) is str and tool.options.response_format == "content":
        return {"kind": "value", "content": output}  # As what most tools return would leave the rest.
    content, artifact = tool.split(output)
    write = _Writer(tool, bounds)
    if is_command(content):
        command = read_command(tool.name, content, call_id)
        update = {"update": write.plain(command.update, "a state update", dict(command.update))}
        written = {"kind": "command", **update, **write.wishes(command), **write.message(command.answer)}
    elif is_message(content):
        written = {"kind": "message", **write.message(read_message(content))}
    elif is_series(content):
        written = {"kind": "series", "outputs": write.series(content, call_id)}
    else:
        written = {"kind": "value", **write.content(content)}
    if tool.options.response_format == "content_and_artifact":
        written["artifact"] = write.plain(artifact, "an artifact")
    return written


# What a command has besides its update.
_WISHES = ("goto", "graph", "resume")


class _Writer:
    """Reduces the parts of one output, each within its bound."""

    def __init__(self, tool: CompiledTool, bounds: ResultBounds) -> None:
        self._tool = tool
        self._bounds = bounds

    def message(self, spoken: MessageParts) -> dict[str, Any]:
        kwargs = self.plain(dict(spoken.additional_kwargs), "additional_kwargs")
        artifact = self.plain(spoken.artifact, "an artifact")
        said = {"artifact": artifact, "status": spoken.status, "additional_kwargs": kwargs}
        return {**self.content(spoken.content), "message": said}

    def series(self, outputs: Sequence[Any], call_id: str) -> list[dict[str, Any]]:
        read_series(self._tool.name, outputs, call_id)  # For the errors that it raises.
        return [
            {"message": {**self.plain(item, "a message"), "artifact": self.plain(item.artifact, "an artifact")}}
            if is_message(item)
            else {"update": self.plain(item.update, "a state update"), **self.wishes(item)}
            for item in outputs
        ]

    def wishes(self, command: Any) -> dict[str, Any]:
        wishes = {**{name: getattr(command, name, None) for name in _WISHES}, "goto": write_goto(command.goto)}
        return {name: self.plain(wish, f"a {name}") for name, wish in wishes.items() if wish is not None}

    def content(self, content: Any) -> dict[str, Any]:
        is_part = self._tool.options.response_format == "content_and_artifact"
        plain, size = self._reduce(content, part="content" if is_part else None)
        is_list = are_blocks(content)
        most = self._bounds.most if is_list else self._bounds.text_from
        if type(plain) is not str and most is not None and size > most:
            lost: list[float] = []
            results = None if self._tool.says_values else self._tool.results
            # Checked here, since the server does not parse it.
            settled = plain if results is None else results.settle(self._tool.name, plain)
            text = to_text(settled, lambda number, _: lost.append(number))
            # The server says of each number that was lost where that was, as long as it may look.
            if not lost or size > (self._bounds.most or most):
                return {"content": text, "json": True}
        if plain is not content and not is_list and are_blocks(plain):
            return {"content": plain, "objects": True}
        return {"content": plain}

    def plain(self, value: Any, what: str, readable: Any = None) -> Any:
        plain, size = self._reduce(value, readable, what.removeprefix("an ").removeprefix("a "))
        most = self._bounds.most
        if most is not None and size > most and (exact := _measure(plain, size)) > most:
            raise too_large(self._tool.name, what, exact, most)
        return plain

    def _reduce(self, value: Any, readable: Any = None, part: str | None = None) -> "Reduced":
        try:
            return reduce(value if readable is None else readable)
        except ValueError as error:
            raise no_json_form(self._tool.name, value if readable is None else readable, part) from error


class Reduced(NamedTuple):
    """A plain value, and the maximum length of its JSON; 0 for scalars other than texts."""

    value: Any
    size: int


def reduce(value: Any) -> Reduced:
    """Reduce a value to JSON, but keep NaN and infinities, so that the server can report them.

    Raises:
        ValueError: JSON has no form for it.
    """
    if type(value) in _SCALARS:
        return Reduced(value, _ESCAPED * len(value) + 2 if isinstance(value, str) else 0)
    try:
        return Reduced(value, len(json.dumps(value)))
    except BaseException:  # JSON does not know it, or its own code crashed.
        lost: list[tuple[float, tuple[str | int, ...]]] = []
        plain = to_plain(value, lambda number, path: lost.append((number, path)))
        size = len(json.dumps(plain))
        for number, path in lost:
            plain = _put_back(plain, path, number)
        return Reduced(plain, size)


def _measure(plain: Any, rough: int) -> int:
    """Count the bytes of the JSON; use the rough size if it cannot be serialized."""
    with suppress(ValueError):
        return len(to_json(plain))
    return rough


def _put_back(plain: Any, path: tuple[str | int, ...], number: float) -> Any:
    """Restore a number at a path where null stands for it."""
    if not path:
        return number
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = number
    return plain


def read_output(tool: CompiledTool, written: Mapping[str, Any], call_id: str) -> Any:
    """Read an output from which the server makes the same message as from the tool's own."""
    if written["kind"] == "series":
        content: Any = [_read_part(part) for part in written["outputs"]]
        return (content, written["artifact"]) if tool.options.response_format == "content_and_artifact" else content
    content = _read_content(written)
    if written["kind"] == "command":
        message = {"tool_call_id": call_id, "content": content, **written["message"]}
        others = written["update"].get("messages", [])
        messages = [message, *(others if isinstance(others, list) else [others])]
        wishes = {name: written[name] for name in _WISHES if name in written}
        content = Command(update={**written["update"], "messages": messages}, **wishes)
    elif written["kind"] == "message":
        # Not checked, since a message of another library may hold what ours does not.
        content = ToolMessage.model_construct(tool_call_id=call_id, content=content, **written["message"])
    return (content, written["artifact"]) if tool.options.response_format == "content_and_artifact" else content


def _read_content(written: Mapping[str, Any]) -> Any:
    content = written["content"]
    return JsonText(content) if "json" in written else ObjectList(content) if "objects" in written else content


def _read_part(part: Mapping[str, Any]) -> Any:
    """Return a message or command of a series; a Send has become a dict."""
    return ToolMessage.model_construct(**part["message"]) if "message" in part else Command(**part)


# Characters of a line that are passed on together.
_LINE = 65_536
# Seconds that the end of the processes waits for the last of what they have printed.
_PATIENCE = 1.0


class PrintedLines:
    """A pipe for the output of processes; a thread forwards its lines to this process's log."""

    def __init__(self) -> None:
        read, self.fd = os.pipe()
        self._thread = threading.Thread(target=_pass_on, args=(read,), name="sidecall-printed", daemon=True)
        self._thread.start()

    def __enter__(self) -> None:
        """Open the pipe for child processes."""

    def __exit__(self, *_: object) -> None:
        """Close this end of the pipe; child processes keep theirs."""
        os.close(self.fd)

    def wait(self) -> None:
        """Wait until all output is forwarded, once those processes have ended."""
        self._thread.join(_PATIENCE)


def _pass_on(fd: int) -> None:
    with open(fd, errors="backslashreplace") as pipe:
        while line := pipe.readline(_LINE):
            sys.stderr.write(line)
            sys.stderr.flush()
