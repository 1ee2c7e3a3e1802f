"""Recognize tools of other libraries by their shape, and adopt them."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sidecall.compat.foreign.elsewhere import explain_elsewhere
from sidecall.compat.foreign.frameworks.reader import Reader
from sidecall.compat.foreign.readers import find_obstacle, find_reader
from sidecall.compat.foreign.tool import ForeignTool
from sidecall.kernel.authoring.structured import StructuredTool
from sidecall.kernel.authoring.switches import takes
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from sidecall.kernel.schema.foreign import is_instance_of
from sidecall.kernel.schema.signature import find_source
from sidecall.later import Later

_agents, _langchain, _runnables, _make = (
    Later(f"sidecall.compat.foreign.{library}") for library in ("agents", "langchain", "runnables", "frameworks.make")
)

_Adopt = Callable[[Any, str | None, Mapping[str, Any]], StructuredTool]
_Known = tuple[tuple[str, ...], Callable[[], _Adopt]]

# The attributes that tell each kind of tool, the first that fits, and what takes it over.
_TOOLS: tuple[_Known, ...] = (
    (
        ("name", "description", "args_schema", "tool_call_schema", "ainvoke", "response_format"),
        lambda: _langchain.adopt_langchain,
    ),
    (("name", "description", "params_json_schema", "on_invoke_tool"), lambda: _agents.adopt_function_tool),
)
_RUNNABLES: tuple[_Known, ...] = (
    (("ainvoke", "get_input_jsonschema"), lambda: _runnables.adopt_runnable),
    (("ainvoke", "input_schema"), lambda: _runnables.adopt_runnable),
)


def is_foreign_tool(thing: object) -> bool:
    """Return whether this is a tool of another library that is taken over."""
    if any(_has(thing, names) for names, _ in _TOOLS):
        return True
    known = find_reader(thing)
    return known is not None and not known.is_group and find_obstacle(thing, known) is None


def is_foreign_toolkit(thing: Any) -> bool:
    """Return whether this is a group of tools of another library that may be asked for them.

    The method `get_tools` is not called on other objects, where its effect is unknown.
    """
    known = find_reader(thing)
    if known is not None:
        return known.is_group
    if not is_instance_of(thing, "langchain_core", "BaseToolkit"):
        return False
    get_tools = thing.get_tools
    return callable(get_tools) and not inspect.iscoroutinefunction(get_tools) and takes(get_tools, 0)


def find_lister(thing: Any) -> Callable[[], Iterable[Any]] | None:
    """Return what lists the tools of a group of a framework; None for anything else."""
    known = find_reader(thing)
    return None if known is None or not known.is_group else lambda: known.reader.list_tools(thing)


def adopt(thing: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool | None:
    """Make a tool from another library's tool or a runnable; None for anything else.

    Args:
        thing: What may be one.
        name: The tool's name, its own when None.
        options: The fields of BaseTool, where they are to differ from what it says itself.

    Raises:
        DefinitionError: It cannot be offered.
    """
    find = _find_adopt(thing)
    if find is None:
        return None
    try:
        made = find()(thing, name, options)
        if isinstance(made, ForeignTool):
            made.stand_for(thing)
        return made
    except DefinitionError:
        raise
    except Exception as error:
        where = f"{find_source(thing)}: tool {name or getattr(thing, 'name', None)!r}"
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise DefinitionError(f"{where} cannot be taken over: {reason}") from error


def _find_adopt(thing: Any) -> Callable[[], _Adopt] | None:
    known = find_reader(thing)
    if known is not None:
        return None if known.is_group else lambda: partial(_adopt_framework, known.reader)
    return next((find for names, find in (*_TOOLS, *_RUNNABLES) if _has(thing, names)), None)


def _adopt_framework(reader: Reader, thing: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool:
    if reader.find_obstacle(thing) is not None:
        raise InvalidToolOption(f"{find_source(thing)}: {explain_elsewhere(thing, 'it')}.")
    made: StructuredTool = _make.make_tool(reader.describe(thing), name, options)
    return made


def _has(thing: object, names: tuple[str, ...]) -> bool:
    # Looked at, not asked for: a proxy answers to every name, and a property may open something.
    return not inspect.isclass(thing) and all(inspect.getattr_static(thing, name, _NONE) is not _NONE for name in names)


_NONE = object()
