"""Find, replace and remove what is at a path in a schema or in JSON data."""

from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import resolve

Loc = tuple[str | int, ...]
# The last step of what pydantic says of a key.
OF_KEYS = "[key]"


def is_free(schema: Schema, path: Loc) -> bool:
    """Return whether the member at a path is an entry of an object with free keys, not a declared property."""
    nodes = list_schemas_at(schema, path[:-1])
    if any(path[-1] in node.get("properties", {}) for node in nodes):
        return False
    return any(node.get("additionalProperties") or "patternProperties" in node for node in nodes)


def list_schemas_at(schema: Schema, path: Loc) -> list[Schema]:
    """List the schemas that may apply to the value at a path, with their combined schemas and options."""
    nodes = _list_options(schema, schema)
    for part in path:
        nodes = [
            option
            for node in nodes
            for inner in _step_into(node, part)
            if isinstance(inner, dict)
            for option in _list_options(inner, schema)
        ]
    return nodes


def _list_options(node: Any, root: Schema) -> list[Schema]:
    """List a schema, and all that it combines or chooses from."""
    waiting, found = [node], []
    while waiting:
        one = waiting.pop()
        one = resolve(one, root) if isinstance(one, dict) else {}
        if one not in found:
            found.append(one)
            waiting.extend(option for keyword in ("anyOf", "oneOf", "allOf") for option in one.get(keyword, ()))
    return found


def _step_into(node: Schema, part: str | int) -> list[Any]:
    if isinstance(part, int):
        listed = node.get("prefixItems", [])
        return [listed[part] if part < len(listed) else node.get("items")]
    if part in node.get("properties", {}):
        return [node["properties"][part]]
    return [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]


def reduce_to_data(data: Any, loc: Loc) -> Loc:
    """Reduce an error's location to a path in the data: unions insert the name of the tried member."""
    path: list[str | int] = []
    for part in loc:
        is_key = isinstance(data, dict) and part in data
        is_index = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if is_key or is_index:
            path.append(part)
            data = data[part]
    return tuple(path)


def drop_member(data: Any, path: Loc) -> Any:
    """Copy JSON data without the member at this path; an array's item stays."""
    if not path or not isinstance(data, (dict, list)):
        return data
    head: Any = path[0]
    copy = data.copy()
    if len(path) > 1:
        copy[head] = drop_member(data[head], path[1:])
    elif isinstance(copy, dict):
        copy.pop(head, None)
    return copy


def replace_member(data: Any, path: Loc, inner: Any) -> Any:
    """Copy JSON data with another value at this path."""
    if not path:
        return inner
    head: Any = path[0]
    copy = data.copy()
    copy[head] = replace_member(data[head], path[1:], inner)
    return copy
