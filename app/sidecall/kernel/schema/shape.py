"""Clean up pydantic's schemas for tool arguments."""

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import inline_root, resolve
from sidecall.kernel.schema.walk import map_children, walk


def strip_titles(schema: Schema) -> Schema:
    """Drop every `title`, which pydantic adds and models do not need; a property of that name stays."""
    return map_children({key: value for key, value in schema.items() if key != "title"}, strip_titles)


def require_tags(schema: Schema) -> Schema:
    """Require the tag in each member of a discriminated union, since pydantic needs it even if it has a default."""
    unions = [node for _, node in walk(schema) if isinstance(node.get("discriminator"), dict)]
    tagged = [
        (union["discriminator"].get("propertyName"), resolve(option, schema))
        for union in unions
        for option in union.get("oneOf", ())
    ]
    for tag, option in tagged:
        if tag in option.get("properties", {}) and tag not in option.get("required", ()):
            option["required"] = [*option.get("required", ()), tag]
    return schema


def shape_arguments(schema: Schema, hidden: frozenset[str]) -> Schema:
    """Clean up a model's schema for a tool's arguments: an object without description and hidden fields."""
    schema = inline_root(schema)  # A model that contains itself is a bare reference.
    properties = {name: value for name, value in schema.get("properties", {}).items() if name not in hidden}
    required = [name for name in schema.get("required", []) if name not in hidden]
    said = ("type", "properties", "required", "description")
    rest = {key: value for key, value in schema.items() if key not in said}
    return {"type": "object", "properties": properties, **({"required": required} if required else {}), **rest}
