"""Shared parts of tools adopted from other libraries."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from types import ModuleType
from typing import Any, Self

from pydantic import BaseModel, PrivateAttr

from sidecall.authoring.options import takes
from sidecall.authoring.structured_tool import StructuredTool
from sidecall.compat.foreign.frameworks.reader import Reader
from sidecall.compat.foreign.readers import find_obstacle, find_reader
from sidecall.compat.foreign.unsupported_libraries import explain_elsewhere
from sidecall.compiler.injection_plan import is_instance_of
from sidecall.compiler.signature import find_source
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool, Parameter
from sidecall.lazy_imports import Later

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


# Under this name the call's ToolContext reaches the function that stands for the other library's tool.
CONTEXT = "_sidecall_context"


class ForeignTool(StructuredTool):
    """A tool of another library, which runs its calls itself."""

    _made_from: Any = PrivateAttr(default=None)
    _stands_for: Any = PrivateAttr(default=None)
    _accepts: ArgsSchema | dict[str, Any] | None = PrivateAttr(default=None)
    _unmet: tuple[str, ...] = PrivateAttr(default=())

    @cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool."""
        return replace(super().compiled, unmet=self._unmet)

    @classmethod
    def wrap(
        cls, made_from: Any, call: Callable[..., Any], accepts: ArgsSchema | dict[str, Any], **options: Any
    ) -> Self:
        """Make a tool from a function that passes calls on.

        Args:
            made_from: What the author wrote; errors name its file.
            call: A coroutine function of keywords alone.
            accepts: How its arguments are said and checked.
            options: The other fields of BaseTool.
        """
        vars(call)["func"] = made_from  # Whether it asks a person is seen in what the author wrote.
        made = cls(func=made_from if callable(made_from) else None, coroutine=call, **options)
        made._made_from = made_from
        made._accepts = accepts
        return made

    @property
    def stands_for(self) -> Any:
        """The other library's tool that this one replaces; None if it has another name."""
        return self._stands_for

    def stand_for(self, theirs: Any) -> None:
        """Mark the tool as the replacement of this one, if they have the same name."""
        self._stands_for = theirs if getattr(theirs, "name", None) == self.name else None

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        return self

    def _get_function(self) -> Callable[..., Any]:
        if self.func is None:
            raise InvalidToolOption(f"tool {self.name!r} is no function; call it with invoke or ainvoke.")
        return self.func

    def _get_origin(self) -> object:
        return self._made_from

    def _get_docstring(self) -> str | None:
        return None  # It has been read already, by a library whose parameters are not those of the function here.

    def _get_args_schema(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        return vars(self).get("args_schema") or self._accepts


def make_signature(hidden: Iterable[Parameter] = (), context_type: Any = ToolContext) -> inspect.Signature:
    """Make the signature of a function with any arguments, hidden ones, and the call's context."""
    kind = inspect.Parameter.KEYWORD_ONLY
    shown = [inspect.Parameter(p.name, kind, default=p.default, annotation=p.annotation) for p in hidden]
    context = inspect.Parameter(CONTEXT, kind, annotation=context_type)
    rest = inspect.Parameter("arguments", inspect.Parameter.VAR_KEYWORD, annotation=Any)
    return inspect.Signature([*shown, context, rest])


def set_signature(
    call: Callable[..., Any], hidden: Iterable[Parameter] = (), context_type: Any = ToolContext
) -> Callable[..., Any]:
    """Set the visible signature of a function with keyword arguments."""
    vars(call)["__signature__"] = make_signature(hidden, context_type)
    return call
