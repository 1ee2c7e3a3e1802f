"""Tools made from functions."""

import inspect
from collections.abc import Callable
from typing import Any, Self

from pydantic import BaseModel

from app.authoring.tool import BaseTool
from app.core.errors import InvalidToolOption
from app.core.single_input import SingleInput
from app.core.tool import source_of


class StructuredTool(BaseTool):
    """Offer a function with any number of arguments.

    When both are given, `coroutine` serves, and `func` gives name and description and is what a plain call calls.
    """

    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Any] | None = None

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Any] | None = None,
        name: str | None = None,
        description: str | None = None,
        args_schema: type[BaseModel] | dict[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Make a tool of a function.

        Args:
            func: A sync function, or an async one.
            coroutine: An async function to prefer.
            name: Its own name when None.
            description: Its docstring's text when None.
            args_schema: A pydantic model or JSON Schema of the arguments; made from the signature when None.
            options: The other fields of BaseTool.

        Raises:
            InvalidToolOption: There is no function, or an option is wrong.
        """
        target = func or coroutine
        if target is None:
            raise InvalidToolOption("Function and/or coroutine must be provided")
        if description is not None:
            options["description"] = description
        name = name or _name_of(target)
        return cls(name=name, func=func, coroutine=coroutine, args_schema=args_schema, **options)

    def _function(self) -> Callable[..., Any]:
        return self.func or self._target()

    def _target(self) -> Callable[..., Any]:
        target = self.coroutine or self.func
        if target is None:
            raise InvalidToolOption(f"Tool {self.name!r} has to be given a function: func=... or coroutine=...")
        return target

    def _origin(self) -> object:
        return self._target()

    def _documentation(self) -> str | None:
        return (self.func or self._target()).__doc__


class Tool(StructuredTool):
    """Offer a function of one text: LangChain's single-input tool.

    The model sees one string argument, `__arg1`; what it sends may have any name.
    """

    def __init__(
        self, name: str, func: Callable[[str], Any] | None = None, description: str = "", **options: Any
    ) -> None:
        super().__init__(name=name, func=func, **({"description": description} if description else {}), **options)

    def _function(self) -> Callable[..., Any]:
        return self.func or super()._target()

    def _target(self) -> Callable[..., Any]:
        return _single_input(super()._target())

    def _origin(self) -> object:
        return super()._target()

    def _arguments(self) -> type[BaseModel] | dict[str, Any] | SingleInput | None:
        return SingleInput(self.name)


def _single_input(function: Callable[[str], Any]) -> Callable[..., Any]:
    def run(tool_input: str) -> Any:
        return function(tool_input)

    async def arun(tool_input: str) -> Any:
        return await function(tool_input)

    return arun if inspect.iscoroutinefunction(function) else run


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", None)
    if name is None:
        raise InvalidToolOption(f"{source_of(function)}: this callable has no name of its own; give one: name='...'.")
    return str(name)
