"""Tools made from functions."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self
from weakref import WeakValueDictionary

from pydantic import BaseModel, PrivateAttr

from sidecall.authoring.methods import bound, is_written_in, plain, unbound_from
from sidecall.authoring.tool import BaseTool
from sidecall.core.errors import DefinitionError, InvalidToolOption
from sidecall.core.tool import ArgsSchema, CompiledTool
from sidecall.schema.models import ModelType
from sidecall.schema.signature import innermost, source_of
from sidecall.schema.single_input import SingleInput


class StructuredTool(BaseTool):
    """Offer a function with any number of arguments.

    When both are given, `coroutine` serves, and `func` gives name and description and is what a plain call calls.
    Written in the body of a class it is a method: through an instance it is the tool of that instance.
    """

    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Any] | None = None

    _is_method: bool = PrivateAttr(default=False)
    _kind: str = PrivateAttr(default="function")
    # By the id of what they are bound to, which they keep alive; who holds none of them is not kept alive by us.
    _bound: WeakValueDictionary[int, Self] = PrivateAttr(default_factory=WeakValueDictionary)

    @classmethod
    def from_function(
        cls,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Any] | None = None,
        name: str | None = None,
        description: str | None = None,
        args_schema: ModelType | dict[str, Any] | None = None,
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
        made = cls(name=name, func=plain(func), coroutine=plain(coroutine), args_schema=args_schema, **options)
        made._kind = type(target).__name__
        return made

    def __set_name__(self, owner: type, name: str) -> None:
        self._is_method = self._is_method or is_written_in(self.func or self.coroutine, owner)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        holder = owner if self._kind == "classmethod" else instance
        is_free = holder is None or self._kind == "staticmethod" or not self._is_method
        return self if is_free else self._bound_to(holder)

    def _bound_to(self, holder: object) -> Self:
        known = self._bound.get(id(holder))
        if known is None:
            functions = {"func": bound(self.func, holder), "coroutine": bound(self.coroutine, holder)}
            known = self.model_copy(update=functions)
            known._is_method = False
            known._bound = WeakValueDictionary()
            known = self._bound.setdefault(id(holder), known)
        return known

    @functools.cached_property
    def compiled(self) -> CompiledTool:
        """The tool made ready to run.

        Raises:
            DefinitionError: The tool cannot be offered; a method has to be reached through an instance.
        """
        function = self.func or self.coroutine
        owner = unbound_from(function, is_method=self._is_method and self._kind != "staticmethod")
        if owner is not None:
            where = f"{source_of(function)}: tool {self.name!r} is a method of {owner} and has no instance"
            mend = f"Make one and offer its method, {owner}(...).{_name_of(function)}"
            raise DefinitionError(f"{where}. {mend}; for a class method, write @tool above @classmethod.")
        return super().compiled

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
        return _docstring_of(self.func or self._target())


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

    def _arguments(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        return SingleInput(self.name)


def _single_input(function: Callable[[str], Any]) -> Callable[..., Any]:
    def run(tool_input: str) -> Any:
        return function(tool_input)

    async def arun(tool_input: str) -> Any:
        return await function(tool_input)

    return arun if inspect.iscoroutinefunction(function) else run


def _docstring_of(function: Callable[..., Any]) -> str | None:
    """Find what is said of a callable: of an object that is called, its `__call__` says it, else its class."""
    if isinstance(function, functools.partial) and "__doc__" not in vars(function):
        function = innermost(function)
    call = type(function).__call__
    own = call.__doc__ if inspect.isfunction(call) else None
    return own or function.__doc__


def _name_of(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if name is None:
        raise InvalidToolOption(f"{source_of(function)}: this callable has no name of its own; give one: name='...'.")
    return str(name)
