"""Tell the tools of other libraries, and make tools of them by what their library needs."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from sidecall.authoring.options import takes
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.compat.foreign.frameworks.reader import Reader
from sidecall.compat.foreign.readers import find_obstacle, find_reader
from sidecall.compat.foreign.tool import ForeignTool
from sidecall.compat.foreign.unsupported_libraries import explain_elsewhere
from sidecall.compat.foreign.unsupported_libraries import refuse_elsewhere as refuse_elsewhere  # For `FOREIGN`.
from sidecall.compiler.injection_plan import is_instance_of
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from sidecall.lazy_imports import load_function

_Adopt = Callable[[Any, str | None, Mapping[str, Any]], StructuredTool]
# The attributes that tell each kind of tool, the first that fits, and what takes it over, which its library needs.
_TOOLS = (
    (
        ("name", "description", "args_schema", "tool_call_schema", "ainvoke", "response_format"),
        "sidecall.compat.foreign.langchain:adopt_langchain",
    ),
    (
        ("name", "description", "params_json_schema", "on_invoke_tool"),
        "sidecall.compat.foreign.agents:adopt_function_tool",
    ),
)
_RUNNABLES = (
    (("ainvoke", "get_input_jsonschema"), "sidecall.compat.foreign.runnables:adopt_runnable"),
    (("ainvoke", "input_schema"), "sidecall.compat.foreign.runnables:adopt_runnable"),
)
_MAKE = "sidecall.compat.foreign.frameworks.make:make_tool"


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


def is_module_tool(module: ModuleType) -> bool:
    """Return whether a module is a tool itself, as those of Strands are."""
    known = find_reader(module)
    return known is not None and known.is_module


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
    take_over = _find_adopt(thing)
    if take_over is None:
        return None
    try:
        made = take_over(thing, name, options)
        if isinstance(made, ForeignTool):
            made.stand_for(thing)
        return made
    except DefinitionError:
        raise
    except Exception as error:
        where = f"{find_source(thing)}: tool {name or getattr(thing, 'name', None)!r}"
        reason = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise DefinitionError(f"{where} cannot be taken over: {reason}") from error


def _find_adopt(thing: Any) -> _Adopt | None:
    known = find_reader(thing)
    if known is not None:
        return None if known.is_group else partial(_adopt_framework, known.reader)
    place = next((place for names, place in (*_TOOLS, *_RUNNABLES) if _has(thing, names)), None)
    return None if place is None else partial(_adopt_by, place)


def _adopt_by(place: str, thing: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool:
    made: StructuredTool = load_function(place)(thing, name, options)
    return made


def _adopt_framework(reader: Reader, thing: Any, name: str | None, options: Mapping[str, Any]) -> StructuredTool:
    if reader.find_obstacle(thing) is not None:
        raise InvalidToolOption(f"{find_source(thing)}: {explain_elsewhere(thing, 'it')}.")
    made: StructuredTool = load_function(_MAKE)(reader.describe(thing), name, options)
    return made


def _has(thing: object, names: tuple[str, ...]) -> bool:
    # Looked at, not asked for: a proxy answers to every name, and a property may open something.
    return not inspect.isclass(thing) and all(inspect.getattr_static(thing, name, _NONE) is not _NONE for name in names)


_NONE = object()
