"""Check the function that describes what a call would do."""

import inspect
from collections.abc import Callable
from typing import Any

from sidecall.kernel.core.callbacks import Hook, read_hook
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.tool import CompiledTool

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
