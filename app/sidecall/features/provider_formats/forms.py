"""The forms in which other APIs than Chat Completions take definitions of tools."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sidecall.features.provider_formats.anthropic import (
    MAX_OPTIONAL,
    MAX_UNIONS,
    count_loose,
    is_recursive,
    rename_arguments,
    to_anthropic,
)
from sidecall.features.provider_formats.gemini import to_gemini
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.ports.approvals.questions import Questions
from sidecall.kernel.schema.forms.definitions import (
    DefinitionFormat,
    Form,
    Listed,
    choose_flat,
    describe_tool,
    describe_with_choice,
    render_function,
)
from sidecall.kernel.schema.forms.one_object import has_choice
from sidecall.kernel.schema.forms.strict import find_strict_obstacles


def _render_openai_responses(
    tool: CompiledTool, parameters: Schema, strict: bool, _questions: Questions
) -> dict[str, Any]:
    if tool.declaration is not None:
        return dict(tool.declaration)
    extras = tool.options.extras
    said = {wire: extras[name] for name, wire in _SAID_TO_RESPONSES.items() if name in extras}
    # Without it the model's turn waits for an answer that comes later.
    if tool.options.background:
        said.setdefault("async", True)
    # The Responses API turns strict mode on by itself unless it is told not to.
    return {"type": "function", **render_function(tool, parameters, strict), "strict": strict, **said}


# The extras that the Responses API has a place for.
_SAID_TO_RESPONSES = {
    "defer_loading": "defer_loading",
    "allowed_callers": "allowed_callers",
    "async": "async",
    "output_json_schema": "output_schema",
}


def _group(listed: list[Listed]) -> list[dict[str, Any]]:
    """Group the tools of a namespace at the position of the first one."""
    grouped: dict[int | str, dict[str, Any]] = {}
    for number, one in enumerate(listed):
        space = one.tool.options.extras.get("tool_namespace")
        if space is None:
            grouped[number] = one.definition
        else:
            grouped.setdefault(space["name"], {"type": "namespace", **space, "tools": []})["tools"].append(
                one.definition
            )
    return list(grouped.values())


def _render_anthropic(tool: CompiledTool, parameters: Schema, strict: bool, _questions: Questions) -> dict[str, Any]:
    schema = rename_arguments(parameters)
    definition = {"name": tool.name, "description": describe_with_choice(tool), "input_schema": schema}
    return {**definition, "strict": True} if strict else definition


# Strict tools of one request that Anthropic takes.
_MAX_TOOLS = 20


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


def _render_mcp(tool: CompiledTool, parameters: Schema, strict: bool, questions: Questions) -> dict[str, Any]:
    # Its strict form lets arguments be null, which none may be that a header repeats.
    schema = parameters if strict and not tool.mirrored else tool.args_schema.flat
    definition: dict[str, Any] = {"name": tool.name, "description": describe_tool(tool), "inputSchema": schema}
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


def _render_gemini(tool: CompiledTool, parameters: Schema, _strict: bool, _questions: Questions) -> dict[str, Any]:
    declaration: dict[str, Any] = {"name": tool.name, "description": describe_with_choice(tool)}
    if (written := to_gemini(parameters, reads_numbers=not has_choice(tool.args_schema.flat))) is not None:
        declaration["parameters"] = written
    return declaration


def _join_functions(listed: list[Listed]) -> list[dict[str, Any]]:
    functions = [it.definition for it in listed if not it.is_declared]
    others = [it.definition for it in listed if it.is_declared]
    return ([{"functionDeclarations": functions}] if functions else []) + others


FORMS: Mapping[DefinitionFormat, Form] = {
    "openai-responses": Form(render=_render_openai_responses, has_hosted=True, gather=_group),
    "anthropic": Form(render=_render_anthropic, to_strict=to_anthropic, limit=_limit),
    "gemini": Form(render=_render_gemini, gather=_join_functions),
    "mcp": Form(render=_render_mcp, has_choices=True),
}
