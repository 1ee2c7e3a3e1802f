"""The schemas of an OpenAPI document as JSON Schema, each converted once."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, unquote

from pydantic_core import to_json

from sidecall.compiler.schema_documents import SchemaDocument, SchemaUnfit
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import follow, split_reference
from sidecall.kernel.schema.drafts import ANY_SCHEMA, NOTHING, change_inner, is_draft, is_nothing, modernize
from sidecall.kernel.schema.references import Targets

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
# Keywords that do not restrict values, or differ from JSON Schema.
_DROPPED = frozenset(
    "$anchor $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $schema $vocabulary contentSchema"
    " discriminator example externalDocs nullable readOnly title writeOnly xml".split()
)
# Keywords whose values are texts.
_WORDS = frozenset("$comment description format pattern".split())

_CHOICES = frozenset("$ref allOf anyOf oneOf".split())

_MOST_STEPS = 50

_ELSEWHERE = "it refers to another document:"


class Unusable(Exception):
    """An operation cannot become a tool; the text says why."""


class Definitions:
    """Definitions that the operations of a document share."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        # In OpenAPI 3.0 siblings of a reference are ignored.
        self._is_old = str(document.get("openapi", "")).startswith("3.0")
        self._names: dict[str, str] = {}
        self._references: dict[str, str] = {}
        self._named: SchemaDocument | None = None
        self._known: dict[str, tuple[Schema, set[str]]] = {}
        self._defined: dict[str, Schema] = {}
        # Known facts about all definitions, for the schemas that refer to them.
        self.targets = Targets({"$defs": self._defined})

    @property
    def is_old(self) -> bool:
        """Whether the document is OpenAPI 3.0."""
        return self._is_old

    def resolve(self, node: Any) -> Any:
        """Resolve references; return anything else unchanged.

        Raises:
            Unusable: A reference is broken, or leads into another document.
        """
        for _ in range(_MOST_STEPS):
            if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
                return node
            node = self._follow(node["$ref"])
        raise Unusable("a reference leads in a circle")

    def convert(self, schema: Any, used: set[str]) -> Schema:
        """Return a schema as JSON Schema; the definitions that it refers to are added to `used`.

        Raises:
            Unusable: A reference is broken.
        """
        if is_nothing(schema):
            return NOTHING
        if not isinstance(schema, dict):
            return {}
        keyword = next((it for it in ("$ref", "$dynamicRef") if isinstance(schema.get(it), str)), None)
        if keyword is None:
            return self._clean(schema, used)
        name = self._name(schema[keyword])
        used.add(name)
        beside = {} if self._is_old else {key: value for key, value in schema.items() if key != keyword}
        return {**self._clean(beside, used), "$ref": f"#/$defs/{name}"}

    def close_over(self, used: Iterable[str]) -> dict[str, Schema]:
        """Return the definitions of these names, and those that they refer to."""
        found: dict[str, Schema] = {}
        waiting = sorted(used)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name], further = self._define(name)
                waiting += sorted(further - found.keys())
        return dict(sorted(found.items()))

    def _follow(self, reference: str) -> Any:
        found = follow(reference, self._document)
        if found is None and split_reference(reference) is None:
            return self._find_named(reference)
        if found is None:
            raise Unusable(f"there is nothing at {reference[:80]}")
        return found

    def _find_named(self, reference: str) -> Any:
        """Find a schema by its `$id` or anchor.

        Raises:
            Unusable: Not exactly one schema has it.
        """
        if is_draft(reference.rstrip("#")):
            return ANY_SCHEMA
        components = self._document.get("components")
        schemas = components.get("schemas") if isinstance(components, dict) else None
        try:
            self._named = self._named or SchemaDocument({"$defs": schemas})
            found = self._named.find_anywhere(reference)
        except SchemaUnfit as error:
            raise Unusable(f"what it refers to cannot be found: {error}") from None
        if len(found) > 1:
            raise Unusable(f"several schemas are called {reference[:80]}")
        if not found:
            is_inside = reference.startswith("#")
            raise Unusable(f"{'there is nothing at' if is_inside else _ELSEWHERE} {reference[:80]}")
        return found[0]

    def _name(self, reference: str) -> str:
        if reference not in self._names:
            self._follow(reference)
            wanted = _UNFIT.sub("_", reference.removeprefix("#/components/schemas/").lstrip("#/")) or "root"
            name, number = wanted, 1
            while name in self._references:
                number += 1
                name = f"{wanted}_{number}"
            self._names[reference] = name
            self._references[name] = reference
        return self._names[reference]

    def _define(self, name: str) -> tuple[Schema, set[str]]:
        if name not in self._known:
            used: set[str] = set()
            self._known[name] = self.convert(self._follow(self._references[name]), used), used
            self._defined[name] = self._known[name][0]
        return self._known[name]

    def _clean(self, schema: Schema, used: set[str]) -> Schema:
        node = modernize(change_inner(schema, lambda _, child: self.convert(child, used)))
        _drop_read_only(schema, node)
        for key in _WORDS & node.keys():
            if not isinstance(node[key], str):
                del node[key]
        if not isinstance(node.get("required", []), list):
            del node["required"]
        if "example" in node and "examples" not in node:
            node["examples"] = [node["example"]]
        if isinstance(node.get("examples"), dict):
            del node["examples"]
        kept = {key: value for key, value in node.items() if key not in _DROPPED and not key.startswith("x-")}
        return _allow_null(kept) if node.get("nullable") is True else kept


