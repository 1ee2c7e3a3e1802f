"""Tools of one text, as LangChain's `Tool`."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Self

from pydantic import BaseModel

from sidecall.kernel.authoring.structured import StructuredTool
from sidecall.kernel.authoring.tool import BaseTool
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.parameter import Parameter
from sidecall.kernel.core.tool import ArgsSchema
from sidecall.kernel.schema.injections import plan_injections
from sidecall.kernel.schema.models import ModelType
from sidecall.kernel.schema.signature import read_signature
from sidecall.kernel.schema.single_input import SingleInputArgsSchema, refuse_many


class Tool(StructuredTool):
    """A tool of one text argument: LangChain's single-input tool.

    The model sees one string argument, `__arg1`; the argument it sends may have any name. An `args_schema` with one
    field describes it more exactly. The function may also ask for `callbacks` and a RunnableConfig.
    """

    _counterparts: ClassVar[tuple[tuple[str, str], ...]] = (
        ("langchain_core.tools.simple", "Tool"),
        *BaseTool._counterparts,
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
