"""Tools made from functions."""

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, Self, cast
from weakref import WeakValueDictionary

from pydantic import BaseModel, PrivateAttr

from sidecall.authoring.base_tool import BaseTool
from sidecall.authoring.overrides import (
    bind,
    find_missing_owner,
    find_override,
    is_written_in,
    keep_wanted,
    stand_around,
    unwrap_method,
)
from sidecall.compiler.argument_models import ModelType
from sidecall.compiler.author_mistakes import find_class_fault
from sidecall.compiler.injection_plan import plan_injections
from sidecall.compiler.signature import SingleInputArgsSchema, find_source, read_signature, refuse_many, unwrap
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption, ToolException
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool, Parameter
from sidecall.lazy_imports import Provided


class ForeignTools(Protocol):
    """Knows the tools of other libraries."""

    def adopt(self, thing: Any, name: str | None, options: Mapping[str, Any]) -> Any:
        """Make a tool from another library's tool or a runnable; None for anything else.

        Raises:
            DefinitionError: It cannot be offered.
        """

    def refuse_elsewhere(self, thing: Any, *, is_described: bool = False) -> None:
        """Refuse a tool of another library that is about to be made a tool here.

        Raises:
            InvalidToolOption: It is one, and that cannot be right.
        """


class _KnowsNone:
    def adopt(self, _thing: Any, _name: str | None, _options: Mapping[str, Any]) -> None:
        return None

    def refuse_elsewhere(self, _thing: Any, *, is_described: bool = False) -> None:
        del is_described


FOREIGN = cast("ForeignTools", Provided("foreign", _KnowsNone()))


class StructuredTool(BaseTool):
    """Offer a function with any number of arguments.

    When both are given, `coroutine` serves calls; `func` gives name and description and is what a plain call calls. In
    the body of a class it is a method: accessed through an instance, it is that instance's tool.
    """

    func: Callable[..., Any] | None = None
    coroutine: Callable[..., Any] | None = None

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (
        ("langchain_core.tools.structured", "StructuredTool"),
        *BaseTool._virtual_bases,
    )
    _arguments: ClassVar[tuple[str, ...]] = ("func", "coroutine")
    # Whether the arguments are those of the function, where nothing else says them.
    _reads_signature: ClassVar[bool] = True
    _is_method: bool = PrivateAttr(default=False)
    _kind: str = PrivateAttr(default="function")
    # By the id of what they are bound to, which they keep alive; who holds none of them is not kept alive by us.
    _bound: WeakValueDictionary[int, Self] = PrivateAttr(default_factory=WeakValueDictionary)

    @classmethod
    def from_function(  # noqa: PLR0913  LangChain's arguments
        cls,
        func: Callable[..., Any] | None = None,
        coroutine: Callable[..., Any] | None = None,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        args_schema: ModelType | dict[str, Any] | None = None,
        infer_schema: bool = True,
        **options: Any,
    ) -> Self:
        """Make a tool from a function; the order of arguments is LangChain's.

        Args:
            func: A sync function, or an async one.
            coroutine: An async function to prefer.
            name: Its own name when None.
            description: Its docstring's text when None.
            return_direct: Whether the caller may end its loop with the answer.
            args_schema: A pydantic model or JSON Schema of the arguments; made from the signature when None.
            infer_schema: Whether it is; there is no other way to know the arguments.
            options: The other fields of BaseTool.

        Raises:
            InvalidToolOption: There is no function, it is a tool of another library, or an option is wrong.
        """
        target = func or coroutine
        if target is None:
            raise InvalidToolOption("Function and/or coroutine must be provided")
        FOREIGN.refuse_elsewhere(target, is_described=args_schema is not None or not cls._reads_signature)
        if not infer_schema and args_schema is None:
            raise InvalidToolOption(f"{find_source(target)}: infer_schema=False needs an args_schema; or use Tool.")
        if description is not None:
            options["description"] = description
        name = name or _find_name(target)
        functions = {"func": unwrap_method(func), "coroutine": unwrap_method(coroutine)}
        made = cls(name=name, **functions, return_direct=return_direct, args_schema=args_schema, **options)
        made._kind = type(target).__name__
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        place = _find_place(self, self.func or self.coroutine)
        return super().__reduce_ex__(protocol) if place is None else (find_again, place)

    def __set_name__(self, owner: type, name: str) -> None:
        self._is_method = self._is_method or is_written_in(self.func or self.coroutine, owner)

    def __get__(self, instance: object, owner: type | None = None) -> Self:
        holder = owner if self._kind == "classmethod" else instance
        is_free = holder is None or self._kind == "staticmethod" or not self._is_method
        return self if is_free else self._bind_to(holder)

    def _bind_to(self, holder: object) -> Self:
        known = self._bound.get(id(holder))
        if known is None:
            functions = {"func": bind(self.func, holder), "coroutine": bind(self.coroutine, holder)}
            known = self.model_copy(update=functions)
            known._is_method = False
            known._bound = WeakValueDictionary()
            known = self._bound.setdefault(id(holder), known)
        return known

    @functools.cached_property
    def compiled(self) -> CompiledTool:
        """The compiled tool.

        Raises:
            DefinitionError: The tool cannot be offered; a method has to be reached through an instance.
        """
        function = self.func or self.coroutine
        owner = find_missing_owner(function, is_method=self._is_method and self._kind != "staticmethod")
        if owner is not None:
            where = f"{find_source(function)}: tool {self.name!r} is a method of {owner} and has no instance"
            mend = f"Make one and offer its method, {owner}(...).{_find_name(function)}"
            raise DefinitionError(f"{where}. {mend}; for a class method, write @tool above @classmethod.")
        fault = find_class_fault(function)
        if fault is not None:
            raise DefinitionError(f"{find_source(function)}: tool {self.name!r} {fault}.")
        return super().compiled

    def _get_function(self) -> Callable[..., Any]:
        return self.func or self._get_target()

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        function = self._get_function()
        return function(*args, **keep_wanted(function, kwargs))

    async def _arun(self, *args: Any, **kwargs: Any) -> Any:
        function = self.coroutine or self._get_function()
        answer = function(*args, **keep_wanted(function, kwargs))
        return await answer if inspect.isawaitable(answer) else answer

    def _get_target(self) -> Callable[..., Any]:
        target = self.coroutine or self.func
        if target is None:
            raise InvalidToolOption(f"Tool {self.name!r} has to be given a function: func=... or coroutine=...")
        own = find_override(self, StructuredTool, is_async=self.coroutine is not None)
        return target if own is None else stand_around(own, target)

    def _get_origin(self) -> object:
        return self._get_target()

    def _get_docstring(self) -> str | None:
        return _find_docstring(self.func or self._get_target())


