"""Which tools add to what their calls cost: by their code, or since one of their calls has done so."""

import functools
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from sidecall.kernel.core.tool import CompiledTool

_ADD = "add_cost"
# Parts of one tool that are looked at. One that has more counts as one that adds.
_MOST = 1000


class AddingTools:
    """Know the tools without a `cost` whose calls need a budget; others are free until a call of theirs adds something.

    Their code is looked at once. What it calls in other modules is not: there the first call that adds tells.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[CompiledTool, bool]] = {}

    def adds(self, tool: CompiledTool) -> bool:
        """Return whether a call of this tool may add to its cost."""
        known, adds = self._known.get(tool.name, (None, False))
        if known is not tool:
            adds = _mentions(tool)
            self._known[tool.name] = tool, adds
        return adds

    def note(self, tool: CompiledTool) -> None:
        """Note that a call has added something; in any thread."""
        self._known[tool.name] = tool, True


def _mentions(tool: CompiledTool) -> bool:
    guardrails: tuple[Any, ...] = (*tool.options.tool_input_guardrails, *tool.options.tool_output_guardrails)
    left: list[Any] = [tool.function, *(guardrail.guardrail_function for guardrail in guardrails)]
    seen: set[int] = set()
    while left:
        found = left.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if len(seen) > _MOST:
            return True
        if not isinstance(found, FunctionType):
            left += _list_parts(found)
        elif _ADD in (names := set(_list_names(found.__code__))):
            return True
        else:
            left += _list_callees(found, names)
    return False


def _list_parts(found: Any) -> list[Any]:
    """List what an object that is no function runs when it is called, as far as its own module says it."""
    if isinstance(found, functools.partial):
        return [found.func, *found.args, *found.keywords.values()]
    if isinstance(found, MethodType):
        return [found.__func__, type(found.__self__)]
    if isinstance(found, type):
        return [inspect.unwrap(value) for value in vars(found).values() if isinstance(value, FunctionType)]
    return []


def _list_names(code: CodeType) -> Iterator[str]:
    """List the names and texts in a function, and in those that it makes."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_names(constant)
        elif isinstance(constant, str):
            yield constant


def _list_callees(function: FunctionType, names: set[str]) -> list[Any]:
    """List what a function may call: in its own module, in the functions around it, and what it wraps."""
    module = function.__module__
    found = [value for name in names if (value := function.__globals__.get(name)) is not None]
    callees = [value for value in found if getattr(value, "__module__", None) == module]
    cells = (cell.cell_contents for cell in function.__closure__ or () if _is_full(cell))
    callees += [value if callable(value) else type(value) for value in cells if not isinstance(value, ModuleType)]
    wrapped = getattr(function, "__wrapped__", None)
    return callees if wrapped is None else [*callees, wrapped]


def _is_full(cell: Any) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True
