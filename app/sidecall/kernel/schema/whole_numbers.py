"""Convert whole floats to ints where a JSON Schema wants integers: 3.0 and 1e3 are integers in JSON."""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.large_values import is_long
from sidecall.kernel.json_data.pointer import follow
from sidecall.kernel.schema.describe import list_needed
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


# Up to here a float is exactly the integer that it looks like.
_EXACT = 2**53

_HOLDING = (float, dict, list)

_KEYWORDS = ("type", "enum", "const", "multipleOf")
# Keywords by which the rules of a value stand in several schemas, or in another one for each value.
_BRANCHING = frozenset(
    "$ref $dynamicRef allOf anyOf oneOf if dependentSchemas patternProperties unevaluatedItems"
    " unevaluatedProperties".split()
)


def to_integer(number: float) -> int:
    """Convert a whole float to the integer that was written: 1e23, not the nearest that a float can be."""
    return int(number) if -_EXACT <= number <= _EXACT else int(Decimal(repr(number)))


def find_whole_floats(value: Any, path: Loc = ()) -> Iterator[Loc]:
    """Yield the paths of whole floats in JSON data."""
    if isinstance(value, float):
        if value.is_integer():
            yield path
        return
    members = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for step, item in members:
        if isinstance(item, _HOLDING):
            yield from find_whole_floats(item, (*path, step))


# How many values are evaluated at once, and how many members of a list or object.
_MOST_AT_ONCE = 1_000
_MEMBERS = 64


def make_integers(data: Any, flat: Schema, schema: Schema, evaluate: Callable[[Any], Any]) -> Any:
    """Copy valid JSON data with ints in place of whole floats, where the schema wants integers.

    Args:
        data: What fits.
        flat: The schema with references in place.
        schema: The schema as it was compiled.
        evaluate: Says what holds of each rule of that, as JSON Schema's "list" output.
    """
    paths = list(find_whole_floats(data))
    if not paths:
        return data
    asked = {path: _ask_plainly(flat, path) for path in paths}
    found = {path for path, is_integer in asked.items() if is_integer}
    unclear = [path for path, is_integer in asked.items() if is_integer is None]
    if unclear:
        for part, places in _cut_around(data, unclear):
            asked_here = _find_asked(list(places), evaluate(part)["details"], schema)
            found |= {places[path] for path in asked_here}
    return _replace(data, (), found, {path[:end] for path in found for end in range(len(path))}) if found else data


def _ask_plainly(node: Any, path: Loc) -> bool | None:
    """Return whether a schema wants an integer at a path; None if that depends on the data."""
    for step in path:
        if not isinstance(node, dict):
            return False
        if _is_branching(node):
            return None
        if isinstance(step, int):
            listed = node.get("prefixItems", ())
            node = listed[step] if step < len(listed) else node.get("items")
        else:
            node = node.get("properties", {}).get(step, node.get("additionalProperties"))
    if not isinstance(node, dict):
        return False
    options = node.get("anyOf", ())
    if len(node.keys() & _BRANCHING) == 1 and options:
        each = [_ask_member(it) for it in options]
        return None if None in each else True in each
    return None if _is_branching(node) else _wants_integer(node)


def _ask_member(node: Any) -> bool | None:
    if not isinstance(node, dict) or _is_branching(node):
        return None
    takes_others = "number" in node.get("type", "number")
    return True if _wants_integer(node) else None if takes_others else False


def _wants_integer(node: Schema) -> bool:
    return any(_is_whole(key, node[key]) for key in _KEYWORDS if key in node)


def _is_branching(node: Schema) -> bool:
    branching = node.keys() & _BRANCHING
    return bool(branching) and not all(key in ("anyOf", "oneOf") and list_needed(node[key]) for key in branching)


def _cut_around(data: Any, paths: list[Loc]) -> Iterator[tuple[Any, dict[Loc, Loc]]]:
    """Yield parts of large data with these paths, and each path in the part with that in the data.

    What is evaluated at once holds up all other threads, for 10 microseconds and more for each value.
    """
    if not is_long(data, _MOST_AT_ONCE):
        yield data, {path: path for path in paths}
        return
    groups: dict[Loc, dict[str | int, list[Loc]]] = {}
    for path in paths:
        depth = _find_large(data, path)
        groups.setdefault(path[:depth], {}).setdefault(path[depth] if depth < len(path) else "", []).append(path)
    for above, members in groups.items():
        steps = iter(members)
        while chosen := list(islice(steps, _MEMBERS)):
            part, is_list = _keep(data, above, chosen), isinstance(_follow(data, above), list)
            depth = len(above)
            yield (
                part,
                {
                    (*above, place if is_list else step, *path[depth + 1 :])[: len(path)]: path
                    for place, step in enumerate(chosen)
                    for path in members[step]
                },
            )


def _follow(data: Any, path: Loc) -> Any:
    for step in path:
        data = data[step]
    return data


def _find_large(data: Any, path: Loc) -> int:
    """Return how many steps lead to the first list or object with many members; the whole path if there is none."""
    for depth, step in enumerate(path):
        if len(data) > _MEMBERS:
            return depth
        data = data[step]
    return len(path)


def _keep(value: Any, above: Loc, chosen: list[str | int]) -> Any:
    """Copy data with these members of a list or object alone, and without what is large beside it."""
    if not above:
        if isinstance(value, list):
            return [value[int(step)] for step in chosen]
        return {step: value[step] for step in chosen} if isinstance(value, dict) else value
    if isinstance(value, list):
        return [_keep(it, above[1:], chosen) if place == above[0] else _lighten(it) for place, it in enumerate(value)]
    return {name: _keep(it, above[1:], chosen) if name == above[0] else _lighten(it) for name, it in value.items()}


def _lighten(value: Any) -> Any:
    return type(value)() if isinstance(value, dict | list) and is_long(value, _MEMBERS) else value


def _find_asked(paths: list[Loc], units: list[Any], schema: Schema) -> set[Loc]:
    broken = {unit["evaluationPath"] for unit in units if not unit["valid"]}
    places = {_write_pointer(path): path for path in paths}
    found: set[Loc] = set()
    for unit in units:
        path = places.get(unit["instanceLocation"])
        if path is None or path in found or not _holds(unit["evaluationPath"], broken):
            continue
        reference = "#" + unit["schemaLocation"].rpartition("#")[2]
        keyword = reference.rpartition("/")[2]
        if keyword in _KEYWORDS and _is_whole(keyword, follow(reference, schema)):
            found.add(path)
    return found


def _replace(value: Any, path: Loc, found: set[Loc], above: set[Loc]) -> Any:
    if path in found:
        return to_integer(value)
    if path not in above:
        return value
    if isinstance(value, list):
        return [_replace(item, (*path, index), found, above) for index, item in enumerate(value)]
    return {name: _replace(item, (*path, name), found, above) for name, item in value.items()}


def _is_whole(keyword: str, said: Any) -> bool:
    """Return whether a rule that a whole number satisfies is one of integers."""
    if keyword == "type":
        return said == "integer" or (isinstance(said, list) and "integer" in said and "number" not in said)
    values = said if keyword == "enum" and isinstance(said, list) else [said]
    return any(isinstance(it, int) and not isinstance(it, bool) for it in values)


def _holds(path: str, broken: set[str]) -> bool:
    """Return whether neither a rule nor a parent rule is violated, as in union members."""
    while path:
        if path in broken:
            return False
        path = path.rpartition("/")[0]
    return True


def _write_pointer(path: Loc) -> str:
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)
