"""What crosses from a server to its child processes and back: JSON, and nothing that has to be trusted."""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from sidecall.core.command import Command
from sidecall.core.errors import InvalidToolOption
from sidecall.core.invocation import Invocation
from sidecall.core.jsonable import to_plain
from sidecall.core.messages import ToolMessage
from sidecall.core.tool import CompiledTool
from sidecall.executors.process.failures import raise_failure
from sidecall.executors.process.forkserver import can_fork
from sidecall.schema.signature import unwrap


def home_of(tool: CompiledTool) -> dict[str, Any]:
    """Say where a process finds a tool: its name, and the module in which its function stands."""
    function = unwrap(tool.function)
    function = getattr(function, "__func__", function)
    module = getattr(function, "__module__", None) or type(function).__module__
    return {"name": tool.name, "module": module, "file": _file_of(tool, module)}


def _file_of(tool: CompiledTool, module: str) -> str | None:
    if module.partition(".")[0] != __name__.partition(".")[0]:
        return getattr(sys.modules.get(module), "__file__", None)
    # A function of ours only stands for what its author wrote somewhere else.
    file = tool.source.rpartition(":")[0]
    return str(Path(file).resolve()) if file.endswith(".py") else None


def obstacle_of(tool: CompiledTool) -> str | None:
    """Say why a tool cannot run in a process, None when nothing is known to be in the way."""
    if not can_fork():
        return "this system cannot fork"
    if home_of(tool)["module"] == "__main__":
        return "it stands in the program itself, which a process cannot load again; move it to a module"
    if any(injection.source == "store" for injection in tool.injections):
        return "it wants the store, which stays with the server; take another executor"
    return None


def refuse(tool: CompiledTool, reason: str | None) -> None:
    """Refuse a tool for a reason, if there is one.

    Raises:
        InvalidToolOption: There is.
    """
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r} cannot have executor='process': {reason}.")


def request_of(invocation: Invocation, home: Mapping[str, Any], memory_limit_mb: int) -> dict[str, Any]:
    """Write down a call for a process; it gets no more secrets than its tool asks for."""
    context = invocation.tool_context
    wanted = [injection.field for injection in invocation.tool.injections if injection.source == "secret"]
    return {
        "home": home,
        "args": invocation.args,
        "call_id": invocation.call.id,
        "invocation_id": invocation.id,
        "state": context.state,
        "context": dict(context.context),
        "headers": dict(context.headers),
        "caller": {field.name: getattr(context.caller, field.name) for field in fields(context.caller)},
        "remaining": context.remaining,
        "secrets": {name: invocation.surroundings.secrets(name) for name in wanted if name},
        "memory_limit_mb": invocation.tool.options.memory_limit_mb or memory_limit_mb,
        "is_heard": invocation.request.listener is not None,
        "trace": dict(invocation.surroundings.trace()),
    }


def output_of(invocation: Invocation, answer: dict[str, Any]) -> Any:
    """Read an answer as what the tool returned, or raise what it raised.

    Raises:
        ToolFailure: The tool failed in a way that the model is told of.
        ToolCrashed: It raised anything else.
    """
    raise_failure(answer)
    content = answer.get("content")
    if "update" in answer:
        content = _command(invocation, answer)
    elif "spoken" in answer:
        content = ToolMessage(tool_call_id=invocation.call.id, **answer["spoken"])
    return (content, answer["artifact"]) if "artifact" in answer else content


def _command(invocation: Invocation, answer: dict[str, Any]) -> Command:
    spoken = {"tool_call_id": invocation.call.id, **answer["spoken"]}
    messages = [spoken, *answer["update"].get("messages", ())]
    return Command(update={**answer["update"], "messages": messages}, goto=answer["goto"])


def plain_of(value: Any) -> Any:
    """Reduce a value to what JSON has, but keep the numbers that it lacks: the server notes that they were lost.

    Raises:
        ValueError: JSON cannot say it.
    """
    if type(value) is str:
        return value
    try:
        json.dumps(value)
    except Exception:  # JSON does not know it, or its own code crashed.
        lost: list[tuple[float, tuple[str | int, ...]]] = []
        plain = to_plain(value, lambda number, path: lost.append((number, path)))
        for number, path in lost:
            plain = _with(plain, path, number)
        return plain
    return value


def _with(plain: Any, path: tuple[str | int, ...], number: float) -> Any:
    """Put a number back where null stands for it."""
    if not path:
        return number
    place = plain
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = number
    return plain
