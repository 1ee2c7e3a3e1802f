"""Normalize foreign JSON Schemas of any draft to plain draft 2020-12."""

import re
from typing import Any

from sidecall.compiler.schema_documents import (
    DEEPEST,
    MOST_SCHEMAS,
    REFERRING,
    Place,
    SchemaDocument,
    SchemaUnfit,
    is_plain,
)
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.text import is_finite
from sidecall.kernel.schema.drafts import (
    NOTHING,
    WITH_ID,
    Steps,
    change_inner,
    drop_hidden,
    hides_siblings,
    is_latest,
    is_nothing,
    modernize,
    read_draft,
)
from sidecall.kernel.schema.references import list_schemas

# What says how references are found or which draft this is, once both are settled.
_SETTLED = frozenset("$dynamicAnchor $id $recursiveAnchor $vocabulary".split())
_LATEST = 2020
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def normalize_schema(schema: Any) -> Schema:
    """Convert a JSON Schema of any draft to one of draft 2020-12 that accepts the same values.

    All references in the result are pointers such as `#/$defs/a` into it, `true` and `false` are objects except where
    they open or close objects, and `false` properties are removed. Invalid schemas are left for the validator to
    report.

    Raises:
        SchemaUnfit: It refers to what is not in it, is too large or nested too deeply, or holds what JSON has not.
    """
    _refuse_infinite(schema)
    body = {key: it for key, it in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
    draft = read_draft(schema.get("$schema")) if isinstance(schema, dict) else None
    if (draft is None or draft > WITH_ID) and is_latest(body, DEEPEST, MOST_SCHEMAS):  # As most are.
        return schema if draft == _LATEST else body
    return _Writer(SchemaDocument(schema)).write()


def _refuse_infinite(schema: Any) -> None:
    try:
        if not is_finite(schema):
            raise SchemaUnfit("it holds NaN or Infinity, which JSON has not")
    except RecursionError:
        return  # How deep it may be is found out with what is inside it.


class _Writer:
    """Writes the normalized document."""

    def __init__(self, document: SchemaDocument) -> None:
        self._document = document
        self._root = document.get(())
        # What is written among the definitions, and nowhere else.
        self._apart: dict[Steps, Place] = {}
        # What the document itself is called, where it is referred to.
        self._loop: str | None = None
        root = self._root.node if isinstance(self._root.node, dict) else {}
        self._names = {name for key in ("$defs", "definitions") for name in _list_names(root.get(key))}

    def write(self) -> Schema:
        """Write the document, and add referenced schemas outside of it to its definitions."""
        written = dict(self._write(self._root))
        done: dict[str, Schema] = {}
        while len(done) < len(self._apart):
            for place in list(self._apart.values())[len(done) :]:
                assert place.moved is not None
                done[str(place.moved[1])] = self._write(place)
        if self._loop is not None:
            done[self._loop] = {key: it for key, it in written.items() if key not in ("$defs", "$schema")}
        if not done:
            return written
        known = written.get("$defs")
        return {**written, "$defs": {**(known if isinstance(known, dict) else {}), **done}}

    def _write(self, place: Place) -> Schema:
        node = place.node
        if is_nothing(node):
            return NOTHING
        if not isinstance(node, dict):
            return {}
        if hides_siblings(node, place.draft):
            node = drop_hidden(node)
        filled = change_inner(node, lambda steps, _: self._fill(place, steps))
        written = {key: value for key, value in filled.items() if self._stays(place, key, value)}
        references = [{"$ref": self._point(place, key)} for key in REFERRING if key in node]
        described = written.get("contentSchema")
        if isinstance(described, dict) and any("$ref" in it for it in list_schemas(described)):
            del written["contentSchema"]  # It only describes, and is not where references are put in place.
        written = modernize(written)
        if isinstance(definitions := written.get("$defs"), dict):
            written["$defs"] = {name: it for name, it in definitions.items() if is_plain(str(name))}
        if len(references) == 1:
            return {**references[0], **written}
        return {**written, "allOf": [*references, *written.get("allOf", ())]} if references else written

    def _fill(self, place: Place, steps: Steps) -> Any:
        inner = self._document.get((*place.path, *steps))
        is_apart = inner.path in self._apart and isinstance(inner.node, dict)
        return {"$ref": _write_pointer(inner)} if is_apart and not is_nothing(inner.node) else self._write(inner)

    def _stays(self, place: Place, key: str, value: Any) -> bool:
        if key == "$schema":
            return place is self._root and read_draft(value) == _LATEST
        if key == "$anchor":
            return self._document.is_named(place, value)
        if key == "id":
            return not isinstance(value, str) or place.draft is None or place.draft > WITH_ID
        return key not in _SETTLED and key not in REFERRING

    def _point(self, place: Place, keyword: str) -> str:
        target = self._document.resolve(place, keyword)
        if not target.path:
            # Some programs know no reference to the whole, and it would be another whole within something else.
            self._loop = self._loop or self._choose_name(())
            return f"#/$defs/{self._loop}"
        if target.moved is None:
            self._document.settle(target, ("$defs", self._choose_name(target.path)))
            self._apart[target.path] = target
        return _write_pointer(target)

    def _choose_name(self, path: Steps) -> str:
        wanted = _UNFIT.sub("_", str(path[-1] if path else "root")) or "schema"
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name


def _write_pointer(place: Place) -> str:
    return "".join(("#", *(f"/{step}" for step in place.moved or ())))


def _list_names(value: Any) -> list[str]:
    return [str(name) for name in value] if isinstance(value, dict) else []
