"""Find texts such as "nan" and "inf" that were converted to numbers."""

import dataclasses
import math
import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import InitErrorDetails

from sidecall.kernel.core.tool import INFERRED, Schema
from sidecall.kernel.schema.references import list_schemas
from sidecall.kernel.schema.whole_numbers import OF_KEYS, Loc, list_schemas_at

# What a text of ASCII begins with that a float may be read from.
_BEGINS = frozenset("+-.0123456789iInN \t\n\r\f\v")
# Fits all texts that an infinite float or NaN may be read from, and few others: names and sentences begin so, too.
_NUMBER_LIKE = re.compile(
    r"\s*+[-+]?_?(?:(?:n_?a_?n|i_?n_?f[inty_]*+)\s*+\Z|[\d._]{1,308}+(?:e_?[-+]?_?\d|[\d._]))", re.IGNORECASE
)
# The last letter of ASCII; beyond it there are spaces, too.
_LAST = "~"
_CHOOSING = frozenset(("anyOf", "oneOf", "allOf", "$ref"))
_FORMS = frozenset(("const", "enum", "format", "pattern"))
_SCALARS = frozenset((int, float, bool, type(None)))
_HOLDING = (str, dict, list, Mapping)
_GROUPS = (list, tuple, set, frozenset, deque)


def takes_numbers(schema: Schema) -> bool:
    """Return whether a schema may accept a number anywhere, also in an object with free keys."""
    nodes = list_schemas(schema)
    return any("number" in node.get("type", ()) or node.get("additionalProperties") for node in nodes)


def list_infinite(given: Any, schema: Schema) -> list[Loc]:
    """List the places of texts with non-finite numbers; keys with pydantic's label."""
    return [path for path in _find_texts(given, ()) if path[-1] == OF_KEYS or _is_number(schema, path)]


def refuse_infinite(given: Mapping[str, Any], checked: Any, schema: Schema) -> None:
    """Refuse texts that were converted to infinite numbers or NaN.

    Args:
        given: The arguments.
        checked: What was made of them.
        schema: Their schema.

    Raises:
        ValidationError: One error for each.
    """
    if not _may_hold(given.values()):  # As most do not, which is seen at once.
        return
    found = list_infinite(given, schema)
    made = set(_find_made(checked)) if found else ()
    errors = [
        InitErrorDetails(type="finite_number", loc=path, input=None)
        for path in found
        if ("key" if path[-1] == OF_KEYS else "value") in made
    ]
    if errors:
        raise ValidationError.from_exception_data(INFERRED, errors)


def _may_hold(members: Collection[Any]) -> bool:
    """Return whether any text, at any depth, or a key below, may be read as such a number."""
    keys: set[Any] = set()
    # Level by level, since a call of a function for each row would take longer than the look at it.
    while members:
        inside: list[Any] = []
        for it in members:
            if type(it) in _SCALARS:
                continue
            if isinstance(it, str):
                if (it[:1] in _BEGINS or it[:1] > _LAST) and _is_like_number(it):
                    return True
            elif isinstance(it, dict):
                keys.update(it)
                inside += it.values()
            elif isinstance(it, list):
                inside += it
        members = inside
    return any(isinstance(key, str) and _is_like_number(key) for key in keys)


def _find_texts(value: Any, path: Loc) -> Iterator[Loc]:
    if isinstance(value, str):
        if _is_infinite(value):
            yield path
        return
    members = enumerate(value) if isinstance(value, list) else value.items()
    for step, item in members:
        if path and isinstance(step, str) and _is_infinite(step):
            yield (*path, step, OF_KEYS)
        if type(item) not in _SCALARS and isinstance(item, _HOLDING):
            yield from _find_texts(item, (*path, step))


def _is_like_number(text: str) -> bool:
    return _NUMBER_LIKE.match(text) is not None


def _is_infinite(text: str) -> bool:
    try:
        # Pydantic reads over single underscores at any place.
        return _is_like_number(text) and not math.isfinite(float(text.replace("_", "")))
    except ValueError:
        return False


def _is_number(schema: Schema, path: Loc) -> bool:
    """Return whether a value at a path may be a number, and no string."""
    kinds = {kind for node in list_schemas_at(schema, path) for kind in _list_types(node)}
    return "number" in kinds and "text" not in kinds


def _list_types(node: Schema) -> list[str]:
    if node.keys() & _CHOOSING:
        return []
    kinds = node.get("type", "string")
    # A text of a certain form may be another way to write a number, as of decimals.
    text = "a form" if node.keys() & _FORMS else "text"
    return [text if kind == "string" else kind for kind in ([kinds] if isinstance(kinds, str) else kinds)]


def _find_made(value: Any) -> Iterator[str]:
    """Yield converted numbers that are not finite, among keys and values."""
    if isinstance(value, Mapping):
        yield from ("key" for key in value if not _is_finite(key))
        inner: Iterable[Any] = value.values()
    elif isinstance(value, _GROUPS):
        inner = value
    else:
        if not _is_finite(value):
            yield "value"
        inner = _list_fields(value)
    for item in inner:
        yield from _find_made(item)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except (TypeError, ValueError, OverflowError):
        return not isinstance(value, float)


def _list_fields(value: Any) -> Iterable[Any]:
    if isinstance(value, BaseModel):
        return [*vars(value).values(), *(value.__pydantic_extra__ or {}).values()]
    if hasattr(type(value), "__fields__"):  # As models of pydantic 1 have.
        return list(vars(value).values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return ()
