"""Expand a JSON Schema into choices: schemas of one type each, without references and combinations."""

from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow, split_reference
from sidecall.kernel.schema.describe import write_literal
from sidecall.kernel.schema.forms.merging import list_values, meet, name_type
from sidecall.kernel.schema.forms.one_object import join_root

# What only describes: of an option it stays with the option, of the whole with the whole.
ANNOTATIONS = ("title", "description", "default")
_COMBINING = frozenset(("$ref", "allOf", "anyOf", "oneOf"))
# The keywords of what has no type, but means one.
_HINTS = {
    "object": frozenset(
        "properties required additionalProperties patternProperties minProperties maxProperties".split()
    ),
    "array": frozenset("items prefixItems minItems maxItems uniqueItems contains".split()),
    "string": frozenset("minLength maxLength pattern format".split()),
    "number": frozenset("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split()),
}
_ALL = ("string", "number", "boolean", "array", "object", "null")
# How many choices one place may have; how many references of one schema are put in place, and how many inside of each
# other: a few that lead to each other can make thousands.
_MOST_CHOICES = 50
_MOST_UNFOLDED = 100
_MOST_INSIDE = 3
# How much else may stand in an option that says only which names have to be there.
_BESIDE_NAMES = frozenset(("type", "required", *ANNOTATIONS))


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice for a value, the references that it is inside of, and notes in words."""

    schema: Schema
    inside: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


class Breaker:
    """Expands the schemas inside one root, to which their references point."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = _MOST_UNFOLDED

    def list_choices(self, schema: Any, inside: frozenset[str], *, reads_numbers: bool) -> list[Choice]:
        """List the choices of a schema, each with one `type`, `enum` instead of `const`, and only values of its type.

        Args:
            schema: A schema, True or False.
            inside: The references whose targets it stands in: what refers to itself is put in place once.
            reads_numbers: Whether texts stand for a choice of numbers, where nothing else can be meant by them.
        """
        found = [part for choice in self._combine(schema, inside) for part in _split(choice)]
        if not reads_numbers or not _lists_values(schema):
            return found
        return _join_texts([_write_texts(choice) for choice in found])

    def _combine(self, schema: Any, inside: frozenset[str]) -> list[Choice]:
        """Multiply the choices of a schema's combinations, since each of them must hold."""
        if isinstance(schema, bool):
            return [Choice({}, inside)] if schema else []
        node: Schema = schema if isinstance(schema, dict) else {}
        if node.get("not", False) in (True, {}):
            return []
        node, notes = _join_names(node)
        found = [Choice(_write_own(node), inside, notes)]
        for part in _list_parts(node, "allOf"):
            found = _multiply(found, self._combine(part, inside))
        if isinstance(node.get("$ref"), str):
            found = _multiply(found, self._unfold(node["$ref"], inside))
        for keyword in ("anyOf", "oneOf"):
            if options := _list_parts(node, keyword):
                found = _multiply([choice for option in options for choice in self._combine(option, inside)], found)
        return found

    def _unfold(self, reference: str, inside: frozenset[str]) -> list[Choice]:
        target = follow(reference, self._root)
        if reference not in inside and len(inside) < _MOST_INSIDE and self._left > 0:
            self._left -= 1
            return self._combine(True if target is None else target, inside | {reference})
        name = (split_reference(reference) or [""])[-1]
        note = f"Another {name}, of the same form." if name else "Of the same form as the whole."
        return [Choice({"type": _guess_kinds(target)}, inside, (note,))]


def _list_parts(node: Schema, keyword: str) -> list[Any]:
    parts = node.get(keyword)
    return parts if isinstance(parts, list) else []


def _write_own(node: Schema) -> Schema:
    """Return a schema's own keywords, with OpenAPI's `nullable` as JSON Schema."""
    own = {key: value for key, value in node.items() if key not in _COMBINING and key != "nullable"}
    if node.get("nullable") is True and isinstance(own.get("type"), str):
        own["type"] = [own["type"], "null"]
    return own


def _multiply(ones: list[Choice], others: list[Choice]) -> list[Choice]:
    """Combine each with each; the first description is kept."""
    found: list[Choice] = []
    for one in ones:
        for other in others:
            joined = meet(one.schema, other.schema)
            if joined is not False and len(found) < _MOST_CHOICES:
                # Rules for which one schema has no room twice stay two; the model is told one of them.
                schema = {**other.schema, **one.schema} if "allOf" in joined else joined
                found.append(Choice(schema, one.inside | other.inside, one.notes + other.notes))
    return found


def _join_names(node: Schema) -> tuple[Schema, tuple[str, ...]]:
    """Describe alternative required names in words, so that the schema stays one object."""
    named = [it for it in ("anyOf", "oneOf") if (options := _list_parts(node, it)) and all(map(_names_only, options))]
    if not named:
        return node, ()
    kept = {key: value for key, value in node.items() if key == "description" or (key in _COMBINING - {*named})}
    joined = join_root({key: value for key, value in node.items() if key not in kept})
    if any(keyword in joined for keyword in named):
        return node, ()
    note = joined.get("description")
    return {**{key: value for key, value in joined.items() if key != "description"}, **kept}, (note,) if note else ()


def _names_only(option: Any) -> bool:
    return isinstance(option, dict) and isinstance(option.get("required"), list) and option.keys() <= _BESIDE_NAMES


def _guess_kinds(target: Any) -> list[str]:
    """Return the likely types of a recursive reference's target."""
    node = target if isinstance(target, dict) else {}
    options = [option for keyword in ("anyOf", "oneOf") for option in _list_parts(node, keyword)]
    kinds = [kind for it in options if isinstance(it, dict) for kind in _list_kinds(it)]
    return list(dict.fromkeys(kinds)) or _list_kinds(node) or ["object"]


def _list_kinds(node: Schema) -> list[str]:
    """List the types that a schema names or implies; empty if none."""
    kinds = node.get("type")
    if isinstance(kinds, str):
        return [kinds]
    if isinstance(kinds, list):
        return [kind for kind in dict.fromkeys(kinds) if isinstance(kind, str)]
    return [kind for kind, hints in _HINTS.items() if node.keys() & hints]


def _split(choice: Choice) -> list[Choice]:
    """Split a choice by type, each with its values."""
    node = {key: value for key, value in choice.schema.items() if key != "const"}
    values = list_values(choice.schema)
    if values is not None:
        named = _sort_values(values, _list_kinds(node) if "type" in node else None)
        parts = [{**node, "type": kind, "enum": values} for kind, values in named.items()]
    else:
        parts = [{**node, "type": kind} for kind in _list_kinds(node) or _ALL]
    return [Choice(part, choice.inside, choice.notes) for part in parts]


def _sort_values(values: list[Any], allowed: list[str] | None) -> dict[str, list[Any]]:
    """Group values by type; those of types that are not allowed can never be sent."""
    has_fractions = any(isinstance(value, float) and not value.is_integer() for value in values)
    numbers = "number" if has_fractions or (allowed is not None and "integer" not in allowed) else "integer"
    found: dict[str, list[Any]] = {}
    for value in values:
        kind = name_type(value, numbers)
        if (allowed is None or kind in allowed) and value not in found.get(kind, ()):
            found.setdefault(kind, []).append(value)
    return found


def _lists_values(schema: Any) -> bool:
    """Return whether a schema is an enumeration of texts and numbers only."""
    node = schema if isinstance(schema, dict) else {}
    options = [*_list_parts(node, "anyOf"), *_list_parts(node, "oneOf")] or [node]
    return "allOf" not in node and all(_lists_plain_values(option) for option in options)


def _lists_plain_values(option: Any) -> bool:
    if not isinstance(option, dict) or not _COMBINING.isdisjoint(option):
        return False
    values = list_values(option)
    if values is None:
        return option.get("type") == "null"
    return all(name_type(value) in ("string", "number", "null") for value in values)


def _write_texts(choice: Choice) -> Choice:
    node = choice.schema
    if node["type"] not in ("integer", "number"):
        return choice
    kept = {key: node[key] for key in ANNOTATIONS if key in node}
    texts = [write_literal(value) for value in node["enum"]]
    return Choice({**kept, "type": "string", "enum": texts}, choice.inside, choice.notes)


def _join_texts(choices: list[Choice]) -> list[Choice]:
    """Merge plain enums of strings into one."""
    plain = [it for it in choices if it.schema.keys() == {"type", "enum"} and it.schema["type"] == "string"]
    if len(plain) < 2:
        return choices
    texts = dict.fromkeys(text for it in plain for text in it.schema["enum"])
    return [
        Choice({"type": "string", "enum": [*texts]}, notes=plain[0].notes),
        *(it for it in choices if it not in plain),
    ]
