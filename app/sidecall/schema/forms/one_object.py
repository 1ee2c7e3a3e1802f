"""Write arguments as one plain object, for APIs that refuse a choice of several at the root."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from typing import Any

from sidecall.core.pointer import follow
from sidecall.core.tool import Schema
from sidecall.dataclasses import dataclass
from sidecall.schema.forms.choice_words import Branch, describe_choice, describe_condition, describe_enum, describe_not
from sidecall.schema.forms.joined import list_values, meet, takes_null, unite
from sidecall.schema.references import ANNOTATIONS, inline_references
from sidecall.schema.walk import list_schemas, map_children

# What a root has for several schemas to hold, or one of several.
_JOINING = frozenset(
    "$ref anyOf oneOf allOf if then else dependentSchemas dependentRequired not enum const".split(),
)
_JOINED = _JOINING | {"type", "properties", "required", "unevaluatedProperties", "discriminator"}
_CLOSED = "additionalProperties"


def has_choice(schema: Schema) -> bool:
    """Return whether a root is more than one object, as OpenAI and Anthropic refuse it."""
    return not _JOINING.isdisjoint(schema)


def join_root(schema: Schema) -> Schema:
    """Write the schema of a tool's arguments as one object, with what cannot be said so in its description.

    It has the properties of all branches, and requires what all of them do. A schema that is one object already comes
    back as it is. What is called is still held to the schema itself.
    """
    if not _takes_objects(schema):
        return schema
    if not has_choice(schema):
        return _complete(schema)
    folded = _Folding(schema).fold(schema) or _read_own(schema)
    annotations = {key: value for key, value in schema.items() if key in ANNOTATIONS and key != "description"}
    texts = [text for text in (schema.get("description"), *_write_sentences(folded)) if text]
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
    """Name the arguments of a choice that may be left out and are never null; none where the root is no choice.

    Models that have to send every argument, as strict ones do, send null for those.
    """
    if not has_choice(schema):
        return frozenset()
    joined = join_root(schema)
    optional = joined.get("properties", {}).keys() - set(joined.get("required", ()))
    return frozenset(name for name in optional if not takes_null(joined["properties"][name]))


def describe_root(schema: Schema) -> str:
    """Describe which arguments go together, in words for the model; empty where the root of the schema is no choice."""
    folded = _Folding(schema).fold(schema) if has_choice(schema) else None
    return "" if folded is None else " ".join(_write_sentences(folded))


def _write_sentences(folded: Branch) -> list[str]:
    return [f"Send {clause}." for clause in folded.clauses]


def _complete(schema: Schema) -> Schema:
    """Write the root as an object, where it is said less or more of it."""
    if schema.get("type") == "object" and "properties" in schema:
        return schema
    return {**schema, "type": "object", "properties": schema.get("properties", {})}


@dataclass(slots=True)
class _Folding:
    """Fold what is said in several places of a schema of objects into one."""

    root: Schema
    _known: dict[str, Branch | None] = field(default_factory=dict)

    def fold(self, node: Any) -> Branch | None:
        """Fold one schema; None means that no object fits it."""
        if not isinstance(node, dict):
            return None if node is False else Branch()
        if not _takes_objects(node):
            return None
        folded: Branch | None = _read_own(node)
        for part in self._list_parts(node):
            folded = _join_both(folded, part)
        for add in (self._add_choices, self._add_condition, self._add_dependents, self._add_values):
            folded = None if folded is None else add(folded, node)
        if folded is not None and "not" in node:
            folded = folded.saying(describe_not(node["not"], self.fold))
        if folded is not None and node.get("unevaluatedProperties") is False:
            folded = replace(folded, others={**folded.others, _CLOSED: False})
        return folded

    def _list_parts(self, node: Schema) -> Iterator[Branch | None]:
        """Fold what has to hold as well."""
        if isinstance(node.get("$ref"), str):
            yield self._follow(node["$ref"])
        yield from map(self.fold, _list(node.get("allOf")))

    def _follow(self, reference: str) -> Branch | None:
        if reference not in self._known:
            self._known[reference] = Branch()  # What it says of itself adds nothing.
            target = follow(reference, self.root)
            self._known[reference] = Branch() if target is None else self.fold(target)
        return self._known[reference]

    def _add_choices(self, folded: Branch, node: Schema) -> Branch | None:
        found: Branch | None = folded
        for keyword in ("anyOf", "oneOf"):
            if found is not None and isinstance(node.get(keyword), list):
                options = [option for it in node[keyword] if (option := self.fold(it)) is not None]
                found = _join_any(found, options, describe_choice(found, options, is_one=keyword == "oneOf"))
        return found

    def _add_condition(self, folded: Branch, node: Schema) -> Branch | None:
        if "if" not in node or node.keys().isdisjoint(("then", "else")):
            return folded
        met = self.fold(node["if"])
        then, other = self.fold(node.get("then", True)), self.fold(node.get("else", True))
        clause = describe_condition(folded, node["if"], met, then, other)
        options = [option for option in (_join_both(met, then), other) if option is not None]
        return _join_any(folded, options, clause)

    def _add_dependents(self, folded: Branch, node: Schema) -> Branch | None:
        found: Branch | None = folded
        required = {name: {"required": names} for name, names in _map(node.get("dependentRequired")).items()}
        for name, schema in (*required.items(), *_map(node.get("dependentSchemas")).items()):
            if found is not None:
                sent, added = Branch({name: True}, (name,)), self.fold(schema)
                clause = describe_condition(found, {}, sent, added, Branch())
                options = [option for option in (_join_both(sent, added), Branch()) if option is not None]
                found = _join_any(found, options, clause)
        return found

    def _add_values(self, folded: Branch, node: Schema) -> Branch | None:
        """Add objects that are written out whole."""
        values = list_values(node)
        if values is None:
            return folded
        objects = [value for value in values if isinstance(value, dict)]
        return _join_any(folded, [_read_value(value) for value in objects], describe_enum(objects))


def _takes_objects(node: Schema) -> bool:
    kind = node.get("type", "object")
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def _read_own(node: Schema) -> Branch:
    others = {key: value for key, value in node.items() if key not in ANNOTATIONS and key not in _JOINED}
    required = tuple(_list(node.get("required")))
    return Branch({**_map(node.get("properties")), **_find_undeclared(node, required)}, required, others)


def _find_undeclared(node: Schema, required: Sequence[str]) -> dict[str, Any]:
    """Find what is required though nothing says what it is."""
    is_closed = node.get(_CLOSED) is False
    return {} if is_closed else {name: True for name in required if name not in _map(node.get("properties"))}


def _read_value(value: dict[str, Any]) -> Branch:
    return Branch({name: {"const": it} for name, it in value.items()}, tuple(value))


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _join_both(one: Branch | None, other: Branch | None) -> Branch | None:
    """Join two of which both hold; None where nothing fits both."""
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
    others = meet(one.others, other.others)
    return Branch(properties, required, others, (*one.clauses, *other.clauses))


def _join_any(folded: Branch, options: Sequence[Branch], clause: str) -> Branch | None:
    """Join what holds with several of which one does; None where none can."""
    whole = [joined for option in options if (joined := _join_both(folded, option)) is not None]
    if not whole:
        return None
    if len(whole) == 1 == len(options):
        return whole[0]
    joined = reduce(_join_either, whole)
    names = joined.properties
    properties = {name: unite([it.properties[name] for it in whole if name in it.properties]) for name in names}
    return replace(joined, properties=properties, clauses=folded.clauses).saying(clause)


def _join_either(one: Branch, other: Branch) -> Branch:
    """Keep what both say."""
    return Branch(
        {**one.properties, **other.properties},
        tuple(name for name in one.required if name in other.required),
        {key: value for key, value in one.others.items() if key in other.others and other.others[key] == value},
    )


def keep_targets(joined: Schema, schema: Schema) -> Schema:
    """Move what references lead to among the definitions, where it stood in what has been joined.

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
