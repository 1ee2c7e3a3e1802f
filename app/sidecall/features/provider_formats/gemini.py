"""Write a schema as Gemini's `Schema` object, a subset of OpenAPI 3.0; the rest goes into descriptions."""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecall.features.provider_formats.choices import ANNOTATIONS, Breaker, Choice
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.describe import write_literal
from sidecall.kernel.schema.forms.merging import name_type
from sidecall.kernel.schema.references import map_children

# The formats that its API takes; others are refused with 400.
_FORMATS = {"string": ("date-time",), "integer": ("int32", "int64"), "number": ("float", "double")}
# Keywords that can only be described in words, and the types they apply to.
_RULES = ("not", "if", "then", "else")
_OBJECT_RULES = (
    "patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas"
).split()
_ARRAY_RULES = ("contains", "minContains", "maxContains")
# A rule that takes more to say than this is left to the server.
_LONGEST_RULE = 300
# What is nested more deeply is not described: each level takes three of JSON, of which its API reads a hundred.
_DEEPEST = 25
# Nor is what comes after so many schemas: references that lead to each other make more than any model reads.
_MOST_WRITTEN = 5_000
# Inside of these the server does not always know which schema a value is meant for.
_COMBINING = frozenset(("anyOf", "oneOf", "allOf", "prefixItems"))
_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
}


def to_gemini(schema: Schema, *, reads_numbers: bool = True) -> Schema | None:
    """Write a tool's parameters for Gemini; None without any, since Gemini refuses empty objects.

    Each schema has one type or is an `anyOf`; null is `nullable`, and `enum` has strings only. A choice of numbers
    becomes a choice of strings, which the server converts back where the value's schema is unambiguous: not inside a
    combination, and only with `reads_numbers`.
    """
    root = _place_items({**schema, "type": "object"})
    written = _Writer(root).write(root, _Place(reads_numbers=reads_numbers))
    return written if written is not None and written.get("properties") else None


def _place_items(schema: Schema) -> Schema:
    """Write positional items as `prefixItems`, and drop invalid keywords."""
    node = {key: value for key, value in schema.items() if key != "prefixItems" or isinstance(value, list)}
    if isinstance(node.get("items"), list):
        node = {**node, "prefixItems": node["items"], "items": node.get("additionalItems", True)}
    return map_children(node, _place_items)


@dataclass(frozen=True, slots=True)
class _Place:
    """The position of a schema: enclosing references, depth, and whether strings are read as numbers."""

    inside: frozenset[str] = frozenset()
    depth: int = 0
    reads_numbers: bool = True

    @property
    def is_described(self) -> bool:
        """Whether the schema is still written in full, not only as present."""
        return self.depth <= _DEEPEST


