"""Where a tool stands, and what keeps a tool from running in a process."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from sidecall.core.errors import InvalidToolOption
from sidecall.core.tool import CompiledTool
from sidecall.executors.process.finder import Finder, Home
from sidecall.executors.process.fork_server_process import can_fork
from sidecall.schema.signature import unwrap


def home_of(tool: CompiledTool) -> Home:
    """Return where a process finds a tool: by its name, in the module in which its function stands."""
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


def find_obstacle(tool: CompiledTool) -> str | None:
    """Return why a tool cannot run in a process, None when nothing is known to be in the way."""
    if not can_fork():
        return "this system cannot fork"
    if home_of(tool)["module"] == "__main__":
        return "it stands in the program itself, which a process cannot load again; move it to a module"
    if any(injection.source == "store" for injection in tool.injections):
        return "it wants the store, which stays with the server; take another executor"
    return None


def find_unfit(tools: Iterable[CompiledTool], finder: Finder) -> Iterator[tuple[CompiledTool, str]]:
    """Yield each tool that wants to run in a process and cannot, with the reason."""
    for tool in tools:
        reason = find_obstacle(tool) or finder.explain_loss(home_of(tool)) if tool.executor == "process" else None
        if reason is not None:
            yield tool, reason


def refuse_unfit(tools: Iterable[CompiledTool], finder: Finder) -> None:
    """Refuse tools that want to run in a process and cannot.

    Raises:
        InvalidToolOption: The message says which, and why.
    """
    for tool, reason in find_unfit(tools, finder):
        refuse(tool, reason)


def refuse(tool: CompiledTool, reason: str | None) -> None:
    """Refuse a tool for a reason, if there is one.

    Raises:
        InvalidToolOption: There is.
    """
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r} cannot have executor='process': {reason}.")
