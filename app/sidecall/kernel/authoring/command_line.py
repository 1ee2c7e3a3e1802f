"""Prepare tools that are a command line."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sidecall.kernel.core.callbacks import Hook, read_hook
from sidecall.kernel.core.command_line import CommandLine
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import CompiledTool


def fit_command(tool: CompiledTool) -> CompiledTool:
    """Return a command-line tool with its parameters inferred and its scripts read.

    A function that runs in a sandbox has no command and gets no workspace.

    Raises:
        InvalidToolOption: It names what there is not.
    """
    command = tool.options.command
    if command is None:
        return _refuse_workspace(tool)
    where = f"{tool.source}: tool {tool.name!r}: option `command`"
    known = [parameter.name for parameter in tool.parameters]
    unknown = sorted(command.names.difference(known))
    if unknown:
        raise InvalidToolOption(
            f"{where}: the tool has no parameter `{unknown[0]}`; it has: {', '.join(known) or 'none'}. "
            "Write {{ and }} for braces that stand for themselves."
        )
    misplaced = command.find_misplaced(known)
    if misplaced is not None:
        raise InvalidToolOption(f"{where}: {misplaced} Write {{{{ and }}}} for braces that stand for themselves.")
    folder = Path(tool.source.rpartition(":")[0]).parent
    try:
        scripts = {word: (folder / word).read_bytes() for word in command.words if word.startswith("./")}
    except OSError as error:
        raise InvalidToolOption(f"{where}: {error.filename} cannot be read: {error.strerror}.") from None
    return replace(tool, options=replace(tool.options, command=CommandLine(command.words, scripts)))


def _refuse_workspace(tool: CompiledTool) -> CompiledTool:
    asked = [it.parameter for it in tool.injections if it.source == "workspace"]
    if asked and tool.executor == "sandbox":
        raise InvalidToolOption(
            f"{tool.source}: tool {tool.name!r}: `{asked[0]}`: a function with executor='sandbox' gets no Workspace; "
            "write a command, or a function that takes a CommandSandbox as well and runs elsewhere."
        )
    return tool


_UNNAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def fit_preview(given: Callable[..., Any], tool: CompiledTool) -> Hook:
    """Compile a preview function, which takes those of the tool's arguments that it names.

    Raises:
        InvalidToolOption: It names what the tool does not have.
    """
    where = f"{tool.source}: tool {tool.name!r}: option `preview`"
    try:
        parameters = inspect.signature(given).parameters.values()
    except ValueError:
        raise InvalidToolOption(f"{where}: this function does not say what it takes; write one around it.") from None
    known = _list_arguments(tool)
    for parameter in parameters:
        if parameter.kind in _UNNAMED:
            raise InvalidToolOption(f"{where}: `{parameter.name}` cannot be given by its name, as arguments are.")
        is_free = parameter.kind is inspect.Parameter.VAR_KEYWORD or parameter.default is not inspect.Parameter.empty
        if parameter.name not in known and not is_free:
            raise InvalidToolOption(
                f"{where}: the tool has no argument `{parameter.name}`. A preview takes those of the tool's arguments "
                f"that it needs, by their names: {', '.join(known) or 'there are none'}."
            )
    return read_hook(given)


def _list_arguments(tool: CompiledTool) -> list[str]:
    """List the parameter names of the tool's function."""
    own = [it.name for it in tool.parameters if it.kind is not inspect.Parameter.VAR_KEYWORD]
    is_open = any(it.kind is inspect.Parameter.VAR_KEYWORD for it in tool.parameters)
    return list(dict.fromkeys([*own, *(tool.args_schema.flat.get("properties", {}) if is_open else ())]))