def _find_docstring(function: Callable[..., Any]) -> str | None:
    """Return the docstring of a callable; for an object with `__call__`, that of the method or else of its class."""
    if isinstance(function, functools.partial) and "__doc__" not in vars(function):
        function = unwrap(function)
    call = type(function).__call__
    own = call.__doc__ if inspect.isfunction(call) else None
    return own or function.__doc__


def _find_name(function: Any) -> str:
    name = getattr(function, "__name__", None)
    if name is None and not isinstance(function, functools.partial):
        return type(function).__name__
    if name is None:
        raise InvalidToolOption(f"{find_source(function)}: this callable has no name of its own; give one: name='...'.")
    return str(name)


class Tool(StructuredTool):
    """A tool of one text argument: LangChain's single-input tool.

    The model sees one string argument, `__arg1`; the argument it sends may have any name. An `args_schema` with one
    field describes it more exactly. The function may also ask for `callbacks` and a RunnableConfig.
    """

    _virtual_bases: ClassVar[tuple[tuple[str, str], ...]] = (
        ("langchain_core.tools.simple", "Tool"),
        *BaseTool._virtual_bases,
    )
    _reads_signature: ClassVar[bool] = False

    def __init__(
        self, name: str, func: Callable[..., Any] | None = None, description: str = "", **options: Any
    ) -> None:
        super().__init__(name=name, func=func, **({"description": description} if description else {}), **options)

    @classmethod
    def from_function(  # type: ignore[override]
        cls,
        func: Callable[..., Any] | None = None,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        args_schema: ModelType | dict[str, Any] | None = None,
        coroutine: Callable[..., Any] | None = None,
        **options: Any,
    ) -> Self:
        """Make a tool from a function; the order of arguments is LangChain's for this class.

        Raises:
            InvalidToolOption: There is no function, or an option is wrong.
        """
        return super().from_function(func, coroutine, name, description, return_direct, args_schema, **options)

    def _get_function(self) -> Callable[..., Any]:
        return self.func or super()._get_target()

    def _get_target(self) -> Callable[..., Any]:
        return _wrap(super()._get_target(), self.name, has_fields=self._has_fields())

    def _get_origin(self) -> object:
        return super()._get_target()

    def _get_args_schema(self) -> type[BaseModel] | dict[str, Any] | ArgsSchema | None:
        return super()._get_args_schema() if self._has_fields() else SingleInputArgsSchema(self.name)

    def _has_fields(self) -> bool:
        return vars(self).get("args_schema") is not None


def _wrap(function: Callable[..., Any], name: str, *, has_fields: bool) -> Callable[..., Any]:
    """Wrap a function so that its one argument is passed by position and injected values by name."""
    hidden = _list_hidden(function)
    names = frozenset(parameter.name for parameter in hidden)

    def split(values: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        given = [value for key, value in values.items() if key not in names]
        if len(given) != 1:
            raise ToolException(refuse_many(name, given))
        return given[0], {key: value for key, value in values.items() if key in names}

    def run(**values: Any) -> Any:
        one, supplied = split(values)
        return function(one, **supplied)

    async def arun(**values: Any) -> Any:
        one, supplied = split(values)
        return await function(one, **supplied)

    made: Any = arun if inspect.iscoroutinefunction(function) else run
    vars(made)["__signature__"] = _make_signature(hidden, has_fields=has_fields)
    return made  # type: ignore[no-any-return]


def _list_hidden(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    try:
        parameters = read_signature(function).parameters
    except (NameError, ValueError):  # Some functions written in C do not say what they take.
        return ()
    names = {injection.parameter for injection in plan_injections(parameters)}
    return tuple(parameter for parameter in parameters if parameter.name in names)


def _make_signature(hidden: tuple[Parameter, ...], *, has_fields: bool) -> inspect.Signature:
    only, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    first = inspect.Parameter("fields", rest) if has_fields else inspect.Parameter("tool_input", only, annotation=str)
    supplied = [inspect.Parameter(it.name, only, default=it.default, annotation=it.annotation) for it in hidden]
    return inspect.Signature([*supplied, first] if has_fields else [first, *supplied])


def _find_place(tool: object, function: Any) -> tuple[str, str] | None:
    """Return the names under which a module holds the tool made from a function, or None."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None or "<locals>" in name:
        return None
    try:
        held = operator.attrgetter(name)(sys.modules.get(module))
    except AttributeError:
        return None
    return (module, name) if held is tool else None


def find_again(module: str, name: str) -> Any:
    """Return the tool that a module holds."""
    __import__(module)
    return operator.attrgetter(name)(sys.modules[module])
