"""Map pydantic's error locations to places in the data."""

from typing import Any, NamedTuple

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.paths import OF_KEYS
from sidecall.kernel.schema.references import resolve
from sidecall.kernel.schema.repair.entries import Path
from sidecall.kernel.schema.repair.members import find_tag, find_tagged, list_members
from sidecall.kernel.suggest.fuzzy_match import find_same

# Errors whose last step is not in the data.
ABSENT = frozenset("missing missing_argument missing_keyword_only_argument missing_positional_only_argument".split())


class Site(NamedTuple):
    """A place in the data, and its schema, if known.

    `kind` is the violated rule. `in_union` says that the place is a union of several members.
    """

    kind: str
    path: Path
    node: Schema | None
    value: Any
    in_union: bool = False


def locate(loc: tuple[str | int, ...], kind: str, data: Any, root: Schema) -> Site:
    """Follow a location through data and schema, skipping the labels of unions and validators."""
    path: list[str | int] = []
    node: Schema | None = root
    holder: Schema | None = None
    value = data
    for place, part in enumerate(loc):
        members = [] if node is None else list_members(node, root)
        if len(members) > 1 and node is not None:
            member = _find_declared(value, members, node)
            if member is None:
                return Site(kind, tuple(path), node, value, in_union=True)
            node, tag = member
            if part == tag:
                continue
        elif members:
            node = members[0]
        if part == OF_KEYS:
            node = None if holder is None else {"type": "string", **(holder.get("propertyNames") or {})}
            value = path[-1] if path else None
            continue
        holder = node
        is_last = place == len(loc) - 1
        if _is_inside(part, value) or (is_last and kind in ABSENT):
            path.append(part)
            node = None if node is None else _enter(node, part, root)
            value = value[part] if _is_inside(part, value) else None
    members = [] if node is None else list_members(node, root)
    return Site(kind, tuple(path), node, value, in_union=len(members) > 1 and kind not in ABSENT)


def _is_inside(part: str | int, value: Any) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


def _find_declared(value: Any, members: list[Schema], node: Schema) -> tuple[Schema, str] | None:
    """Find the union member whose declared tag an object carries."""
    if not isinstance(node.get("discriminator"), dict) or not isinstance(value, dict):
        return None
    tag = find_tag(members, node)
    member = None if tag is None else find_tagged(value, tag, members)
    return None if member is None or tag is None else (member, str(value[tag]))


def find_inner(node: Schema | None, part: str | int, root: Schema) -> Schema | None:
    """Return the schema of a member of an object or array, which may be nullable."""
    members = [] if node is None else list_members(node, root)
    return _enter(members[0], part, root) if len(members) == 1 else None


def _enter(node: Schema, part: str | int, root: Schema) -> Schema | None:
    if isinstance(part, int):
        listed = node.get("prefixItems", [])
        inner = listed[part] if part < len(listed) else node.get("items")
    else:
        properties = node.get("properties", {})
        # Aliases that the schema does not say are most often its names in other letters.
        name = part if part in properties else next(iter(find_same(part, properties)), part)
        inner = properties.get(name, node.get("additionalProperties"))
    return resolve(inner, root) if isinstance(inner, dict) else None