class _Writer:
    """Writes the schemas inside one root."""

    def __init__(self, root: Schema) -> None:
        self._breaker = Breaker(root)
        self._left = _MOST_WRITTEN

    def write(self, schema: Any, place: _Place) -> Schema | None:
        """Write one schema; None if no value fits it."""
        self._left -= 1
        if self._left <= 0:
            place = replace(place, depth=_DEEPEST)
        node = schema if isinstance(schema, dict) else {}
        said = {key: node[key] for key in ANNOTATIONS if key in node}
        rules = tuple(_list_rules(node, _RULES))
        own = {key: value for key, value in node.items() if key not in said and (not rules or key not in _RULES)}
        part = own if isinstance(schema, dict) else schema
        found = self._breaker.list_choices(part, place.inside, reads_numbers=place.reads_numbers)
        if not found or node.get("not", False) in (True, {}):
            return None
        kept = _keep_texts(said)
        choices = [it for it in found if it.schema["type"] != "null"]
        if len(choices) > 1 or not _COMBINING.isdisjoint(node):
            place = replace(place, reads_numbers=False)
        options = [self._write_choice(it, place) for it in choices] if len(choices) > 1 else []
        distinct = [it for index, it in enumerate(options) if it not in options[:index]]
        if len(distinct) > 1:
            written = _describe({"anyOf": distinct, **kept}, rules)
        elif distinct:
            written = _describe({**distinct[0], **kept}, (distinct[0].get("description", ""), *rules))
        elif choices:
            written = self._write_choice(choices[0], place, kept, rules)
        else:
            written = _describe({"type": "string", **kept}, ("Always null.", *rules))
        if len(choices) < len(found):
            written["nullable"] = True
        inner = choices[0].schema.get("default") if len(choices) == 1 else None
        return _write_default(written, said.get("default", inner))

    def _write_choice(
        self, choice: Choice, place: _Place, said: Mapping[str, Any] | None = None, rules: tuple[str, ...] = ()
    ) -> Schema:
        node = choice.schema
        inner = replace(place, inside=choice.inside, depth=place.depth + 1)
        written: Schema = {"type": node["type"], **_keep_texts(node), **(said or {})}
        notes = [*choice.notes, *_WRITERS.get(node["type"], _write_plain)(self, written, node, inner)]
        return _describe(written, (*notes, *_list_rules(node, _RULES), *rules))

    def write_text(self, written: Schema, node: Schema, _inner: _Place) -> Iterator[str]:
        """Write a string schema; return the remaining keywords."""
        _keep(written, node, ("minLength", "maxLength"), _is_count)
        _keep(written, node, ("pattern",), lambda value: isinstance(value, str))
        if "enum" in node:
            return (yield from _write_enum(written, node["enum"]))
        yield from _write_format(written, node)
        if isinstance(node.get("contentEncoding"), str):
            yield f"Encoding: {node['contentEncoding']}."

    def write_number(self, written: Schema, node: Schema, _inner: _Place) -> Iterator[str]:
        """Write a number schema; return the remaining keywords."""
        if "enum" in node:
            return (yield _list_values(node["enum"]))
        yield from _write_format(written, node)
        yield from _write_bounds(written, node)
        if _is_finite(node.get("multipleOf")):
            yield f"A multiple of {_write_json(node['multipleOf'])}."

    def write_array(self, written: Schema, node: Schema, inner: _Place) -> Iterator[str]:
        """Write an array with its required `items`; return the remaining keywords."""
        _keep(written, node, ("minItems", "maxItems"), _is_count)
        places, rest = node.get("prefixItems", []), node.get("items", True)
        if rest is False:
            written["maxItems"] = min(len(places), written.get("maxItems", len(places)))
        one = _join_items([*places, rest]) if inner.is_described else None
        items = None if one is None else self.write(one, inner)
        # It refuses an array whose items have no type.
        written["items"] = items or {"type": "string"}
        if "enum" in node:
            yield _list_values(node["enum"])
        if one is not None and len(places) > 1:
            # Without what is inside of them, which would be written twice at each level.
            yield from _write_order([self.write(it, replace(inner, depth=_DEEPEST)) for it in places])
        if written.get("maxItems") == 0:
            yield "Always empty."
        if node.get("uniqueItems") is True:
            yield "Items are unique."
        yield from _list_rules(node, _ARRAY_RULES)

    def write_object(self, written: Schema, node: Schema, inner: _Place) -> Iterator[str]:
        """Write an object with its properties; return the remaining keywords."""
        properties = node.get("properties")
        named: Schema = properties if isinstance(properties, dict) else {}
        each = {name: self.write(it, inner) for name, it in named.items()} if inner.is_described else {}
        taken = {name: it for name, it in each.items() if it is not None}
        required = node.get("required")
        names = [it for it in dict.fromkeys(required if isinstance(required, list) else ()) if isinstance(it, str)]
        if taken:
            written["properties"] = taken
        if kept := [name for name in names if name in taken]:
            written["required"] = kept
        if "enum" in node:
            yield _list_values(node["enum"])
        if missing := [name for name in names if name not in named]:
            yield f"Send {', '.join(f'`{name}`' for name in missing)}{' too' * bool(taken)}."
        yield from self._describe_others(node, inner, has_names=bool(taken))
        yield from _list_rules(node, _OBJECT_RULES)

    def _describe_others(self, node: Schema, inner: _Place, *, has_names: bool) -> Iterator[str]:
        """Describe the keys that are allowed besides the named ones."""
        values = node.get("additionalProperties", False)
        if values is False or "patternProperties" in node:
            return
        form = self.write(values, inner) if inner.is_described and values not in (True, {}) else None
        which = "Other keys are taken too" if has_names else "Keys as needed"
        if form is None:
            yield f"{which}."
        elif form.keys() == {"type"}:
            yield f"{which}, each value {_NOUNS[form['type']]}."
        else:
            text = _write_json(form)
            yield f"{which}, each value of this form: {text}." if len(text) <= _LONGEST_RULE else f"{which}."


def _write_plain(_writer: _Writer, _written: Schema, node: Schema, _inner: _Place) -> Iterator[str]:
    """Describe the allowed boolean, if only one is."""
    values = node.get("enum", ())
    if len(values) == 1:
        yield f"Always {_write_json(values[0])}."


_WRITERS: Mapping[str, Callable[[_Writer, Schema, Schema, _Place], Iterator[str]]] = {
    "string": _Writer.write_text,
    "integer": _Writer.write_number,
    "number": _Writer.write_number,
    "array": _Writer.write_array,
    "object": _Writer.write_object,
}


