"""The location of a tool's function, and reasons why a tool cannot run in a process."""

import os
import socket
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from sidecall.compiler.signature import unwrap
from sidecall.features.processes.finder import Finder, Home
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.options import IN_PROCESSES
from sidecall.kernel.core.tool import CompiledTool


def home_of(tool: CompiledTool) -> Home:
    """Return the location where a process finds the tool: its name and its function's module."""
    function = find_function(tool)
    module = getattr(function, "__module__", None) or type(function).__module__
    if module.partition(".")[0] != __name__.partition(".")[0]:
        return {"name": tool.name, "module": module, "file": getattr(sys.modules.get(module), "__file__", None)}
    # A function of ours only stands for what its author wrote somewhere else.
    path = tool.source.rpartition(":")[0]
    file = str(Path(path).resolve()) if path.endswith(".py") else None
    return {"name": tool.name, "module": _module_of(file) or module, "file": file}


def find_function(tool: CompiledTool) -> Any:
    """Return the function that a tool's author has written."""
    function = unwrap(tool.function)
    return getattr(function, "__func__", function)


def _module_of(file: str | None) -> str | None:
    """Return the module name of a loaded file."""
    modules = [module for module in [*sys.modules.values()] if isinstance(module, ModuleType)]
    return next((module.__name__ for module in modules if file and vars(module).get("__file__") == file), None)


def is_replaced(tool: CompiledTool) -> bool:
    """Return whether the module of a tool's function was reloaded or removed."""
    function = find_function(tool)
    names = getattr(function, "__globals__", None)
    if names is None or "__name__" not in names:
        return False
    module = sys.modules.get(names["__name__"])
    return module is None or vars(module) is not names


def find_obstacle(tool: CompiledTool) -> str | None:
    """Return why a tool cannot run in a process; None if there is no known reason."""
    if not _can_fork():
        return "this system cannot fork"
    if home_of(tool)["module"] == "__main__":
        return "it stands in the program itself, which a process cannot load again; move it to a module"
    return None


def _can_fork() -> bool:
    """Return whether this system supports forking as needed."""
    return hasattr(os, "fork") and hasattr(socket, "send_fds")


def find_unfit(tools: Iterable[CompiledTool], finder: Finder) -> Iterator[tuple[CompiledTool, str]]:
    """Yield each tool that is set to run in a process and cannot, with the reason."""
    for tool in tools:
        is_function = tool.executor in IN_PROCESSES and tool.options.command is None
        reason = find_obstacle(tool) or finder.explain_loss(home_of(tool)) if is_function else None
        if reason is not None:
            yield tool, reason


def refuse_unfit(tools: Iterable[CompiledTool], finder: Finder) -> None:
    """Refuse tools that are set to run in a process and cannot.

    Raises:
        InvalidToolOption: The message says which, and why.
    """
    for tool, reason in find_unfit(tools, finder):
        refuse(tool, reason)


def refuse(tool: CompiledTool, reason: str | None) -> None:
    """Refuse a tool for this reason; None does nothing.

    Raises:
        InvalidToolOption: There is.
    """
    if reason is not None:
        raise InvalidToolOption(f"{tool.source}: tool {tool.name!r} cannot have executor={tool.executor!r}: {reason}.")
