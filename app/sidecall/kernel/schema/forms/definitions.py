"""Render one tool in the form of each provider's API."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from pydantic_core import to_json

from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.tool import ArgsSchema, CompiledTool, Schema
from sidecall.kernel.ports.approvals.questions import Questions
from sidecall.kernel.schema.forms.anthropic import (
    MAX_OPTIONAL,
    MAX_UNIONS,
    count_loose,
    is_recursive,
    to_anthropic,
)
from sidecall.kernel.schema.forms.gemini import to_gemini
from sidecall.kernel.schema.forms.one_object import describe_root, has_choice, join_root
from sidecall.kernel.schema.forms.strict import find_strict_obstacles, to_strict
from sidecall.kernel.schema.references import list_schemas, map_children
from sidecall.kernel.suggest.fuzzy_match import find_same

DefinitionFormat = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp", "json_schema"]

FORMATS: tuple[DefinitionFormat, ...] = get_args(DefinitionFormat)

NONE_DECLARED: Mapping[str, list[Schema]] = {}


def list_fitting(tools: Iterable[CompiledTool], form: DefinitionFormat) -> list[CompiledTool]:
    """List the tools that a form can express."""
    return [tool for tool in tools if tool.declaration is None or form in _WITH_DECLARATIONS]


def has_room_for_hosted(form: DefinitionFormat) -> bool:
    """Return whether a form can express provider-hosted tools."""
    return form in _WITH_DECLARATIONS


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
    fitting, questions = list_fitting(tools, form), Questions()
    if isinstance(strict, bool):
        strict = choose_strict((tool for tool in fitting if tool.name not in declared), form, asked=strict)
    if form == "gemini":
        functions = [_render(tool, form, strict, questions) for tool in fitting if tool.name not in declared]
        others = [it for tool in fitting for it in declared.get(tool.name, ())]
        return ([{"functionDeclarations": functions}] if functions else []) + others
    each = [
        (tool, it) for tool in fitting for it in declared.get(tool.name) or [_render(tool, form, strict, questions)]
    ]
    return _group(each) if form == "openai-responses" else [it for _, it in each]


def _render(
    tool: CompiledTool, form: DefinitionFormat, strict: Collection[str], questions: Questions
) -> dict[str, Any]:
    is_strict = tool.name in strict
    parameters = _choose_parameters(tool, form, is_strict)
    if form == "mcp":
        return _render_mcp(tool, parameters, is_strict, questions)
    return _RENDERERS[form](tool, parameters, is_strict)


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


def _describe(tool: CompiledTool) -> str:
    """Return the description for the model, with the replacement of a deprecated tool."""
    instead = tool.options.deprecated
    return tool.description if instead is None else f"{tool.description}\n\nDeprecated: {instead}".lstrip()


def _describe_with_choice(tool: CompiledTool) -> str:
    """Return the description with the rules for combining arguments, since some models do not see the schema's own."""
    return "\n\n".join(text for text in (_describe(tool), describe_root(tool.args_schema.flat)) if text)


# The forms that have room for a tool which the provider runs; in the others it is left out.
_WITH_DECLARATIONS = ("openai-responses", "json_schema")


def _choose_parameters(tool: CompiledTool, form: DefinitionFormat, strict: bool) -> Schema:
    flat = choose_flat(tool)
    if strict:
        return to_anthropic(flat) if form == "anthropic" else to_strict(flat)
    return flat if form in WITH_CHOICES else join_root(flat)


