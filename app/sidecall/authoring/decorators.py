"""The decorator that makes a function a tool."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Protocol, overload

from sidecall.authoring.base_tool import BaseTool, refuse_tool
from sidecall.authoring.spellings import rename_options
from sidecall.authoring.structured_tool import FOREIGN, StructuredTool, Tool
from sidecall.kernel.core.errors import InvalidToolOption

Function = Callable[..., Any]


class AdoptableTool(Protocol):
    """A tool of another framework."""

    name: str
    description: str


@overload
def tool(
    name_or_function: "Function | classmethod[Any, ..., Any] | AdoptableTool", /, **options: Any
) -> StructuredTool: ...
@overload
def tool(name_or_function: str | None = None, /, **options: Any) -> Callable[[Any], StructuredTool]: ...
@overload
def tool(name_or_function: str, runnable: Any, /, **options: Any) -> StructuredTool: ...
def tool(
    name_or_function: Any = None, runnable: Any = None, /, **options: Any
) -> StructuredTool | Callable[[Any], StructuredTool]:
    """Offer a function as a tool: `@tool`, `@tool("name")` or `@tool(option=...)`.

    The schema comes from the signature, the descriptions from the docstring. The function can still be called. A tool
    of another framework may take the function's place, and, under a name, a LangChain runnable.

    Args:
        name_or_function: The tool's name; the function's own when left out.
        runnable: What to offer under this name, where `tool` is called rather than put over a function.
        options: The fields of BaseTool, `description`, `args_schema`, `response_format`, `timeout` and so on, under
            their names in the OpenAI Agents SDK too; `infer_schema=False` makes a Tool, which takes one text.

    Raises:
        InvalidToolOption: An option does not exist or has a value it does not take.
        DefinitionError: A tool of another library cannot be offered.
    """
    options = rename_options(options)
    is_named = isinstance(name_or_function, str)
    if {"func", "coroutine"} & options.keys() or (is_named and "name" in options):
        raise InvalidToolOption("@tool takes one name and decorates one function; leave out what is said twice.")
    if runnable is not None and not is_named:
        raise InvalidToolOption("the name comes first: tool('name', runnable).")
    name = name_or_function if is_named else options.pop("name", None)
    if is_named or name_or_function is None:
        return _make_decorator(name, options) if runnable is None else _offer(runnable, name, options)
    return _offer(name_or_function, name, options, "@tool takes a name or a function first")


def _make_decorator(name: str | None, options: Mapping[str, Any]) -> Callable[[Any], StructuredTool]:
    def decorate(function: Any) -> StructuredTool:
        return _offer(function, name, options)

    return decorate


def _offer(
    thing: Any, name: str | None, options: Mapping[str, Any], wanted: str = "@tool decorates a function"
) -> StructuredTool:
    if isinstance(thing, BaseTool):
        raise refuse_tool(thing)
    options = dict(options)
    kind = StructuredTool if options.pop("infer_schema", True) or "args_schema" in options else Tool
    foreign: StructuredTool | None = FOREIGN.adopt(thing, name, options)
    if foreign is not None:
        return foreign
    if not callable(thing) and not isinstance(thing, classmethod):
        FOREIGN.refuse_elsewhere(thing)
        raise InvalidToolOption(f"{wanted}, not {type(thing).__name__}.")
    if options.get("parse_docstring"):
        options.setdefault("error_on_invalid_docstring", True)  # As LangChain's decorator has it.
    function = {"coroutine" if inspect.iscoroutinefunction(thing) else "func": thing}
    return kind.from_function(**function, name=name, **options)
