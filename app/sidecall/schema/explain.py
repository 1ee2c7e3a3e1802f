"""Explain to a model which arguments it has to mend, without repeating what it sent."""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic_core import ErrorDetails, ValidationError

from sidecall.core.collector import without_collector
from sidecall.core.errors import MOST_FIELDS, FieldError
from sidecall.core.tool import Schema
from sidecall.schema.json_schema import describe, resolve

Loc = tuple[str | int, ...]

# Messages of pydantic that would speak of Python, or repeat a piece of what was sent, which may be a secret.
_MESSAGES: dict[str, Callable[[dict[str, Any]], str]] = {
    "dict_type": lambda _: "Input should be a JSON object",
    "model_type": lambda _: "Input should be a JSON object",
    "model_attributes_type": lambda _: "Input should be a JSON object",
    "dataclass_type": lambda _: "Input should be a JSON object",
    "path_type": lambda _: "Input should be a path",
    "zoneinfo_str": lambda _: "Input should be a valid time zone",
    "union_tag_invalid": lambda ctx: f"Field {ctx['discriminator']} must be one of {ctx['expected_tags']}",
    "uuid_parsing": lambda _: "Input should be a valid UUID",
    "url_parsing": lambda _: "Input should be a valid URL",
    "byte_size_unit": lambda _: "Input should be a number of bytes, or one with a unit such as KB or MiB",
}
# pydantic lists all its errors or none, and a hundred thousand take it 0.2 s.
_MOST_LISTED = 10_000
# Where custom types put what was sent; authors' own ValueErrors are theirs to word.
_QUOTING = ("value", "tag", "input_value")


def explain(detail: ErrorDetails) -> str:
    """Word one validation error; `detail` has to include the input."""
    context = detail.get("ctx", {})
    if detail["type"] in _MESSAGES:
        return _MESSAGES[detail["type"]](context)
    quoted = [context[key] for key in _QUOTING if key in context]
    return "Input is not valid" if detail["input"] in quoted else detail["msg"]


def first_details(error: ValidationError) -> list[ErrorDetails]:
    """List as many details as are told, and one more where there are more."""
    count = error.error_count()
    if count > _MOST_LISTED:
        return [{"type": "too_many_errors", "loc": (), "msg": f"{count:,} values do not fit", "input": None}]
    with without_collector():
        return error.errors(include_url=False)[: MOST_FIELDS + 1]


def field_errors(details: Sequence[ErrorDetails], schema: Schema) -> list[FieldError]:
    """Make one entry per error: the path, the rule, and what is allowed there."""
    return [_field_error(detail, schema) for detail in details]


def _field_error(detail: ErrorDetails, schema: Schema) -> FieldError:
    loc = list(detail["loc"])
    kind = detail["type"]
    message = explain(detail)
    if kind == "missing":
        wanted = schema_at(schema, loc)
        message = f"{message} ({describe(wanted)})" if wanted is not None else message
    elif kind == "extra_forbidden":
        message = no_such_argument(schema_at(schema, loc[:-1]))
    return {"loc": loc, "type": kind, "msg": message}


def no_such_argument(parent: Schema | None) -> str:
    """Say which arguments an object takes, to a model that sent another."""
    known = ", ".join(sorted((parent or {}).get("properties", {}))) or "none"
    return f"There is no such argument; the arguments are: {known}"


def schema_at(schema: Schema, loc: Sequence[str | int]) -> Schema | None:
    """Find the schema of the value at a path, None where the schema says nothing of it."""
    node: Any = schema
    for part in loc:
        node = resolve(node, schema)
        node = node.get("items") if isinstance(part, int) else node.get("properties", {}).get(part)
        if not isinstance(node, dict):
            return None
    return resolve(node, schema)


def is_free(schema: Schema, path: Loc) -> bool:
    """Tell whether the member at a path is an entry of an object with free keys, and not a field of its own."""
    nodes = _options(schema, schema)
    for part in path[:-1]:
        nodes = [option for node in nodes for inner in _inside(node, part) for option in _options(inner, schema)]
    if any(path[-1] in node.get("properties", {}) for node in nodes):
        return False
    return any(node.get("additionalProperties") or "patternProperties" in node for node in nodes)


def _options(node: Any, root: Schema) -> list[Schema]:
    """List what a schema may stand for: itself, and all that it joins or chooses from."""
    waiting, found = [node], []
    while waiting:
        one = waiting.pop()
        one = resolve(one, root) if isinstance(one, dict) else {}
        if one not in found:
            found.append(one)
            waiting.extend(option for keyword in ("anyOf", "oneOf", "allOf") for option in one.get(keyword, ()))
    return found


def _inside(node: Schema, part: str | int) -> list[Any]:
    if isinstance(part, int):
        listed = node.get("prefixItems", [])
        return [listed[part] if part < len(listed) else node.get("items")]
    if part in node.get("properties", {}):
        return [node["properties"][part]]
    return [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]


def data_path(data: Any, loc: Loc) -> Loc:
    """Reduce an error's location to a path in the data: unions put the name of the member tried in between."""
    path: list[str | int] = []
    for part in loc:
        is_key = isinstance(data, dict) and part in data
        is_index = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if is_key or is_index:
            path.append(part)
            data = data[part]
    return tuple(path)


def without(data: Any, path: Loc) -> Any:
    """Copy JSON data with the member at this path left out; an item of an array stays."""
    if not path or not isinstance(data, (dict, list)):
        return data
    head: Any = path[0]
    copy = data.copy()
    if len(path) > 1:
        copy[head] = without(data[head], path[1:])
    elif isinstance(copy, dict):
        copy.pop(head, None)
    return copy
