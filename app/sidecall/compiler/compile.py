"""Compile a tool: compute everything that does not depend on a call."""

import dis
import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from types import CodeType
from typing import Any

from pydantic import BaseModel, PydanticUserError, TypeAdapter

from sidecall.compiler.argument_models import adapt_annotations, adopt_args_schema, open_model
from sidecall.compiler.author_mistakes import advise_on_name
from sidecall.compiler.docstrings import join_sentences, parse_docstring
from sidecall.compiler.injected_parameters import describe_injected
from sidecall.compiler.injection_plan import plan_injections
from sidecall.compiler.json_args_schema import make_json_args_schema, strip_titles
from sidecall.compiler.output_schema import make_results
from sidecall.compiler.plain_docstrings import Docstring, DocstringStyle
from sidecall.compiler.signature import Signature, find_source, is_builtin, read_signature, unwrap
from sidecall.compiler.signature_model import JSON_TYPES, infer_args_schema
from sidecall.kernel.core.agents_outputs import promises_content
from sidecall.kernel.core.command import is_command_type
from sidecall.kernel.core.errors import InvalidDocstring, InvalidToolName, SchemaInferenceError
from sidecall.kernel.core.injection import Injection
from sidecall.kernel.core.native_results import is_native_type
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.core.tool import EMPTY, NAME, ArgsSchema, CompiledTool, Parameter, Schema
from sidecall.kernel.schema.forms.mcp_param_headers import find_mirrored
from sidecall.kernel.schema.forms.strict import find_strict_obstacles
from sidecall.kernel.schema.references import inline_references

_FIELD = "write pydantic's Field(...), which takes the same descriptions and bounds"
_CONTEXT = "take a parameter of type ToolContext, which has the headers, the caller, and what the program sent beside"
_FILE = "take a text: the file's address, or its bytes in base64"
_AFTER = "do the work in the tool, before it returns"
# Under the names of markers and types of FastAPI and Starlette.
_INSTEAD: Mapping[str, str] = {
    "Depends": "call the function in the tool; or hide the parameter with Annotated[..., InjectedToolArg], and let the "
    "calling program send the value in `context`",
    "Query": _FIELD,
    "Path": _FIELD,
    "Body": _FIELD,
    "Form": _FIELD,
    "File": _FILE,
    "UploadFile": _FILE,
    "Header": "take a parameter of type ToolContext, and read its `headers`",
    "Cookie": "take a parameter of type ToolContext, and read its `headers`",
    "HTTPConnection": _CONTEXT,
    "Response": "return what the model has to read",
    "BackgroundTasks": _AFTER,
    "SecurityScopes": _CONTEXT,
}
_PACKAGES = ("fastapi", "starlette")


def refuse_web_parameters(where: str, parameters: Iterable[Parameter]) -> None:
    """Refuse parameters that only a route can have.

    Raises:
        SchemaInferenceError: There is one; the message says what does instead.
    """
    for parameter in parameters:
        if is_builtin(parameter.annotation) and is_builtin(type(parameter.default)):
            continue
        for part in (parameter.default, *_list_parts(parameter.annotation)):
            name = _find_name(part)
            if name is not None:
                raise SchemaInferenceError(
                    f"{where}: parameter `{parameter.name}`: {_say(part)} is for routes of FastAPI, and nobody fills "
                    f"it in a tool. Instead, {_INSTEAD[name]}."
                )


def _list_parts(annotation: Any) -> Iterable[Any]:
    inner = (*getattr(annotation, "__metadata__", ()), *typing.get_args(annotation))
    return (annotation, *(part for it in inner for part in _list_parts(it)))


def _find_name(part: Any) -> str | None:
    kind = part if isinstance(part, type) else type(part)
    known = (base.__name__ for base in kind.__mro__ if base.__module__.partition(".")[0] in _PACKAGES)
    return next((name for name in known if name in _INSTEAD), None)


def _say(part: Any) -> str:
    return part.__name__ if isinstance(part, type) else f"{type(part).__name__}(...)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionTexts:
    """The sources of the model's descriptions.

    `docstring` is read when `description` is None. `parse` None takes the text before the docstring's sections, True
    joins its paragraphs as LangChain does, False takes the docstring whole. `strict` turns a mismatch between docstring
    and parameters into an error instead of a note.
    """

    description: str | None = None
    docstring: str | None = None
    parse: bool | None = None
    strict: bool = False
    style: DocstringStyle | None = None


