"""The decorator that makes a function a tool."""

from collections.abc import Callable
from typing import Any, overload

from app.authoring.structured import StructuredTool, Tool
from app.core.errors import InvalidToolOption

Function = Callable[..., Any]


@overload
def tool(name_or_function: Function, /) -> StructuredTool: ...
@overload
def tool(name_or_function: str | None = None, /, **options: Any) -> Callable[[Function], StructuredTool]: ...
def tool(
    name_or_function: str | Function | None = None, /, **options: Any
) -> StructuredTool | Callable[[Function], StructuredTool]:
    """Offer a function as a tool: `@tool`, `@tool("name")` or `@tool(option=...)`.

    The schema comes from the signature, the descriptions from the docstring. The function can still be called.

    Args:
        name_or_function: The tool's name; the function's own when left out.
        options: The fields of BaseTool, `description`, `args_schema`, `response_format`, `timeout` and so on;
            `infer_schema=False` makes a Tool, which takes one text.

    Raises:
        InvalidToolOption: An option does not exist or has a value it does not take.
    """
    twice = {"func", "coroutine"} & options.keys() or (isinstance(name_or_function, str) and "name" in options)
    if twice:
        raise InvalidToolOption("@tool takes one name and decorates one function; leave out what is said twice.")
    if callable(name_or_function):
        return tool(**options)(name_or_function)
    if name_or_function is not None and not isinstance(name_or_function, str):
        raise InvalidToolOption(f"@tool takes a name or a function first, not {type(name_or_function).__name__}.")
    name = name_or_function or options.pop("name", None)

    kind = StructuredTool if options.pop("infer_schema", True) or "args_schema" in options else Tool

    def decorate(function: Function) -> StructuredTool:
        if not callable(function):
            raise InvalidToolOption(f"@tool decorates a function, not {type(function).__name__}.")
        return kind.from_function(function, name=name, **options)

    return decorate