def _keep_texts(node: Mapping[str, Any]) -> Schema:
    return {key: node[key] for key in ("title", "description") if isinstance(node.get(key), str)}


def _keep(written: Schema, node: Schema, keywords: tuple[str, ...], fits: Callable[[Any], bool]) -> None:
    written.update({key: node[key] for key in keywords if key in node and fits(node[key])})


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_finite(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:  # An integer that is no float.
        return False


def _write_enum(written: Schema, values: list[str]) -> Iterator[str]:
    """Write an enumeration of strings, where an empty one is refused."""
    texts = [value for value in values if value]
    if texts:
        written["enum"] = texts
    if "" in values:
        yield 'May be "" too.' if texts else 'Always "".'


def _list_values(values: list[Any]) -> str:
    texts = [_write_json(value) for value in values]
    return f"One of {', '.join(texts)}." if len(texts) > 1 else f"Always {texts[0]}."


def _write_format(written: Schema, node: Schema) -> Iterator[str]:
    form = node.get("format")
    if form in _FORMATS[node["type"]]:
        written["format"] = form
    elif isinstance(form, str) and form != "enum":
        yield f"Format: {form}."


def _write_bounds(written: Schema, node: Schema) -> Iterator[str]:
    """Write inclusive bounds: for integers the next one, for numbers also in words."""
    is_whole = node["type"] == "integer"
    for word, sign, keyword, exclusive in (
        ("More", 1, "minimum", "exclusiveMinimum"),
        ("Less", -1, "maximum", "exclusiveMaximum"),
    ):
        # Upwards from either bound.
        limits = [sign * node[key] for key in (keyword,) if _is_finite(node.get(key))]
        beyond = [sign * node[key] for key in (exclusive,) if _is_finite(node.get(key))]
        if is_whole:
            limits = [*map(math.ceil, limits), *(math.floor(it) + 1 for it in beyond)]
        elif beyond and beyond[0] >= max(limits, default=beyond[0]):
            limits = beyond
            yield f"{word} than {_write_json(node[exclusive])}."
        if limits:
            written[keyword] = sign * max(limits)


def _join_items(items: list[Any]) -> Any:
    """Merge the schemas of items, since there are no tuples; None if they say nothing."""
    kept = [
        {key: it[key] for key in it if key not in ANNOTATIONS} if len(items) > 1 else it
        for it in items
        if it and it is not True
    ]
    different = [it for index, it in enumerate(kept) if it not in kept[:index]]
    return {"anyOf": different} if len(different) > 1 else (different or [None])[0]


def _write_order(places: list[Schema | None]) -> Iterator[str]:
    """Describe the item at each position, unless all are the same."""
    names = [_name(place) for place in places if place is not None]
    if len(set(names)) > 1:
        yield f"In this order: {', '.join(names)}."


def _name(form: Schema) -> str:
    name = form["type"] if "type" in form else " or ".join(option["type"] for option in form["anyOf"])
    text = str(form.get("description", "")).rstrip(".")
    return f"{name} ({text})" if text else str(name)


def _list_rules(node: Schema, keywords: tuple[str, ...] | list[str]) -> Iterator[str]:
    """Format rules without a keyword in Gemini's form as JSON Schema, which models understand."""
    rules = {key: node[key] for key in keywords if key in node}
    text = _write_json(rules)
    if rules and len(text) <= _LONGEST_RULE:
        yield f"Has to fit this JSON Schema, too: {text}."


def _describe(written: Schema, notes: tuple[str, ...]) -> Schema:
    text = written.get("description", "")
    if notes and text and not text.endswith((".", "!", "?")):
        text = f"{text}."
    texts = [it for it in (text, *dict.fromkeys(notes)) if it]
    return {**written, "description": " ".join(texts)} if texts else written


def _write_default(written: Schema, default: Any) -> Schema:
    """Write a default if the form supports it, else describe it; null is omitted."""
    if default is None:
        return written
    if name_type(default) == "number" and write_literal(default) in written.get("enum", ()):
        return {**written, "default": write_literal(default)}
    if any(_fits(default, option) for option in written.get("anyOf", [written])):
        return {**written, "default": default}
    return _describe(written, (f"Default: {_write_json(default)}.",))


def _fits(default: Any, option: Schema) -> bool:
    kind = name_type(default)
    if kind == "number":
        return option["type"] == "number" or (
            option["type"] == "integer" and bool(isinstance(default, int) or default.is_integer())
        )
    return bool(option["type"] == kind and default in option.get("enum", [default]))


def _write_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
