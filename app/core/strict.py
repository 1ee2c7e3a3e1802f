"""Say a schema in OpenAI's strict form, or say why that cannot be done."""

from collections.abc import Iterator
from typing import Any

from app.core.json_schema import Schema, describe, map_children, walk

# Keywords the API refuses in strict mode; what they say goes into the description instead.
_REFUSED = ("default", "uniqueItems", "prefixItems", "discriminator")


def strict_obstacles(schema: Schema) -> list[str]:
    """List what keeps a schema from being said strictly; an empty list means that nothing does."""
    return [f"{path or 'arguments'}: {reason}" for path, node in walk(schema) for reason in _obstacles(node)]


def _obstacles(node: Schema) -> Iterator[str]:
    is_open = node.get("type") == "object" and "properties" not in node
    if is_open or node.get("additionalProperties") not in (None, False):
        yield "strict mode has no objects with free keys (dict, **kwargs)"
    if not node.keys() & {"type", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "properties"}:
        yield "strict mode needs a type (Any or no annotation)"
    if "prefixItems" in node:
        yield "strict mode has no tuples; use a list or a model"
    if len(node.get("allOf", ())) > 1 or "not" in node or "patternProperties" in node:
        yield "strict mode has neither allOf nor not nor patternProperties"


# The formats that strict mode takes; others are refused with 400.
_FORMATS = frozenset("date-time time date duration email hostname ipv4 ipv6 uuid".split())


def to_strict(schema: Schema) -> Schema:
    """Rewrite a schema without obstacles: every property required, optional ones nullable, objects closed.

    A model that leaves an optional parameter out sends null for it, which the server reads as "not given".
    """
    node = map_children(schema, to_strict)
    if "oneOf" in node:
        node["anyOf"] = [*node.get("anyOf", []), *node.pop("oneOf")]
    node = _with_notes(node)
    if "$ref" in node and len(node) > 1:
        # Nothing may stand beside a reference.
        return {"anyOf": [{"$ref": node["$ref"]}], **{key: value for key, value in node.items() if key != "$ref"}}
    properties = node.get("properties")
    if node.get("type") == "object" or properties is not None:
        required = set(node.get("required", ()))
        closed = {name: value if name in required else _nullable(value) for name, value in (properties or {}).items()}
        node = {**node, "type": "object", "properties": closed, "required": list(closed), "additionalProperties": False}
    return node


def _with_notes(node: Schema) -> Schema:
    refused = [key for key in node if key in _REFUSED or (key == "format" and node[key] not in _FORMATS)]
    notes = [_note(key, node[key]) for key in refused]
    kept = {key: value for key, value in node.items() if key not in refused}
    said = [note for note in notes if note]
    texts = [_sentence(text) if said else text for text in (node.get("description"), *said) if text]
    return {**kept, "description": " ".join(texts)} if texts else kept


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _note(key: str, value: Any) -> str:
    if key == "default":
        return "" if value is None else f"Default: {describe({'const': value})}."
    if key == "format":
        return f"Format: {value}."
    return "Items are unique." if key == "uniqueItems" else ""


def _nullable(schema: Schema) -> Schema:
    if schema.get("type") == "null" or any(option.get("type") == "null" for option in schema.get("anyOf", ())):
        return schema
    outer = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return {"anyOf": [*(inner["anyOf"] if inner.keys() == {"anyOf"} else [inner]), {"type": "null"}], **outer}
