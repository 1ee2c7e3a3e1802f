"""Format violations of JSON Schema rules."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.all_of import join, join_all
from sidecall.kernel.schema.describe import add_article, describe, join_choices, limit_items, list_needed
from sidecall.kernel.schema.errors.entries import (
    Path,
    list_members,
    list_options,
    make_invalid,
    make_key,
    make_missing,
    make_unknown,
)
from sidecall.kernel.schema.errors.validation_errors import Site, ValidationErrors, find_inner

_UNIONS = frozenset(("anyOf", "oneOf"))
# Rules by which a value is another kind of thing.
_OF_TYPE = frozenset(("type", "const", "enum"))
# Where a schema has others for the members of its values.
_OF_NAMES = frozenset(("additionalProperties", "unevaluatedProperties", "propertyNames"))


def find_rule(error: Any, schemas: Sequence[Schema]) -> Schema | None:
    """Return the schema whose keyword an error is about; None if it is in none of these."""
    steps = list(error.schema_path)
    if error.kind.name == "propertyNames":
        steps = steps[: len(steps) - steps[::-1].index("propertyNames")]
    for schema in schemas:
        node: Any = schema
        for step in steps[:-1]:
            is_inside = isinstance(node, dict) or (isinstance(step, int) and isinstance(node, list))
            node = node.get(step) if isinstance(node, dict) else node[step] if is_inside and step < len(node) else None
        if isinstance(node, dict) and steps and steps[-1] in node:
            return node
    return None


def add_rule(node: Schema | None, rule: Schema | None, keyword: str, root: Schema) -> Schema | None:
    """Combine a place's schema with the violated rule, which may be in another schema."""
    if node is None or rule is None:
        return node or rule
    node = join_all(node)
    if keyword in node and node[keyword] == rule.get(keyword):
        return node
    members = list_members(node, root)
    # Of a union it is the rule of one member.
    shared = {key: value for key, value in node.items() if key not in _UNIONS}
    made: Schema = join(join_all(rule), join_all(members[0]) if len(members) == 1 else shared)
    return made


def format_rule(error: Any, locate: Callable[[Any], Site], root: Schema) -> list[FieldError]:
    """Make the entries of one validator error; `locate` finds the place of any of its errors."""
    site = locate(error)
    word = _WORDS.get(error.kind.name)
    found = [] if word is None else word(error, site, root)
    if not found and error.kind.name in _UNIONS:
        found = [entry for it in _choose_branch(error) for entry in format_rule(it, locate, root)]
    return found or [make_invalid(site.path, error.kind.name, site.node or {}, root, site.value)]


def _choose_branch(error: Any) -> list[Any]:
    """Select the errors of the only union member whose type a value has; none if there are several."""
    fitting = [
        faults
        for faults in error.kind.context
        if not any(_is_of_type(it) and it.instance_path == error.instance_path for it in faults)
    ]
    return fitting[0] if len(fitting) == 1 else []


def _is_of_type(error: Any) -> bool:
    """Return whether a value has another type than the schema expects."""
    is_false = error.kind.name == "falseSchema" and error.schema_path[-2:-1] in (["anyOf"], ["oneOf"])
    return is_false or error.kind.name in _OF_TYPE


def _format_missing(error: Any, site: Site, root: Schema) -> list[FieldError]:
    name, node = error.kind.property, site.node or {}
    needing = {**node.get("dependentRequired", {}), **node.get("dependencies", {})}
    causes = [it for it, names in needing.items() if it in site.value and isinstance(names, list) and name in names]
    is_always = name in node.get("required", ()) or not causes
    reason = "" if is_always else f" where {causes[0]} is sent"
    return [make_missing((*site.path, name), find_inner(site.node, name, root) or {}, root, reason)]


def _format_unknown(error: Any, site: Site, root: Schema) -> list[FieldError]:
    node = site.node or {}
    free = node.get("unevaluatedProperties")
    if isinstance(free, dict) and error.kind.name == "unevaluatedProperties":
        each = [(name, site.value[name]) for name in error.kind.unexpected]
        return [make_invalid((*site.path, name), error.kind.name, free, root, value) for name, value in each]
    return [_refuse_name((*site.path, name), node, root) for name in error.kind.unexpected]


def _refuse_name(path: Path, node: Schema, root: Schema) -> FieldError:
    names = {name: None for it in list_options(node, root) for name in {**node, **it}.get("properties", {})}
    patterns = [f"any that match {pattern}" for pattern in node.get("patternProperties", ())]
    return make_unknown(path, [*names, *patterns])


def _format_key(error: Any, site: Site, root: Schema) -> list[FieldError]:
    del root
    path = (*site.path, str(error.kind.error.instance))
    names = (site.node or {}).get("propertyNames", {})
    return [make_key(path, error.kind.name, describe({"type": "string", **names}))]


def _format_nothing(error: Any, site: Site, root: Schema) -> list[FieldError]:
    """Format the error for forbidden names or items, or for a condition that must not hold."""
    *_, last = error.schema_path or [""]
    node = site.node or {}
    if last in _OF_NAMES and isinstance(site.value, Mapping):
        return [
            _refuse_name((*site.path, name), node, root)
            for name in site.value
            if name not in node.get("properties", {})
        ]
    if last in ("items", "unevaluatedItems") and site.path:
        most = limit_items(int(site.path[-1]))
        return [{"loc": list(site.path), "type": error.kind.name, "msg": f"send {most}", "expected": most}]
    if last in ("then", "else") and isinstance(node.get("if"), dict):
        plain = {key: it for key, it in node.items() if key not in ("if", "then", "else")}
        wanted = {**plain, "not": node["if"]} if last == "then" else join(node["if"], plain)
        return [make_invalid(site.path, error.kind.name, wanted, root, site.value)]
    if "dependentSchemas" in error.schema_path[-2:-1]:
        return [make_invalid((*site.path, last), error.kind.name, {"not": {}}, root)]
    return [make_invalid(site.path, error.kind.name, {"not": {}}, root)]


def _format_union(error: Any, site: Site, root: Schema) -> list[FieldError]:
    node = site.node or {}
    options = node.get(error.kind.name, ())
    fits_several = error.kind.name == "oneOf" and any(not faults for faults in error.kind.context)
    needed = list_needed(options)
    if needed:
        said = join_choices(needed)
        only = ", only one of these" if fits_several and len(needed) > 2 else ", not both" if fits_several else ""
        wanted = f"{said}{only}"
        return [{"loc": list(site.path), "type": "union", "msg": f"send {wanted}", "expected": wanted}]
    if fits_several:
        each = [add_article(describe(it)) for it in options if isinstance(it, dict)]
        wanted = f"only one of these: {'; '.join(dict.fromkeys(each))}"
        return [{"loc": list(site.path), "type": "union", "msg": f"Input should be {wanted}", "expected": wanted}]
    return ValidationErrors(root).find(site.value, _spread(node, options), site.path)


def _spread(node: Schema, options: Sequence[Any]) -> Schema:
    """Copy the shared rules of an object into each member of its union."""
    if "properties" not in node:
        return node
    shared = {key: value for key, value in node.items() if key not in _UNIONS}
    return {"anyOf": [join_all({"allOf": [it, shared]}) for it in options if isinstance(it, dict)]}


_WORDS = {
    "required": _format_missing,
    "additionalProperties": _format_unknown,
    "unevaluatedProperties": _format_unknown,
    "propertyNames": _format_key,
    "falseSchema": _format_nothing,
    "anyOf": _format_union,
    "oneOf": _format_union,
}
