"""Compile a tool: everything that can be worked out before a call arrives."""

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, PydanticUserError, TypeAdapter

from app.core.args_schema import ArgsSchema
from app.core.docstrings import Docstring, parse_docstring
from app.core.errors import InvalidToolName, SchemaInferenceError
from app.core.injection import Injection, plan_injections, plan_model_injections
from app.core.json_schema import Schema, inlined, without_titles
from app.core.schema import adopt_args_schema, infer_args_schema
from app.core.signature import EMPTY, Parameter, Signature, read_signature

ResponseFormat = Literal["content", "content_and_artifact"]
ExecutorName = Literal["inline", "thread"]
UnknownArgs = Literal["ignore", "forbid"]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Hold what an author may say about a tool besides its function.

    `timeout` is in seconds; None means the server's default. `executor` None means inline for async functions and a
    thread for the others. `unknown_args` says what happens to an argument that no parameter takes.
    """

    return_direct: bool = False
    response_format: ResponseFormat = "content"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    timeout: float | None = None
    executor: ExecutorName | None = None
    unknown_args: UnknownArgs = "ignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledTool:
    """Hold a tool made ready to run; immutable, shared by all calls.

    `source` is the file and line of the function, for the author's eyes only.
    """

    name: str
    description: str
    function: Callable[..., Any]
    is_async: bool
    args_schema: ArgsSchema
    output_schema: Schema | None
    injections: tuple[Injection, ...]
    hidden_names: frozenset[str]
    parameters: tuple[Parameter, ...]
    takes_positional: bool
    executor: ExecutorName
    options: ToolOptions
    source: str
    notes: tuple[str, ...] = ()

    def bind(self, values: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Sort values by parameter name into positional and keyword arguments of the function."""
        if not self.takes_positional:
            return [], dict(values)
        rest = dict(values)
        positional: list[Any] = []
        for parameter in self.parameters:
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                positional.extend(rest.pop(parameter.name))
                break
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
                break
            positional.append(rest.pop(parameter.name, parameter.default))
        return positional, rest


class Compilable(Protocol):
    """Whatever authors write that can be made ready to run."""

    @property
    def compiled(self) -> CompiledTool:
        """The tool made ready to run."""


def compile_tool(
    function: Callable[..., Any],
    options: ToolOptions,
    *,
    name: str,
    description: str | None = None,
    args_schema: type[BaseModel] | None = None,
    documentation: str | None = None,
    origin: object = None,
) -> CompiledTool:
    """Compile a function into a tool.

    Args:
        function: What runs, sync or async.
        options: What the author said besides.
        name: The tool's name.
        description: What the model reads; the docstring's text when None.
        args_schema: The author's own model of the arguments; made from the signature when None.
        documentation: The docstring to read; the function's own when None.
        origin: What the author wrote, where `function` only wraps it; errors name its file.

    Raises:
        DefinitionError: The tool cannot be offered; the message names file, tool and parameter.
    """
    source = source_of(origin or function)
    where = f"{source}: tool {name!r}"
    if not NAME.fullmatch(name):
        raise InvalidToolName(f"{where}: {InvalidToolName.__doc__} Rename it, or give a name: @tool('good_name').")
    signature = _signature(where, function)
    names = tuple(parameter.name for parameter in signature.parameters)
    docstring = parse_docstring(documentation or inspect.getdoc(function), names)
    injections = _injections(where, signature, args_schema)
    schema = _args_schema(where, signature, docstring, injections, args_schema, options)
    return CompiledTool(
        name=name,
        description=docstring.description if description is None else description,
        function=function,
        is_async=_is_async(function),
        args_schema=schema,
        output_schema=_output_schema(signature.returns, options),
        injections=injections,
        hidden_names=frozenset(injection.parameter for injection in injections) | schema.reserved,
        parameters=signature.parameters,
        takes_positional=any(p.kind in _POSITIONAL for p in signature.parameters),
        executor=options.executor or ("inline" if _is_async(function) else "thread"),
        options=options,
        source=source,
        notes=_notes(docstring, names),
    )


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def _signature(where: str, function: Callable[..., Any]) -> Signature:
    try:
        return read_signature(function)
    except NameError as error:
        text = f"{where}: {error}, in the annotation of a parameter. Import it at the top of the module."
        raise SchemaInferenceError(text) from error


def _injections(where: str, signature: Signature, model: type[BaseModel] | None) -> tuple[Injection, ...]:
    """Plan the hidden parameters; a marker on the parameter beats one on the model's field."""
    try:
        planned = plan_injections(signature.parameters)
    except SchemaInferenceError as error:
        raise SchemaInferenceError(f"{where}: {error.message}") from error
    known = {injection.parameter for injection in planned}
    extra = plan_model_injections(model) if model is not None else ()
    return (*planned, *(injection for injection in extra if injection.parameter not in known))


def _args_schema(
    where: str,
    signature: Signature,
    docstring: Docstring,
    injections: tuple[Injection, ...],
    model: type[BaseModel] | None,
    options: ToolOptions,
) -> ArgsSchema:
    injected = frozenset(injection.parameter for injection in injections)
    if model is not None:
        return adopt_args_schema(where, model, signature.parameters, injected)
    visible = [parameter for parameter in signature.parameters if parameter.name not in injected]
    return infer_args_schema(where, visible, docstring.parameters, forbid_unknown=options.unknown_args == "forbid")


def _output_schema(returns: Any, options: ToolOptions) -> Schema | None:
    """Render the schema of the result, None where the annotation says nothing that JSON Schema can."""
    if options.response_format == "content_and_artifact":
        parts = typing.get_args(returns)
        returns = parts[0] if typing.get_origin(returns) is tuple and len(parts) == 2 else EMPTY
    if returns is EMPTY or returns is Any:
        return None
    try:
        return inlined(without_titles(TypeAdapter(returns).json_schema(mode="serialization")))
    except PydanticUserError:
        return None


def _notes(docstring: Docstring, names: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in docstring.parameters if name not in names]
    return tuple(f"the docstring describes `{name}`, which is not a parameter" for name in unknown)


def _is_async(function: Callable[..., Any]) -> bool:
    plain = inspect.unwrap(function)
    return inspect.iscoroutinefunction(plain) or inspect.iscoroutinefunction(getattr(plain, "__call__", None))  # noqa: B004


def source_of(function: Any) -> str:
    """Name the file and line where a function or class is written, relative to the working directory if inside it."""
    plain = inspect.unwrap(function) if callable(function) else function
    target = getattr(plain, "__func__", plain)
    code = getattr(target, "__code__", None)
    if code is None:
        target = target if inspect.isclass(target) else type(target)
        return f"{getattr(target, '__module__', '?')}.{target.__qualname__}"
    path = Path(code.co_filename)
    shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    return f"{shown}:{code.co_firstlineno}"
