"""Write arguments as one plain object, for APIs that refuse a choice at the root."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from msgspec import Struct, field

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow
from sidecall.kernel.schema.forms.choice_words import (
    EMPTY,
    Branch,
    describe_choice,
    describe_condition,
    describe_enum,
    describe_not,
    write_clauses,
)
from sidecall.kernel.schema.forms.merging import list_values, meet, meet_known, takes_null, unite
from sidecall.kernel.schema.references import ANNOTATIONS, inline_references, list_schemas, map_children

# What a root has for several schemas to hold, or one of several.
_JOINING = frozenset(
    "$ref anyOf oneOf allOf if then else dependentSchemas dependentRequired not enum const".split(),
)
_JOINED = _JOINING | {"type", "properties", "required", "unevaluatedProperties", "discriminator"}
_CLOSED = "additionalProperties"


def has_choice(schema: Schema) -> bool:
    """Return whether a root is not a single plain object, which OpenAI and Anthropic refuse."""
    return not _JOINING.isdisjoint(schema)


def join_root(schema: Schema) -> Schema:
    """Write an arguments schema as one object, with the rest in its description.

    It has the properties of all branches, and requires what all of them require. A schema that is one object already is
    returned unchanged. Calls are still validated against the original schema.
    """
    if not _takes_objects(schema):
        return schema
    if not has_choice(schema):
        return _complete(schema)
    folded = _Folding(schema).fold(schema) or _read_own(schema)
    annotations = {key: value for key, value in schema.items() if key in ANNOTATIONS and key != "description"}
    texts = [text for text in (schema.get("description"), write_clauses(folded)) if text]
    joined = {
        **annotations,
        "type": "object",
        "properties": {name: {} if it is True else it for name, it in folded.properties.items()},
        **({"required": list(folded.required)} if folded.required else {}),
        **folded.others,
        **({"description": " ".join(texts)} if texts else {}),
    }
    # What nothing refers to any more goes.
    return inline_references(keep_targets(joined, schema))


def find_omissible(schema: Schema) -> frozenset[str]:
    """Return the arguments of a choice that are optional and never null; none if the root is no choice.

    Models that must send every argument, as in strict mode, send null for these.
    """
    if not has_choice(schema):
        return frozenset()
    joined = join_root(schema)
    optional = joined.get("properties", {}).keys() - set(joined.get("required", ()))
    return frozenset(name for name in optional if not takes_null(joined["properties"][name]))


def describe_root(schema: Schema) -> str:
    """Describe which arguments belong together; empty if the root is no choice."""
    folded = _Folding(schema).fold(schema) if has_choice(schema) else None
    return "" if folded is None else write_clauses(folded)


def _complete(schema: Schema) -> Schema:
    """Complete the root as an object, if it lacks the type."""
    if schema.get("type") == "object" and "properties" in schema:
        return schema
    return {**schema, "type": "object", "properties": schema.get("properties", {})}


# Schemas that are looked at, of one that multiplies by its references.
_MAX_STEPS = 5_000


class _Folding(Struct):
    """Folds the parts of an object schema into one branch."""

    root: Schema
    _steps: int = 0
    _inside: list[str] = field(default_factory=list)

    def fold(self, node: Any, onto: Branch = EMPTY) -> Branch | None:
        """Fold a schema onto what already holds; None if no object fits."""
        self._steps += 1
        followed = len(self._inside)
        parts = self._list_parts(node)
        folded: Branch | None = None if parts is None else onto
        for part in parts or ():
            folded = _join_both(folded, _read_own(part))
        for part in parts or ():
            for add in (self._add_choices, self._add_condition, self._add_dependents, self._add_values, self._add_not):
                folded = None if folded is None else add(folded, part)
        del self._inside[followed:]
        if folded is not None and isinstance(node, dict) and node.get("unevaluatedProperties") is False:
            folded = replace(folded, others={**folded.others, _CLOSED: False})
        return folded

    def _list_parts(self, node: Any) -> list[Schema] | None:
        """List a schema and all that it combines; None if no object fits."""
        if not isinstance(node, dict) or self._steps > _MAX_STEPS:
            return None if node is False else []
        parts: list[Schema] = [node] if _takes_objects(node) else []
        reference = node.get("$ref")
        also = list(_list(node.get("allOf")))
        if isinstance(reference, str) and reference not in self._inside:
            self._inside.append(reference)  # What it says of itself adds nothing.
            also.append(follow(reference, self.root))
        for other in also:
            inner = self._list_parts(other) if isinstance(other, (dict, bool)) else []
            if inner is None:
                return None
            parts += inner
        return parts if _takes_objects(node) else None

    def _add_choices(self, folded: Branch, node: Schema) -> Branch | None:
        found: Branch | None = folded
        for keyword in ("anyOf", "oneOf"):
            if found is not None and isinstance(node.get(keyword), list):
                joined = [(option, self.fold(option, found.alone)) for option in node[keyword]]
                options = [self.fold(option) or EMPTY for option, whole in joined if whole is not None]
                clause = describe_choice(found, options, is_one=keyword == "oneOf")
                found = _join_any(found, [whole for _, whole in joined], clause)
        return found

    def _add_condition(self, folded: Branch, node: Schema) -> Branch | None:
        if "if" not in node or node.keys().isdisjoint(("then", "else")):
            return folded
        met, then, other = (self.fold(node.get(keyword, True)) for keyword in ("if", "then", "else"))
        if then is None:
            folded = folded.saying(describe_not(node["if"], self.fold))
        clause = describe_condition(folded, node["if"], met, then, other)
        if_met = self.fold(node["if"], folded.alone)
        whole = None if if_met is None else self.fold(node.get("then", True), if_met)
        return _join_any(folded, [whole, self.fold(node.get("else", True), folded.alone)], clause)

    def _add_dependents(self, folded: Branch, node: Schema) -> Branch | None:
        found: Branch | None = folded
        required = {name: {"required": names} for name, names in _map(node.get("dependentRequired")).items()}
        for name, schema in (*required.items(), *_map(node.get("dependentSchemas")).items()):
            sent = Branch({name: True}, (name,))
            whole = None if found is None else _join_both(found.alone, sent)
            if found is not None and whole is not None:
                added = self.fold(schema)
                clause = describe_condition(found, {}, sent, added, EMPTY)
                found = found.saying("" if added else describe_not({"required": [name]}, self.fold))
                found = _join_any(found, [self.fold(schema, whole), found.alone], clause)
        return found

    def _add_values(self, folded: Branch, node: Schema) -> Branch | None:
        """Add an enumeration of whole objects."""
        values = list_values(node)
        if values is None:
            return folded
        objects = [value for value in values if isinstance(value, dict)]
        whole = [_join_both(folded.alone, _read_value(value)) for value in objects]
        return _join_any(folded, whole, describe_enum(objects))

    def _add_not(self, folded: Branch, node: Schema) -> Branch | None:
        return folded.saying(describe_not(node["not"], self.fold)) if "not" in node else folded


def _takes_objects(node: Schema) -> bool:
    kind = node.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _read_own(node: Schema) -> Branch:
    others = {key: value for key, value in node.items() if key not in ANNOTATIONS and key not in _JOINED}
    required = tuple(_list(node.get("required")))
    return Branch({**_map(node.get("properties")), **_find_undeclared(node, required)}, required, others)


def _find_undeclared(node: Schema, required: Sequence[str]) -> dict[str, Any]:
    """Find required properties that have no schema."""
    is_closed = node.get(_CLOSED) is False
    return {} if is_closed else {name: True for name in required if name not in _map(node.get("properties"))}


def _read_value(value: dict[str, Any]) -> Branch:
    return Branch({name: {"const": it} for name, it in value.items()}, tuple(value))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _join_both(one: Branch | None, other: Branch | None) -> Branch | None:
    """Intersect two branches; None if nothing fits both."""
    if one is None or other is None:
        return None
    names = [name for name in dict.fromkeys((*one.properties, *other.properties)) if one.takes(name)]
    met = {
        name: meet(one.properties.get(name, True), other.properties.get(name, True))
        for name in names
        if other.takes(name)
    }
    required = tuple(dict.fromkeys((*one.required, *other.required)))
    if any(met.get(name, False) is False for name in required):
        return None
    properties = {name: schema for name, schema in met.items() if schema is not False}
    return Branch(properties, required, meet_known(one.others, other.others), (*one.clauses, *other.clauses))


def _join_any(folded: Branch, options: Sequence[Branch | None], clause: str) -> Branch | None:
    """Unite options, each with what else holds; None if none is possible."""
    whole = [option for option in options if option is not None]
    if len(whole) < 2:
        return replace(whole[0], clauses=(*folded.clauses, *whole[0].clauses)) if whole else None
    joined = reduce(_join_either, whole)
    names = joined.properties
    properties = {name: unite([it.properties[name] for it in whole if name in it.properties]) for name in names}
    return replace(joined, properties=properties, clauses=folded.clauses).saying(clause)


def _join_either(one: Branch, other: Branch) -> Branch:
    """Keep what both have."""
    return Branch(
        {**one.properties, **other.properties},
        tuple(name for name in one.required if name in other.required),
        {key: value for key, value in one.others.items() if key in other.others and other.others[key] == value},
    )


def keep_targets(joined: Schema, schema: Schema) -> Schema:
    """Move the targets of references into the definitions, if merging removed their place.

    Args:
        joined: A schema that was made of another.
        schema: The other one.
    """
    references = {it["$ref"] for it in list_schemas(joined) if isinstance(it.get("$ref"), str)}
    lost = sorted(it for it in references if follow(it, joined) is None and follow(it, schema) is not None)
    if not lost:
        return joined
    names = {reference: f"joined_{number}" for number, reference in enumerate(lost)}
    moved = {name: follow(reference, schema) for reference, name in names.items()}
    whole = {**joined, "$defs": {**joined.get("$defs", {}), **moved}}
    return keep_targets(_rename_references(whole, names), schema)


def _rename_references(node: Schema, names: Mapping[str, str]) -> Schema:
    copied = map_children(node, lambda child: _rename_references(child, names))
    name = names.get(copied.get("$ref", ""))
    return copied if name is None else {**copied, "$ref": f"#/$defs/{name}"}
