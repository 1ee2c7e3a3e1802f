"""Use a served tool in examples where the default one is not served."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.pipeline.hooks import is_permitted
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.describe import FORMATS
from sidecall.kernel.schema.forms.definitions import DefinitionFormat, has_form, render_definitions
from sidecall.rest.examples import EXAMPLES

_NAME = EXAMPLES["langchain"]["name"]

_ARGS = EXAMPLES["langchain"]["args"]
# What examples have of tools: names, arguments as they are and as text, and results.
_NAMES = (_NAME, "delete_order")

_ALL_ARGS = (_ARGS, {"order": 7}, {"order": 8})

_TEXT = json.dumps(_ARGS)

_RESULTS = ("42", "Deleted order 7.")
# Examples that say nothing about another tool.
_OTHERS = frozenset({"clock", "failure", "turn"})

_FORMS: tuple[DefinitionFormat, ...] = ("openai", "anthropic", "gemini")  # of listings


@contextmanager
def naming_served(registry: Registry, caller: Caller) -> Iterator[None]:
    """Replace the tool in a refusal's example by one that is served.

    Raises:
        NotAToolCall: What is done within has raised it.
    """
    try:
        yield
    except NotAToolCall as error:
        name_served(error, registry, caller)
        raise


def name_served(error: NotAToolCall, registry: Registry, caller: Caller) -> None:
    """Replace the tool in a refusal's example by one that its caller may see."""
    tool = _choose_tool(registry, caller)
    if tool is not None and "example" in error.members:
        error.members = {**error.members, "example": _rewrite(error.members["example"], tool)}


def show_served(document: dict[str, Any], registry: Registry) -> dict[str, Any]:
    """Return the OpenAPI document with examples for a served tool."""
    tool = _choose_tool(registry, ANONYMOUS)
    return document if tool is None else {**document, "paths": _rewrite_examples(document["paths"], tool)}


def _choose_tool(registry: Registry, caller: Caller) -> CompiledTool | None:
    """Choose the tool for examples; None if the default one is served, or no tool is visible to everyone."""
    known = registry.get(_NAME)
    if known is not None and _ARGS.keys() == known.args_schema.flat.get("properties", {}).keys():
        return None
    return next((tool for tool in registry if tool.options.is_for_all and is_permitted(tool, caller)), None)


def _rewrite(value: Any, tool: CompiledTool) -> Any:
    if value in _ALL_ARGS:
        return make_arguments(tool)
    if isinstance(value, dict):
        return {key: _rewrite(item, tool) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewrite(item, tool) for item in value]
    if value == _TEXT:
        return json.dumps(make_arguments(tool), ensure_ascii=False)
    if value in _NAMES:
        return tool.name
    return "What the tool returned." if value in _RESULTS else value


def _rewrite_examples(node: Any, tool: CompiledTool) -> Any:
    if isinstance(node, list):
        return [_rewrite_examples(item, tool) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _rewrite_each(value, tool)
        if key == "examples" and isinstance(value, dict)
        else _rewrite_examples(value, tool)
        for key, value in node.items()
    }


def _rewrite_each(examples: dict[str, Any], tool: CompiledTool) -> dict[str, Any]:
    """Rewrite the named examples of one place; a listing shows the tool itself."""
    kept = {name: {**it, "value": _rewrite(it["value"], tool)} for name, it in examples.items() if name not in _OTHERS}
    for form in _FORMS:
        if kept.get(form, {}).get("summary") == f"format={form}" and has_form(form):
            kept[form]["value"] = render_definitions([tool], form)
    return kept


# Below this, what is asked for is too much for an example.
_DEEPEST = 4


def make_arguments(tool: CompiledTool) -> Any:
    """Return sample arguments of a tool, from its schema."""
    return make_sample({**tool.args_schema.flat, "type": "object"})


def make_sample(schema: Schema, depth: int = 0) -> Any:
    """Return a sample value of a schema: the author's example, else the simplest value."""
    for shown in ("examples", "enum"):
        if schema.get(shown):
            return schema[shown][0]
    for shown in ("const", "default"):
        if shown in schema:
            return schema[shown]
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options and "type" not in schema:
        return make_sample(options[0], depth)
    kind = schema.get("type")
    return _make(kind[0] if isinstance(kind, list) else kind, schema, depth)


def _make(kind: str | None, schema: Schema, depth: int) -> Any:
    if kind in ("integer", "number"):
        return _make_number(schema)
    if kind == "array":
        least = min(schema.get("minItems", 0), 3) if depth < _DEEPEST else 0
        items = schema.get("items")
        return [make_sample(items if isinstance(items, dict) else {}, depth + 1) for _ in range(least)]
    if kind == "object":
        wanted = schema.get("required", ()) if depth < _DEEPEST else ()
        return {name: make_sample(schema.get("properties", {}).get(name, {}), depth + 1) for name in wanted}
    return {"boolean": True, "null": None}.get(kind or "", _make_text(schema))


def _make_number(schema: Schema) -> Any:
    step = schema.get("multipleOf", 1)
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + step if "exclusiveMinimum" in schema else step)
    most = schema.get("maximum", schema.get("exclusiveMaximum", least + step) - step)
    return min(least, max(most, schema.get("minimum", most)))


def _make_text(schema: Schema) -> str:
    said = FORMATS.get(schema.get("format", ""), "")
    text = said.partition(", such as ")[2] or "text"
    return text.ljust(min(schema.get("minLength", 0), 100), "x")[: schema.get("maxLength")]