def _drop_read_only(schema: Schema, node: Schema) -> None:
    """Remove read-only properties."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return
    gone = {name for name, inner in properties.items() if isinstance(inner, dict) and inner.get("readOnly") is True}
    if gone:
        node["properties"] = {name: inner for name, inner in node["properties"].items() if name not in gone}
        if isinstance(node.get("required"), list):
            node["required"] = [name for name in node["required"] if name not in gone]


def _allow_null(node: Schema) -> Schema:
    if node.keys() & _CHOICES or "type" not in node:
        said: Schema = {key: value for key, value in node.items() if key in ("description", "default")}
        return {"anyOf": [{key: value for key, value in node.items() if key not in said}, {"type": "null"}], **said}
    kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
    node = {**node, "type": [*kinds, "null"] if "null" not in kinds else kinds}
    if isinstance(node.get("enum"), list) and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    return node


Where = Literal["path", "query", "header", "cookie", "body"]

_RESERVED = ":/?@!$'()*,;"

_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "|"}
# Prefix and separator of values in a path.
_PATH_MARKS = {"label": (".", "."), "matrix": (";", ";")}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the value of an argument goes in a request, and its style."""

    argument: str
    name: str
    where: Where
    style: str = "form"
    explode: bool = True
    allows_reserved: bool = False
    is_json: bool = False

    def write_path(self, value: Any) -> str:
        """Write a value that is a part of the path."""
        if self.is_json or not isinstance(value, list | Mapping):
            text = _quote(write_compact(value) if self.is_json else write_scalar(value))
            return {"label": f".{text}", "matrix": f";{_quote(self.name)}={text}"}.get(self.style, text)
        first, between = _PATH_MARKS.get(self.style, ("", ","))
        if not self.explode:
            head = f"{first}{_quote(self.name)}=" if self.style == "matrix" else first
            return head + ",".join(_quote(text) for text in _list_flat(value))
        if isinstance(value, Mapping):
            return first + between.join(f"{_quote(key)}={_quote(write_scalar(it))}" for key, it in value.items())
        named = f"{_quote(self.name)}=" if self.style == "matrix" else ""
        return first + between.join(named + _quote(write_scalar(item)) for item in value)

    def write_query(self, value: Any) -> Iterator[str]:
        """Yield the pairs of a value in the query, or in a url-encoded form."""
        safe = _RESERVED if self.allows_reserved else ""
        name = _quote(self.name)
        if self.is_json or not isinstance(value, list | Mapping):
            yield f"{name}={quote(write_compact(value) if self.is_json else write_scalar(value), safe=safe)}"
        elif self.style == "deepObject":
            yield from (f"{_quote(inner)}={quote(text, safe=safe)}" for inner, text in _list_deep(self.name, value))
        elif not self.explode or (self.style in _DELIMITERS and not isinstance(value, Mapping)):
            between = _DELIMITERS.get(self.style, ",")
            yield f"{name}={between.join(quote(text, safe=safe) for text in _list_flat(value))}"
        elif isinstance(value, Mapping):
            yield from (f"{_quote(key)}={quote(write_scalar(it), safe=safe)}" for key, it in value.items())
        else:
            yield from (f"{name}={quote(write_scalar(item), safe=safe)}" for item in value)

    def list_parts(self, value: Any) -> Iterator[tuple[str, str]]:
        """Yield names and texts of a value as multipart parts, without percent-encoding."""
        if not isinstance(value, list | Mapping):
            yield self.name, write_scalar(value)
        elif self.style == "deepObject":
            yield from _list_deep(self.name, value)
        elif not self.explode or (self.style in _DELIMITERS and not isinstance(value, Mapping)):
            yield self.name, unquote(_DELIMITERS.get(self.style, ",")).join(_list_flat(value))
        elif isinstance(value, Mapping):
            yield from ((str(key), write_scalar(it)) for key, it in value.items())
        else:
            yield from ((self.name, write_scalar(item)) for item in value)

    def write_header(self, value: Any) -> str:
        """Write a value as the text of a header."""
        if self.is_json:
            return write_compact(value)
        if isinstance(value, Mapping) and self.explode:
            return ",".join(f"{key}={write_scalar(it)}" for key, it in value.items())
        return ",".join(_list_flat(value)) if isinstance(value, list | Mapping) else write_scalar(value)

    def write_cookie(self, value: Any) -> Iterator[str]:
        """Yield the pairs that say a value among the cookies."""
        yield from self.write_query(value)


def write_scalar(value: Any) -> str:
    """Write a single value as text, and any other as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else write_compact(value)


def write_compact(value: Any) -> str:
    """Write a value as compact JSON."""
    return to_json(value).decode()


def _quote(text: str) -> str:
    return quote(text, safe="")


def _list_flat(value: Any) -> list[str]:
    """List the items of an array, or the names and values of an object by turns."""
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in (str(key), write_scalar(item))]
    return [write_scalar(item) for item in value]


def _list_deep(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of what is in a value, at every depth."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _list_deep(f"{name}[{key}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _list_deep(f"{name}[{index}]", item)
    else:
        yield name, write_scalar(value)
