"""Render one tool in the form each provider's API takes."""

from collections.abc import Callable
from typing import Any, Literal, get_args

from sidecall.core.tool import CompiledTool, Schema
from sidecall.schema.strict import find_strict_obstacles, to_strict
from sidecall.schema.walk import map_children

DefinitionFormat = Literal["openai", "openai-responses", "anthropic", "gemini", "mcp", "json_schema"]
FORMATS: tuple[DefinitionFormat, ...] = get_args(DefinitionFormat)

# The subset of JSON Schema that Gemini's `Schema` object has.
_GEMINI_KEYWORDS = frozenset(
    "type format title description nullable enum items minItems maxItems properties required minimum maximum"
    " minLength maxLength pattern anyOf default".split()
)
_GEMINI_FORMATS = frozenset("enum date-time int32 int64 float double".split())


def render_definitions(tools: list[CompiledTool], form: DefinitionFormat, *, strict: bool = False) -> list[Any]:
    """Render tools as the array that the provider takes as `tools`."""
    definitions = [_RENDERERS[form](tool, *_choose_parameters(tool, strict)) for tool in tools]
    if form == "gemini":
        return [{"functionDeclarations": definitions}] if definitions else []
    return definitions


def _choose_parameters(tool: CompiledTool, strict: bool) -> tuple[Schema, bool]:
    flat = tool.args_schema.flat
    wanted = strict if tool.options.strict is None else tool.options.strict
    if wanted and not find_strict_obstacles(flat):
        return to_strict(flat), True
    return flat, False


def _render_openai(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    return {"type": "function", "function": _render_function(tool, parameters, strict)}


def _render_openai_responses(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    # The Responses API turns strict mode on by itself unless it is told not to.
    return {"type": "function", **_render_function(tool, parameters, strict), "strict": strict}


def _render_function(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {**function, "strict": True} if strict else function


def _render_anthropic(tool: CompiledTool, parameters: Schema, strict: bool) -> dict[str, Any]:
    definition = {"name": tool.name, "description": tool.description, "input_schema": parameters}
    return {**definition, "strict": True} if strict else definition


def _render_mcp(tool: CompiledTool, parameters: Schema, _strict: bool) -> dict[str, Any]:
    definition: dict[str, Any] = {"name": tool.name, "description": tool.description, "inputSchema": parameters}
    if tool.output_schema is not None and tool.output_schema.get("type") == "object":
        definition["outputSchema"] = tool.output_schema
    hints = tool.options.annotations.mcp
    if hints:
        definition["annotations"] = hints
    return definition


def _render_json_schema(tool: CompiledTool, parameters: Schema, _strict: bool) -> dict[str, Any]:
    return {"title": tool.name, "description": tool.description, **parameters}


def _render_gemini(tool: CompiledTool, parameters: Schema, _strict: bool) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if parameters.get("properties"):
        declaration["parameters"] = _rewrite_for_gemini(parameters)
    return declaration


def _rewrite_for_gemini(schema: Schema) -> Schema:
    """Rewrite a schema in Gemini's subset: null as `nullable`, const as enum, one type, no reference."""
    node = map_children(schema, _rewrite_for_gemini)
    if "const" in node:
        node["enum"] = [node["const"]]
    if "oneOf" in node:
        node["anyOf"] = node["oneOf"]
    options = [option for option in node.get("anyOf", []) if option.get("type") != "null"]
    if len(options) < len(node.get("anyOf", [])):
        node["nullable"] = True
    if len(options) == 1:
        node = {**options[0], **{key: value for key, value in node.items() if key != "anyOf"}}
    elif options:
        node["anyOf"] = options
    return _limit_to_gemini(node)


def _limit_to_gemini(node: Schema) -> Schema:
    if "enum" in node:
        # Gemini's enums are texts.
        node = {**node, "enum": [str(value) for value in node["enum"]], "type": "string"}
    if "$ref" in node:
        node = {**node, "type": "object"}
    if node.get("format") not in _GEMINI_FORMATS:
        node = {key: value for key, value in node.items() if key != "format"}
    for bound, keyword in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if bound in node:
            node.setdefault(keyword, node[bound])
    if node.get("default", ...) is None:
        node.pop("default")
    return {key: value for key, value in node.items() if key in _GEMINI_KEYWORDS}


_RENDERERS: dict[DefinitionFormat, Callable[[CompiledTool, Schema, bool], dict[str, Any]]] = {
    "openai": _render_openai,
    "openai-responses": _render_openai_responses,
    "anthropic": _render_anthropic,
    "gemini": _render_gemini,
    "mcp": _render_mcp,
    "json_schema": _render_json_schema,
}
