"""Find the errors of a value by its JSON Schema; for a union, those of the best-fitting member."""

from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.describe import list_keys
from sidecall.kernel.schema.references import resolve
from sidecall.kernel.schema.repair.entries import Path, make_choice, make_invalid, make_missing, suggest
from sidecall.kernel.schema.repair.fitting import has_fitting_type, is_listed, keeps_bounds
from sidecall.kernel.schema.repair.members import choose_member, find_tag, find_tagged, list_options, list_tags

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