def compile_tool(
    function: Callable[..., Any],
    options: ToolOptions,
    *,
    name: str,
    texts: DescriptionTexts,
    args_schema: type[BaseModel] | Schema | ArgsSchema | None = None,
    origin: object = None,
) -> CompiledTool:
    """Compile a function into a tool.

    Args:
        function: What runs, sync or async.
        options: What the author said besides.
        name: The tool's name.
        texts: Where the description and those of the parameters come from.
        args_schema: The author's own model or JSON Schema of the arguments; made from the signature when None.
        origin: What the author wrote, where `function` only wraps it; errors name its file.

    Raises:
        DefinitionError: The tool cannot be offered; the message names file, tool and parameter.
    """
    source = find_source(origin or function)
    where = f"{source}: tool {name!r}"
    _refuse_name(where, name)
    signature = _read_signature(where, function)
    names = tuple(parameter.name for parameter in signature.parameters)
    docstring = _read_docstring(where, texts, names)
    injections = _plan_injections(where, signature, args_schema if isinstance(args_schema, type) else None)
    hidden = {injection.parameter for injection in injections}
    refuse_web_parameters(where, (it for it in signature.parameters if it.name not in hidden))
    schema = _settle(_make_args_schema(where, signature, docstring, injections, args_schema, options), options)
    _refuse_loose(where, schema, options)
    is_async = _is_async(function)
    return CompiledTool(
        name=name,
        description=docstring.description if texts.description is None else texts.description,
        function=function,
        is_async=is_async,
        args_schema=schema,
        **_describe_results(signature.returns, options),
        injections=injections,
        hidden_names=frozenset(hidden) | schema.reserved,
        parameters=signature.parameters,
        takes_positional=any(p.kind in _POSITIONAL for p in signature.parameters),
        executor=options.executor or ("inline" if is_async and not waits_for_store(function, injections) else "thread"),
        options=options,
        source=source,
        notes=_list_notes(docstring, names),
        mirrored=find_mirrored(where, schema),
        describe_injected=partial(describe_injected, injections, signature.parameters),
    )


