"""Generate example arguments from a JSON Schema."""

from typing import Any

from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.schema.describe import FORMATS

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
