"""Find the errors of a value by its JSON Schema; for a union, those of the best-fitting member."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.describe import list_keys
from sidecall.kernel.schema.errors.entries import (
    Path,
    choose_member,
    find_tag,
    find_tagged,
    list_members,
    list_options,
    list_tags,
    make_choice,
    make_invalid,
    make_missing,
    suggest,
)
from sidecall.kernel.schema.errors.fitting import has_fitting_type, is_listed, keeps_bounds
from sidecall.kernel.schema.references import resolve
from sidecall.kernel.schema.whole_numbers import OF_KEYS, drop_member, is_free
from sidecall.kernel.suggest.fuzzy_match import find_same

# Values that are looked at; members of unions within unions multiply.
_MOST_LOOKS = 1_000


class ValidationErrors:
    """Finds values that do not fit, by pydantic's JSON rules; unknown names are ignored."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = _MOST_LOOKS

    def find(self, value: Any, schema: Any, path: Path) -> list[FieldError]:
        """List the errors; empty if everything fits or the schema is not understood."""
        self._left -= 1
        if not isinstance(schema, dict) or self._left < 0:
            return []
        node = resolve(schema, self._root)
        options = list_options(node, self._root)
        if len(options) > 1:
            return self.explain_union(value, node, path)
        node = options[0] if options else node
        if not has_fitting_type(value, node) or not is_listed(value, node):
            return [make_invalid(path, "type" if "type" in node else "enum", node, self._root, value)]
        if not keeps_bounds(value, node):
            return [make_invalid(path, "value", node, self._root, value)]
        return self._look_inside(value, node, path)

    def _look_inside(self, value: Any, node: Schema, path: Path) -> list[FieldError]:
        found: list[FieldError] = []
        members: list[tuple[str | int, Any, Any]] = []
        if isinstance(value, dict):
            properties = node.get("properties", {})
            missing = [name for name in node.get("required", ()) if name not in value]
            found = [self._miss((*path, name), properties.get(name)) for name in missing]
            free = node.get("additionalProperties")
            members = [(name, item, properties.get(name, free)) for name, item in value.items()]
        elif isinstance(value, list):
            listed, rest = node.get("prefixItems", []), node.get("items")
            schemas = [*listed, *[rest] * (len(value) - len(listed))]
            members = [(index, item, inner) for index, (item, inner) in enumerate(zip(value, schemas, strict=False))]
        for step, item, inner in members:
            if len(found) > MOST_FIELDS or self._left < 0:
                break
            found += self.find(item, inner, (*path, step))
        return found

    def _miss(self, path: Path, inner: Any) -> FieldError:
        return make_missing(path, resolve(inner, self._root) if isinstance(inner, dict) else None, self._root)

    def explain_union(self, value: Any, node: Schema, path: Path) -> list[FieldError]:
        """List the errors of a value that fits no union member: those of the likely member, or the alternatives."""
        options = list_options(node, self._root)
        tag = find_tag(options, node)
        if tag is not None and isinstance(value, dict):
            return self._explain_tagged(value, tag, options, path)
        fitting = [option for option in options if has_fitting_type(value, option)]
        best = choose_member(value, fitting)
        likely = (_list_by_inside(value, fitting, self._root) or fitting) if best is None else [best]
        found = [self.find(value, option, path) for option in likely]
        if len(likely) == 1:
            return found[0]
        if any(not misfits and _knows_keys(value, it) for it, misfits in zip(likely, found, strict=True)):
            return []
        # An error of each of them is an error for any member that was meant.
        is_said = bool(value) and bool(found) and all(misfits == found[0] for misfits in found)
        return found[0] if is_said and found[0] else [self._list_members(value, options, path)]

    def _list_members(self, value: Any, options: Sequence[Schema], path: Path) -> FieldError:
        objects = [option for option in options if "properties" in option]
        if isinstance(value, dict) and len(objects) > 1:
            keys = list(dict.fromkeys(list_keys(option) for option in objects))
            said = f"either {' or '.join(keys)}"
            return {"loc": list(path), "type": "union", "msg": f"send {said}", "expected": said, "allowed": keys}
        return make_invalid(path, "union", {"anyOf": list(options)}, self._root, value)

    def _explain_tagged(
        self, value: Mapping[str, Any], tag: str, options: Sequence[Schema], path: Path
    ) -> list[FieldError]:
        member = find_tagged(value, tag, options)
        if member is not None:
            return self.find(value, member, path)
        tags = [it for option in options for it in list_tags(option, tag)]
        if not tags:  # What a document of OpenAPI maps them to is no part of its schemas.
            return [self._list_members(value, options, path)]
        if tag in value:
            entry = make_choice((*path, tag), "union_tag_invalid", tags, value[tag])
            if "suggestion" in entry:
                return [entry]
        elif any(key in option.get("properties", {}) for key in value for option in options):
            entry = make_missing((*path, tag), {"enum": tags}, self._root)
        else:
            return [self._list_members(value, options, path)]
        # What else was sent may show which member was meant.
        likely = choose_member({key: value[key] for key in value if key != tag}, options)
        meant = [] if likely is None else list_tags(likely, tag)
        return [suggest(entry, meant[0]) if len(meant) == 1 else entry]


def _list_by_inside(value: Any, options: Sequence[Schema], root: Schema) -> list[Schema]:
    """List the options for arrays with items of the sent shape, or for objects with free keys if no key is known."""
    if isinstance(value, list):
        return [it for it in options if all(_is_item(item, it.get("items"), root) for item in value)]
    if isinstance(value, dict) and not any(key in it.get("properties", ()) for it in options for key in value):
        return [it for it in options if it.get("additionalProperties")]
    return []


def _is_item(value: Any, schema: Any, root: Schema) -> bool:
    return any(has_fitting_type(value, it) and _knows_keys(value, it) for it in list_options(schema, root))


def _knows_keys(value: Any, option: Schema) -> bool:
    """Return whether a member accepts all keys of a value."""
    properties = option.get("properties")
    return properties is None or not isinstance(value, dict) or all(key in properties for key in value)


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


def find_nulls(site: Site, root: Schema) -> list[Site]:
    """List the nulls that the likely union member refuses and does not require."""
    if not _holds_null(site.value):
        return []
    value, start = site.value, len(site.path)
    entries = ValidationErrors(root).find(value, site.node, site.path)
    paths = [
        path for path in (tuple(it["loc"]) for it in entries) if len(path) > start and _is_null(value, path[start:])
    ]
    for path in paths:
        value = drop_member(value, path[start:])
    left = ValidationErrors(root).find(value, site.node, site.path)
    wanted = {tuple(it["loc"]) for it in left if it["type"] == "missing"}
    return [Site("type", path, None, None) for path in paths if path not in wanted and not is_free(root, path)]


def _holds_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(it is None or _holds_null(it) for it in inner)


def _is_null(value: Any, path: Path) -> bool:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):  # What is missing there.
            return False
    return value is None