def _refuse_name(where: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise InvalidToolName(f"{where}: {InvalidToolName.__doc__} Rename it, or give a name: @tool('good_name').")


def find_description(texts: DescriptionTexts) -> str:
    """Return the description that a tool with these texts will have."""
    return (
        _read_docstring("", replace(texts, strict=False), ()).description
        if texts.description is None
        else texts.description
    )


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


def _read_signature(where: str, function: Callable[..., Any]) -> Signature:
    try:
        return adapt_annotations(read_signature(function), where)
    except NameError as error:
        reason = f"{where}: {error}, in the annotation of a parameter"
        raise SchemaInferenceError(f"{reason}. {advise_on_name(function, error.name)}") from error
    except ValueError as error:
        raise SchemaInferenceError(f"{where}: {error}.") from error


def _plan_injections(where: str, signature: Signature, model: type[BaseModel] | None) -> tuple[Injection, ...]:
    """Plan the hidden parameters; a marker on the parameter overrides one on the model's field."""
    try:
        planned = plan_injections(signature.parameters)
    except SchemaInferenceError as error:
        raise SchemaInferenceError(f"{where}: {error.message}") from error
    known = {injection.parameter for injection in planned}
    extra = () if model is None else open_model(model).plan_injections(where)
    return (*planned, *(injection for injection in extra if injection.parameter not in known))


def _make_args_schema(
    where: str,
    signature: Signature,
    docstring: Docstring,
    injections: tuple[Injection, ...],
    given: type[BaseModel] | Schema | ArgsSchema | None,
    options: ToolOptions,
) -> ArgsSchema:
    injected = frozenset(injection.parameter for injection in injections)
    is_closed = options.unknown_args == "forbid"
    if given is not None and not isinstance(given, (dict, type)):
        return given
    if isinstance(given, dict):
        takes = _list_accepted(signature.parameters, injected)
        needs = frozenset(parameter.name for parameter in signature.parameters if parameter.required) - injected
        return make_json_args_schema(where, given, takes, forbid_unknown=is_closed, needs=needs)
    if given is not None:
        return adopt_args_schema(where, open_model(given), signature.parameters, injected, forbid_unknown=is_closed)
    described = docstring.parameters
    return infer_args_schema(where, signature.parameters, described, injected, forbid_unknown=is_closed)


def _settle(schema: ArgsSchema, options: ToolOptions) -> ArgsSchema:
    """Make the schema drop unknown arguments if the author says so."""
    return schema.drop_unknown() if options.unknown_args in ("ignore", "tell") else schema


def _refuse_loose(where: str, schema: ArgsSchema, options: ToolOptions) -> None:
    obstacles = find_strict_obstacles(schema.flat) if options.strict else []
    if obstacles:
        reasons = "; ".join(obstacles)
        raise SchemaInferenceError(f"{where}: has strict=True, but cannot be said strictly: {reasons}. Leave it out.")


def _list_accepted(parameters: tuple[Parameter, ...], injected: frozenset[str]) -> frozenset[str] | None:
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return frozenset(parameter.name for parameter in parameters) - injected


def _describe_results(returns: Any, options: ToolOptions) -> dict[str, Any]:
    of_content = _find_returns(returns, options)
    if promises_content(of_content):
        return {"output_schema": None, "results": None, "reads_dicts": True}
    schema = _make_output_schema(of_content)
    return {"output_schema": schema, "results": make_results(schema, of_content)}


def _find_returns(returns: Any, options: ToolOptions) -> Any:
    """Return the annotation of the content alone."""
    if options.response_format != "content_and_artifact":
        return returns
    parts = typing.get_args(returns)
    return parts[0] if typing.get_origin(returns) is tuple and len(parts) == 2 else EMPTY


def _make_output_schema(returns: Any) -> Schema | None:
    """Render the result's schema; None if the annotation says nothing that JSON Schema can express."""
    if returns is EMPTY or returns is Any or is_command_type(returns) or is_native_type(returns):
        return None
    if isinstance(returns, type) and returns in JSON_TYPES:
        return {"type": JSON_TYPES[returns]}
    try:
        return inline_references(strip_titles(TypeAdapter(returns).json_schema(mode="serialization")))
    except PydanticUserError:
        return None


def _read_docstring(where: str, texts: DescriptionTexts, names: tuple[str, ...]) -> Docstring:
    if texts.parse is False:
        return Docstring(inspect.cleandoc(texts.docstring or ""))
    docstring = parse_docstring(texts.docstring, names, texts.style)
    if texts.strict:
        _refuse_mismatches(where, docstring, names)
    return _join_paragraphs(docstring) if texts.parse else _join_sentences(docstring)


def _join_sentences(docstring: Docstring) -> Docstring:
    """Join lines within paragraphs; keep paragraphs, lists and code."""
    parameters = {name: join_sentences(text) for name, text in docstring.parameters.items()}
    return replace(docstring, description=join_sentences(docstring.description), parameters=parameters)


def _join_paragraphs(docstring: Docstring) -> Docstring:
    """Join lines and paragraphs as LangChain does."""
    parameters = {name: " ".join(text.split()) for name, text in docstring.parameters.items()}
    return replace(docstring, description=docstring.description.replace("\n\n", " "), parameters=parameters)


def _refuse_mismatches(where: str, docstring: Docstring, names: tuple[str, ...]) -> None:
    misfits = _list_notes(docstring, names)
    if names and not docstring.parameters:
        misfits = ("the docstring describes none of the parameters",)
    if misfits:
        raise InvalidDocstring(f"{where}: {'; '.join(misfits)}. Mend it, or leave error_on_invalid_docstring out.")


def _list_notes(docstring: Docstring, names: tuple[str, ...]) -> tuple[str, ...]:
    unknown = [name for name in docstring.parameters if name not in names]
    return tuple(f"the docstring describes `{name}`, which is not a parameter" for name in unknown)


def _is_async(function: Callable[..., Any]) -> bool:
    plain = unwrap(function)
    called = (plain, getattr(plain, "__call__", None))  # noqa: B004  an object may be called through an async method
    return any(inspect.iscoroutinefunction(it) or inspect.isasyncgenfunction(it) for it in called)


# Methods of LangGraph's stores with an async variant.
_METHODS = frozenset(("get", "put", "delete", "search", "list_namespaces", "batch"))
# From which a tool has a store: as a parameter of its own, or as a member of its runtime or context.
_SOURCES = frozenset(("store", "made", "tool_context"))

_MEMBER = "store"


def waits_for_store(function: Callable[..., Any], injections: Iterable[Injection]) -> bool:
    """Return whether a function calls a blocking method of its store, as `runtime.store.put(...)` does.

    On the event loop such a call would block all others, so its tool runs in a thread. Calls in other functions are not
    seen.
    """
    given = [it for it in injections if it.source in _SOURCES]
    code = getattr(getattr(inspect.unwrap(function), "__func__", inspect.unwrap(function)), "__code__", None)
    if not given or not isinstance(code, CodeType):
        return False
    stores = {_MEMBER, *(it.parameter for it in given if it.source == "store")}
    return any(
        holder.argval in stores and used.argval in _METHODS and used.opname in ("LOAD_ATTR", "LOAD_METHOD")
        for one in _list_code(code)
        for holder, used in pairwise(dis.get_instructions(one))
    )


def _list_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _list_code(const)
