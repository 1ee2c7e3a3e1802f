"""Read functions and plugins of Semantic Kernel, and the methods that it has marked."""

from collections.abc import Iterable
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

from sidecall.compat.foreign.frameworks.make import FrameworkTool, make_tool
from sidecall.compat.foreign.frameworks.reader import Reader, Source, is_blocking, read_value
from sidecall.kernel.core.context import ToolContext

# What `@kernel_function` leaves on a function.
MARK = "__kernel_function__"
# What it fills in by name, though it lists them to models.
_FILLED = frozenset(("kernel", "service", "execution_settings", "arguments"))


def describe(it: Any, kernel: Any = None) -> Source:
    """Describe a function, or a function or method with `@kernel_function`; it is invoked by a kernel of its own."""
    functions = import_module("semantic_kernel.functions")
    known = functions.KernelFunctionFromMethod(method=it) if isinstance(it, FunctionType | MethodType) else it
    said = known.metadata
    method = getattr(known, "method", None)
    own = kernel or import_module("semantic_kernel").Kernel()

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        del context
        answer = await known.invoke(own, functions.KernelArguments(**args))
        return read_value(None if answer is None else answer.value)

    shown = [it for it in said.parameters if it.include_in_function_choices and it.name not in _FILLED]
    return Source(
        name=said.fully_qualified_name,
        description=said.description or "",
        schema={
            "type": "object",
            "properties": {it.name: it.schema_data or {} for it in shown},
            "required": [it.name for it in shown if it.is_required],
        },
        run=run,
        written=known if method is None else method,
        is_blocking=method is not None and is_blocking(method),
    )


def list_tools(it: Any) -> Iterable[Any]:
    """List the functions of a plugin, of a kernel, or of an object with marked methods."""
    if isinstance(getattr(it, "plugins", None), dict):
        return [_make(one, it) for plugin in it.plugins.values() for one in plugin.functions.values()]
    if isinstance(getattr(it, "functions", None), dict):
        return list(it.functions.values())
    return [_make(getattr(it, name)) for name in list_marked(type(it))]


def _make(function: Any, kernel: Any = None) -> FrameworkTool:
    return make_tool(describe(function, kernel), None, {})


def list_marked(kind: type) -> list[str]:
    """List the methods of a class that `@kernel_function` has marked, in order."""
    found = [name for base in reversed(kind.__mro__) for name, value in vars(base).items() if is_marked(value)]
    return list(dict.fromkeys(found))


def is_marked(thing: Any) -> bool:
    """Return whether this is a function with `@kernel_function`."""
    return isinstance(thing, FunctionType) and MARK in vars(thing)


def find_obstacle(it: Any) -> str | None:
    """Return why a function cannot be taken: it is a prompt."""
    is_prompt = not isinstance(it, FunctionType | MethodType) and it.metadata.is_prompt
    return "it is a prompt for a model, which is the program's part" if is_prompt else None


READER = Reader(describe, list_tools, find_obstacle)