def _render_openai(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    return {"type": "function", "function": _render_function(tool, parameters, strict)}


def _render_openai_responses(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    if tool.declaration is not None:
        return dict(tool.declaration)
    extras = tool.options.extras
    said = {wire: extras[name] for name, wire in _SAID_TO_RESPONSES.items() if name in extras}
    # Without it the model's turn waits for an answer that comes later.
    if tool.options.background:
        said.setdefault("async", True)
    # The Responses API turns strict mode on by itself unless it is told not to.
    return {"type": "function", **_render_function(tool, parameters, strict), "strict": strict, **said}


# The extras that the Responses API has a place for.
_SAID_TO_RESPONSES = {
    "defer_loading": "defer_loading",
    "allowed_callers": "allowed_callers",
    "async": "async",
    "output_json_schema": "output_schema",
}


def _group(definitions: list[tuple[CompiledTool, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Group the tools of a namespace at the position of the first one."""
    listed: dict[int | str, dict[str, Any]] = {}
    for number, (tool, definition) in enumerate(definitions):
        space = tool.options.extras.get("tool_namespace")
        if space is None:
            listed[number] = definition
        else:
            listed.setdefault(space["name"], {"type": "namespace", **space, "tools": []})["tools"].append(definition)
    return list(listed.values())


def _render_function(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    function = {"name": tool.name, "description": _describe_with_choice(tool), "parameters": parameters}
    return {**function, "strict": True} if strict else function


def _render_anthropic(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    schema = rename_arguments(parameters)
    definition = {"name": tool.name, "description": _describe_with_choice(tool), "input_schema": schema}
    return {**definition, "strict": True} if strict else definition


def _render_mcp(tool: CompiledTool, parameters: Schema, strict: bool, questions: Questions) -> dict[str, Any]:
    # Its strict form lets arguments be null, which none may be that a header repeats.
    schema = parameters if strict and not tool.mirrored else tool.args_schema.flat
    definition: dict[str, Any] = {"name": tool.name, "description": _describe(tool), "inputSchema": schema}
    if tool.results is not None:
        definition["outputSchema"] = tool.results.schema
    hints = tool.options.annotations.mcp
    if (title := tool.options.metadata.get("mcp_title", hints.get("title"))) is not None:
        definition["title"] = title
    if hints:
        definition["annotations"] = hints
    if tool.options.requires_approval is not False or questions.asks_inside(tool.function):
        # The other forms have no room: what they do not know is refused, or reaches a model within its schema.
        definition["_meta"] = {"sidecall/requires_approval": True}
    if tool.options.deprecated is not None:
        definition["_meta"] = {**definition.get("_meta", {}), "sidecall/deprecated": tool.options.deprecated}
    if not tool.is_available:
        definition["_meta"] = {**definition.get("_meta", {}), "sidecall/available": False}
    return definition


def _render_json_schema(tool: CompiledTool, parameters: Schema, _strict: bool) -> dict[str, Any]:
    hosted = {} if tool.declaration is None else {"hosted": tool.declaration}
    deprecated = {} if tool.options.deprecated is None else {"deprecated": True}
    lacking = {} if tool.is_available else {"available": False}
    return {"title": tool.name, "description": _describe(tool), **parameters, **deprecated, **lacking, **hosted}


def _render_gemini(tool: CompiledTool, parameters: Schema, _strict: bool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name, "description": _describe_with_choice(tool)}
    if (written := to_gemini(parameters, reads_numbers=not has_choice(tool.args_schema.flat))) is not None:
        declaration["parameters"] = written
    return declaration


_RENDERERS: dict[DefinitionFormat, Callable[[CompiledTool, Schema, bool], dict[str, Any]]] = {
    "openai": _render_openai,
    "openai-responses": _render_openai_responses,
    "anthropic": _render_anthropic,
    "gemini": _render_gemini,
    "json_schema": _render_json_schema,
}


# Strict tools of one request that Anthropic takes.
_MAX_TOOLS = 20
# The forms whose API takes only so many.
LIMITED = ("anthropic",)
# The forms in which a choice of objects can be listed as it is.
WITH_CHOICES = ("mcp", "json_schema")


def choose_flat(tool: CompiledTool) -> Schema:
    """Return the schema from which a tool's forms are made."""
    return drop_headers(tool.args_schema.flat) if tool.mirrored else tool.args_schema.flat


def choose_strict(tools: Iterable[CompiledTool], form: str, *, asked: bool) -> Collection[str]:
    """Return the names of the tools that are listed as strict.

    Args:
        tools: The tools of one request, in their order: where there are too many, the first of them are strict.
        form: Whose form it is.
        asked: Whether strict tools are asked for; what a tool's own options say beats it.
    """
    wanted = (tool for tool in tools if (asked if tool.options.strict is None else tool.options.strict))
    if form in LIMITED:
        return _limit(wanted)
    return {tool.name for tool in wanted if _can_be_strict(choose_flat(tool), form)}


def _can_be_strict(flat: Schema, form: str) -> bool:
    return not (form in WITH_CHOICES and has_choice(flat)) and not find_strict_obstacles(flat)


def _limit(tools: Iterable[CompiledTool]) -> Collection[str]:
    """Take tools while the limits allow; one that needs too much is skipped in favour of later ones."""
    chosen: set[str] = set()
    room = (MAX_OPTIONAL, MAX_UNIONS)
    for tool in tools:
        if len(chosen) == _MAX_TOOLS:
            break
        flat = choose_flat(tool)
        if is_recursive(flat) or find_strict_obstacles(flat):
            continue
        optional, unions = count_loose(to_anthropic(flat))
        left = (room[0] - optional, room[1] - unions)
        if min(left) >= 0:
            chosen.add(tool.name)
            room = left
    return chosen


# The keyword of MCP with which a parameter's schema names its header.
_KEYWORD = "x-mcp-header"

_PREFIX = "mcp-param-"

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

_TYPES = ("string", "integer", "boolean")


def find_mirrored(where: str, schema: ArgsSchema) -> Mapping[bytes, tuple[str, ...]]:
    """Return the headers, in lower case, and the path of the argument that each repeats.

    Raises:
        SchemaInferenceError: Clients would refuse the tool for one of them.
    """
    listed = schema.flat
    said = sum(_KEYWORD in node for node in list_schemas(listed))
    if not said:
        return {}
    found: dict[bytes, tuple[str, ...]] = {}
    for path, node in _reach(listed, ()):
        name = _read_name(f"{where}: `{'.'.join(path)}`", node)
        header = f"{_PREFIX}{name}".lower().encode()
        if header in found:
            raise SchemaInferenceError(f"{where}: two parameters have the {_KEYWORD} {name!r}. Rename one.")
        found[header] = path
    if len(found) < said:
        raise SchemaInferenceError(
            f"{where}: an {_KEYWORD} stands where clients refuse it: within a list, a choice of types, or a model that "
            "refers to itself. Give it to a parameter of the tool itself."
        )
    return found


def _reach(schema: Schema, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Schema]]:
    """Yield annotated properties, along `properties` only."""
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        if isinstance(node, dict):
            if _KEYWORD in node:
                yield (*path, name), node
            yield from _reach(node, (*path, name))


def _read_name(where: str, node: Schema) -> str:
    name = node[_KEYWORD]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise SchemaInferenceError(f"{where}: its {_KEYWORD} is no name of a header. Write letters, digits and `-`.")
    if node.get("type") not in _TYPES:
        raise SchemaInferenceError(
            f"{where}: has an {_KEYWORD}, but is no text, whole number or switch, or may also be None. "
            "Annotate it as str, int or bool alone, or take the header away."
        )
    return name


def drop_headers(schema: Schema) -> Schema:
    """Copy a schema without header annotations, which providers do not know."""
    node = map_children(schema, drop_headers)
    return {key: value for key, value in node.items() if key != _KEYWORD}


_LONGEST = 64

_REFUSED = re.compile(r"[^a-zA-Z0-9_.-]+")
# The pattern of names; whether it holds for nested objects is not documented.
KEY = re.compile(rf"[a-zA-Z0-9_.-]{{1,{_LONGEST}}}")


def choose_keys(schema: Schema) -> Mapping[str, str]:
    """Choose replacements for argument names that the API refuses.

    Only names that are read back unambiguously, since they differ in separators alone: `filter[name]` is listed as
    `filter_name`. Names in other alphabets, and those of objects with free keys, are unchanged.
    """
    names = schema.get("properties", {})
    if schema.get("additionalProperties", False) is not False:
        return {}
    chosen = {name: _REFUSED.sub("_", name).strip("_") for name in names if not KEY.fullmatch(name)}
    return {name: key for name, key in chosen.items() if KEY.fullmatch(key) and find_same(key, names) == [name]}


def rename_arguments(schema: Schema) -> Schema:
    """Copy an arguments schema with the chosen names."""
    chosen = choose_keys(schema)
    if not chosen:
        return schema
    written = {**schema, "properties": {chosen.get(name, name): it for name, it in schema["properties"].items()}}
    if "required" in schema:
        written["required"] = [chosen.get(name, name) for name in schema["required"]]
    return written
