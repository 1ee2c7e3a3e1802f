"""Put tools' schemas into the components of an OpenAPI document, where client generators look for them."""

import re
from collections.abc import Callable
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.walk import list_schemas, map_children

_REF = "#/components/schemas/"
_HOLDERS = ("$defs", "definitions")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


class SchemaComponents:
    """The schemas of one document, each under its own name."""

    def __init__(self, change: Callable[[Schema], Schema] | None = None, *, refs: bool = True) -> None:
        """Begin empty.

        Args:
            change: Rewrites each schema, but not those within it.
            refs: Whether schemas are referred to; otherwise they are written inline unless they are recursive.
        """
        self.schemas: dict[str, Any] = {}
        self.refs = refs
        self._change = change

    def add(self, name: str, schema: Schema) -> Schema:
        """Add a schema and those it refers to; return the schema or reference to use in its place."""
        root = self._reserve(name)
        places = {"#": _REF + root}
        for holder in _HOLDERS:
            for inner in schema.get(holder, {}):
                places[f"#/{holder}/{_escape(inner)}"] = _REF + self._reserve(f"{root}_{_UNFIT.sub('_', inner)}")
        for holder in _HOLDERS:
            for inner, definition in schema.get(holder, {}).items():
                reference = places[f"#/{holder}/{_escape(inner)}"]
                self.schemas[reference.removeprefix(_REF)] = self._rewrite(definition, places)
        body: Schema = self._rewrite({key: value for key, value in schema.items() if key not in _HOLDERS}, places)
        if self.refs or _is_root_meant(schema, places):
            self.schemas[root] = body
            return {"$ref": _REF + root}
        del self.schemas[root]
        return body

    def _reserve(self, name: str) -> str:
        """Keep a name, so that no other schema has it."""
        name = self._choose_name(name)
        self.schemas[name] = {}
        return name

    def _choose_name(self, name: str) -> str:
        number, found = 1, name
        while found in self.schemas:
            number += 1
            found = f"{name}_{number}"
        return found

    def _rewrite(self, schema: Any, places: dict[str, str]) -> Any:
        if not isinstance(schema, dict):
            return schema
        node = map_children(schema, lambda child: self._rewrite(child, places))
        if isinstance(node.get("$ref"), str):
            node["$ref"] = _move(node["$ref"], places)
        tag = node.get("discriminator")
        if isinstance(tag, dict) and isinstance(tag.get("mapping"), dict):
            mapping = {value: _move(reference, places) for value, reference in tag["mapping"].items()}
            node["discriminator"] = {**tag, "mapping": mapping}
        return node if self._change is None else self._change(node)


def _is_root_meant(schema: Schema, places: dict[str, str]) -> bool:
    """Return whether a schema refers to itself, or to a part of itself that is no definition."""
    root = places["#"]
    moved = [_move(node["$ref"], places) for node in list_schemas(schema) if isinstance(node.get("$ref"), str)]
    return any(it == root or it.startswith(f"{root}/") for it in moved)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _move(reference: str, places: dict[str, str]) -> str:
    """Return the new target of a reference, by its longest known prefix."""
    beginning = reference
    while beginning and beginning not in places:
        beginning = beginning.rpartition("/")[0]
    return places[beginning] + reference[len(beginning) :] if beginning else reference
