"""Render tools in the form of an API: OpenAI's and JSON Schema here, those of others where they are installed."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, Protocol, cast, get_args

from msgspec import Struct
from pydantic_core import to_json

from sidecall.kernel.core.errors import InvalidParameter
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.ports.approvals.questions import Questions
from sidecall.kernel.schema.forms.mcp_param_headers import drop_headers
from sidecall.kernel.schema.forms.one_object import describe_root, has_choice, join_root
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict
from sidecall.lazy_imports import Provided

DefinitionFormat = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp", "json_schema"]

FORMATS: tuple[DefinitionFormat, ...] = get_args(DefinitionFormat)

NONE_DECLARED: Mapping[str, list[Schema]] = {}


class Listed(Struct, frozen=True):
    """A tool as it is listed: by its definition, or by a declaration that takes the place of it."""

    tool: CompiledTool
    definition: dict[str, Any]
    is_declared: bool = False


class Form(Struct, frozen=True, kw_only=True):
    """How an API takes definitions.

    Args:
        render: Writes one definition, with these parameters, strict or not; it may look for questions of the tool.
        to_strict: Rewrites the parameters of strict tools.
        has_choices: Whether a choice of objects can be listed as it is.
        has_hosted: Whether it has room for a tool which the provider runs; in the others it is left out.
        limit: Chooses the strict tools, where the API takes only so many.
        gather: Arranges what is listed.
    """

    render: Callable[[CompiledTool, Schema, bool, Questions], dict[str, Any]]
    to_strict: Callable[[Schema], Schema] = to_strict
    has_choices: bool = False
    has_hosted: bool = False
    limit: Callable[[Iterable[CompiledTool]], Collection[str]] | None = None
    gather: Callable[[list[Listed]], list[Any]] = lambda listed: [it.definition for it in listed]


class _Forms(Protocol):
    """The forms of other APIs."""

    FORMS: Mapping[DefinitionFormat, Form]


class _NoForms:
    """Where the forms of other APIs are not installed."""

    FORMS: Mapping[DefinitionFormat, Form] = {}


_others = cast("_Forms", Provided("forms", _NoForms()))


def find_form(name: DefinitionFormat) -> Form:
    """Return a form by its name.

    Raises:
        InvalidParameter: It is not installed.
    """
    form = _OWN.get(name) or _others.FORMS.get(name)
    if form is None:
        raise InvalidParameter(f"`format={name}` needs a feature that is not installed.")
    return form


def has_form(name: DefinitionFormat) -> bool:
    """Return whether a form is installed."""
    return name in _OWN or name in _others.FORMS


def list_fitting(tools: Iterable[CompiledTool], form: DefinitionFormat) -> list[CompiledTool]:
    """List the tools that a form can express."""
    has_hosted = find_form(form).has_hosted
    return [tool for tool in tools if tool.declaration is None or has_hosted]


def render_definitions(
    tools: Iterable[CompiledTool],
    form: DefinitionFormat,
    *,
    strict: bool | Collection[str] = False,
    declared: Mapping[str, list[Schema]] = NONE_DECLARED,
) -> list[Any]:
    """Render tools as the array that the provider takes as `tools`.

    Args:
        tools: The tools.
        form: Whose form it is.
        strict: Whether to say them strictly, each that can be; or the names of those to be said so.
        declared: What is listed in the place of tools, by their names.
    """
    how, fitting, questions = find_form(form), list_fitting(tools, form), Questions()
    if isinstance(strict, bool):
        strict = choose_strict((tool for tool in fitting if tool.name not in declared), form, asked=strict)
    listed: list[Listed] = []
    for tool in fitting:
        if others := declared.get(tool.name):
            listed += [Listed(tool, it, is_declared=True) for it in others]
        else:
            is_strict = tool.name in strict
            listed.append(
                Listed(tool, how.render(tool, _choose_parameters(tool, how, is_strict), is_strict, questions))
            )
    return how.gather(listed)


def render_definition(tool: CompiledTool) -> Any:
    """Render one tool as it is listed, own or hosted by a provider."""
    return tool.declaration or render_definitions([tool], "openai")[0]


def hash_definition(tool: CompiledTool) -> str:
    """Return a hash of a tool's contract, which is worked out once; deprecation does not change it."""
    known: str | None = tool.derived.get(hash_definition)
    if known is None:
        lasting = tool
        if tool.options.deprecated is not None:
            lasting = replace(tool, options=replace(tool.options, deprecated=None))
        known = tool.derived[hash_definition] = hashlib.sha256(to_json(render_definition(lasting))).hexdigest()
    return known


def describe_tool(tool: CompiledTool) -> str:
    """Return the description for the model, with the replacement of a deprecated tool."""
    instead = tool.options.deprecated
    return tool.description if instead is None else f"{tool.description}\n\nDeprecated: {instead}".lstrip()


def describe_with_choice(tool: CompiledTool) -> str:
    """Return the description with the rules for combining arguments, since some models do not see the schema's own."""
    return "\n\n".join(text for text in (describe_tool(tool), describe_root(tool.args_schema.flat)) if text)


def _choose_parameters(tool: CompiledTool, form: Form, strict: bool) -> Schema:
    flat = choose_flat(tool)
    if strict:
        return form.to_strict(flat)
    return flat if form.has_choices else join_root(flat)


def _render_openai(tool: CompiledTool, parameters: Schema, strict: bool, _questions: Questions) -> dict[str, Any]:
    return {"type": "function", "function": render_function(tool, parameters, strict)}


def render_function(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    """Render a function as OpenAI's APIs have it."""
    function = {"name": tool.name, "description": describe_with_choice(tool), "parameters": parameters}
    return {**function, "strict": True} if strict else function


def _render_json_schema(tool: CompiledTool, parameters: Schema, _strict: bool, _questions: Questions) -> dict[str, Any]:
    hosted = {} if tool.declaration is None else {"hosted": tool.declaration}
    deprecated = {} if tool.options.deprecated is None else {"deprecated": True}
    lacking = {} if tool.is_available else {"available": False}
    return {"title": tool.name, "description": describe_tool(tool), **parameters, **deprecated, **lacking, **hosted}


_OWN: Mapping[DefinitionFormat, Form] = {
    "openai": Form(render=_render_openai),
    "json_schema": Form(render=_render_json_schema, has_choices=True, has_hosted=True),
}


def choose_flat(tool: CompiledTool) -> Schema:
    """Return the schema from which a tool's forms are made."""
    return drop_headers(tool.args_schema.flat) if tool.mirrored else tool.args_schema.flat


def choose_strict(tools: Iterable[CompiledTool], form: DefinitionFormat, *, asked: bool) -> Collection[str]:
    """Return the names of the tools that are listed as strict.

    Args:
        tools: The tools of one request, in their order: where there are too many, the first of them are strict.
        form: Whose form it is.
        asked: Whether strict tools are asked for; what a tool's own options say beats it.
    """
    wanted = (tool for tool in tools if (asked if tool.options.strict is None else tool.options.strict))
    how = find_form(form)
    if how.limit is not None:
        return how.limit(wanted)
    return {tool.name for tool in wanted if _can_be_strict(choose_flat(tool), how)}


def _can_be_strict(flat: Schema, form: Form) -> bool:
    return not (form.has_choices and has_choice(flat)) and not find_strict_obstacles(flat)
