"""Resolve references inside a JSON Schema document, and none that leave it."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urljoin

from msgspec import Struct, field

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path, split_reference
from sidecall.kernel.schema.drafts import (
    ANY_SCHEMA,
    WITH_ID,
    Steps,
    hides_siblings,
    is_draft,
    is_nothing,
    is_schema,
    list_inner,
    move,
    read_draft,
)

# Keywords that refer to a schema.
REFERRING = ("$ref", "$dynamicRef", "$recursiveRef")
# The address of a document that has none.
_NOWHERE = "json-schema:///"
MOST_SCHEMAS = 20_000
# Schemas inside each other. The validator takes few more, and what walks schemas needs some of Python's stack for each.
DEEPEST = 100
_MOST_SHOWN = 100
# What stands in a pointer as it is; some programs cannot read what is escaped in one.
_PLAIN = re.compile(r"[A-Za-z0-9._$-]+")


class SchemaUnfit(ValueError):
    """A schema cannot be taken over; the text says where in it and why."""


class Place(Struct):
    """A schema inside a document.

    `moved` is its place in the rewritten document, if it has one. References in it are relative to `base`; `draft` says
    how to read it.
    """

    node: Any
    path: Steps
    moved: Steps | None
    base: str
    draft: int | None


class SchemaDocument(Struct):
    """A document, with the addresses and anchors of the schemas in it."""

    document: Any
    _places: dict[Steps, Place] = field(default_factory=dict)
    _resources: dict[str, Steps] = field(default_factory=dict)
    _anchors: dict[tuple[str, str], Steps] = field(default_factory=dict)
    _meta: Place = field(default_factory=lambda: Place(ANY_SCHEMA, (-1, "schema"), None, "", None))
    # By their names, and then by the bases of the schemas.
    _dynamic: dict[str, dict[str, Steps]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._resources[_NOWHERE] = ()
        self._enter(Place(self.document, (), (), _NOWHERE, None))

    def get(self, path: Steps) -> Place:
        """Return the schema at a known path."""
        return self._places[path]

    def is_named(self, place: Place, anchor: Any) -> bool:
        """Return whether an anchor is unique to this schema in the document, and can stay."""
        base = self._places[()].base
        return place.base == base and self._anchors.get((base, anchor)) == place.path

    def settle(self, place: Place, moved: Steps) -> None:
        """Set the new place of a schema without one, and of those inside it."""
        place.moved = moved
        waiting = [place]
        for one in waiting:  # The list grows during the loop.
            for inner in _list_places(one) if isinstance(one.node, dict) else ():
                known = self._places[inner.path]
                if known.moved is None and inner.moved is not None:
                    known.moved = inner.moved
                    waiting.append(known)

    def resolve(self, place: Place, keyword: str) -> Place:
        """Return the target of a reference.

        Raises:
            SchemaUnfit: That is in another document, or nowhere, or depends on the way there.
        """
        where, reference = f"`{format_path((*place.path, keyword))}`", place.node[keyword]
        if not isinstance(reference, str):
            raise SchemaUnfit(f"{where} is no text")
        shown = reference if len(reference) <= _MOST_SHOWN else f"{reference[:_MOST_SHOWN]}…"
        uri, _, fragment = _join(where, place.base, reference).partition("#")
        if _clean(uri) not in self._resources:
            if not fragment and is_draft(uri):
                return self._meta
            raise SchemaUnfit(f"{where} refers to {shown}, which is another document, and none is fetched")
        path = self._find(_clean(uri), fragment)
        if path is None and reference.startswith("#"):
            # As many write it inside a schema that has an address.
            path = self._find(self._places[()].base, fragment)
        if path is None:
            raise SchemaUnfit(f"{where} refers to {shown}, where there is nothing")
        if keyword != "$ref":
            path = self._choose_outermost(f"{where} refers to {shown}", _clean(uri), unquote(fragment), path)
        return self._open(path, f"{where} refers to {shown}")

    def find_anywhere(self, reference: str) -> list[Any]:
        """Find the schemas with an address or name, for references whose base is unknown."""
        found: set[Steps] = set()
        for base in {*self._resources}:
            uri, _, fragment = _join("it", base, reference).partition("#")
            if _clean(uri) in self._resources and (path := self._find(_clean(uri), fragment)) is not None:
                found.add(path)
        return [self._open(path, reference).node for path in found]

    def _find(self, uri: str, fragment: str) -> Steps | None:
        if fragment and not unquote(fragment).startswith("/"):
            return self._anchors.get((uri, unquote(fragment)))
        path = self._resources[uri]
        node = self._places[path].node
        for step in split_reference(f"#{fragment}") or ():
            key: str | int = step
            if isinstance(node, list) and step.isascii() and step.isdecimal() and int(step) < len(node):
                key = int(step)
            elif not isinstance(node, dict) or step not in node:
                return None
            node, path = node[key], (*path, key)
        return path

    def _choose_outermost(self, said: str, base: str, name: str, path: Steps) -> Steps:
        """Resolve a dynamic reference: the outermost of its name, which is always the document's."""
        named = self._dynamic.get(name, {})
        if base not in named:
            return path
        of_document = named.get(self._places[()].base)
        if of_document is None and len(named) > 1:
            raise SchemaUnfit(f"{said}, of which there are several, and which one depends on the way there")
        return path if of_document is None else of_document

    def _open(self, path: Steps, said: str) -> Place:
        """Return the schema at a path, even one that no keyword declares as a schema."""
        if path not in self._places:
            node = self.document
            for step in path:
                node = node[step]
            if not is_schema(node):
                raise SchemaUnfit(f"{said}, which is no schema")
            outer = next(it for count in range(len(path), -1, -1) if (it := self._places.get(path[:count])))
            self._enter(Place(node, path, None, outer.base, outer.draft))
        return self._places[path]

    def _enter(self, place: Place) -> None:
        """Register a schema and those inside it, outer ones first."""
        waiting = [(place, 0)]
        for one, depth in waiting:  # The list grows during the loop.
            self._places.setdefault(one.path, one)
            if not isinstance(one.node, dict):
                continue
            self._name(one)
            if depth > DEEPEST:
                raise SchemaUnfit(f"more than {DEEPEST} schemas in it stand inside each other")
            waiting += [(inner, depth + 1) for inner in _list_places(one)]
            if max(len(waiting), len(self._places)) > MOST_SCHEMAS:
                raise SchemaUnfit(f"there are more than {MOST_SCHEMAS} schemas in it")

    def _name(self, place: Place) -> None:
        """Register the address and anchors of a schema."""
        node: Schema = place.node
        place.draft = read_draft(node.get("$schema")) or place.draft
        if hides_siblings(node, place.draft):
            return
        is_early = place.draft is None or place.draft <= WITH_ID
        self._note_address(place, node.get("$id", node.get("id") if is_early else None))
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(name := node.get(keyword), str):
                self._anchors.setdefault((place.base, name), place.path)
        if isinstance(name := node.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(name, {}).setdefault(place.base, place.path)
        if node.get("$recursiveAnchor") is True and self._resources[place.base] == place.path:
            self._dynamic.setdefault("", {}).setdefault(place.base, place.path)

    def _note_address(self, place: Place, own: Any) -> None:
        if not isinstance(own, str):
            return
        uri, _, fragment = _join(f"`{format_path((*place.path, '$id'))}`", place.base, own).partition("#")
        if not own.startswith("#"):
            place.base = _clean(uri)
            self._resources.setdefault(place.base, place.path)
        if fragment:  # As drafts 4 to 7 have names.
            self._anchors.setdefault((place.base, unquote(fragment)), place.path)


def is_plain(name: str) -> bool:
    """Return whether a name needs no escaping in a pointer."""
    return _PLAIN.fullmatch(name) is not None


def _list_places(outer: Place) -> Iterator[Place]:
    for steps, child in list_inner(outer.node):
        is_left_out = is_nothing(child) and steps[0] not in ("$defs", "definitions")
        to = None if outer.moved is None or is_left_out else move(outer.node, steps, outer.draft)
        is_there = to is not None and all(is_plain(str(step)) for step in to)
        moved = (*outer.moved, *to) if is_there and outer.moved is not None and to is not None else None
        yield Place(child, (*outer.path, *steps), moved, outer.base, outer.draft)


def _join(where: str, base: str, reference: str) -> str:
    """Join a reference to a base URI of any scheme; urllib only knows some schemes."""
    if not reference or reference.startswith("#"):
        return base + reference
    scheme, sep, rest = base.partition("://")
    try:
        joined = urljoin(f"http://{rest}" if sep else base, reference)
    except ValueError:
        raise SchemaUnfit(f"{where} is no address") from None
    is_relative = sep and joined.startswith("http://") and not reference.lower().startswith("http:")
    return f"{scheme}{joined.removeprefix('http')}" if is_relative else joined


def _clean(uri: str) -> str:
    return unquote(uri)
