"""Compare two schemas of a tool's arguments, and tell which changes break callers."""

import json
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from sidecall.kernel.core.tool import Schema

# Words for people and models.
_SAID = frozenset("title description examples default deprecated readOnly writeOnly $comment".split())
# Bounds that narrow as they grow, and those that narrow as they shrink.
_FROM = frozenset("minimum exclusiveMinimum minLength minItems minProperties".split())
_UP_TO = frozenset("maximum exclusiveMaximum maxLength maxItems maxProperties".split())
_OWN_RULES = frozenset("type enum const properties required items anyOf oneOf additionalProperties $defs".split())
_ALL_TYPES = frozenset("null boolean object array number string".split())
_SHOWN = 60


class Change(Struct, frozen=True):
    """One difference: its location, its text, and whether it breaks callers."""

    where: str
    what: str
    breaks: bool

    @property
    def text(self) -> str:
        """The change in a sentence."""
        return f"{self.where}: {self.what}" if self.where else self.what


def compare_parameters(old: Schema, new: Schema) -> list[Change]:
    """List how the schema of arguments has changed."""
    return list(_compare(old, new, ""))


def _compare(old: Any, new: Any, where: str) -> Iterator[Change]:
    if old == new:
        return
    # True and {} take anything, False nothing.
    old, new = _to_object(old), _to_object(new)
    if _has_options(old) or _has_options(new):
        yield from _compare_options(old, new, where)
    else:
        yield from _compare_types(old, new, where)
        yield from _compare_values(old, new, where)
        yield from _compare_properties(old, new, where)
        yield from _compare_inner(old, new, where)
        yield from _compare_bounds(old, new, where)
    yield from _compare_words(old, new, where)


def _has_options(schema: Schema) -> bool:
    return "anyOf" in schema or "oneOf" in schema


def _to_object(schema: Any) -> Schema:
    if isinstance(schema, dict):
        return schema
    return {"not": {}} if schema is False else {}


def _list_types(schema: Schema) -> frozenset[str]:
    said = schema.get("type")
    if said is None:
        return _ALL_TYPES | {"integer"}
    types = frozenset([said] if isinstance(said, str) else said)
    return types | {"integer"} if "number" in types else types


def _compare_types(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    before, after = _list_types(old), _list_types(new)
    if before != after:
        what = f"its type was {_name(old)} and is {_name(new)}"
        yield Change(where, what, not before <= after)


def _name(schema: Schema) -> str:
    said = schema.get("type", "any")
    return said if isinstance(said, str) else " or ".join(said)


def _list_values(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")


def _compare_values(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    before, after = _list_values(old), _list_values(new)
    if before == after:
        return
    if after is None:
        yield Change(where, "takes other values than before, too", False)
    elif before is None:
        yield Change(where, f"takes only {_show(after)} now", True)
    else:
        gone = [value for value in before if value not in after]
        come = [value for value in after if value not in before]
        if gone:
            yield Change(where, f"does not take {_show(gone)} any more", True)
        if come:
            yield Change(where, f"takes {_show(come)}, too", False)


def _compare_options(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    """Compare alternatives: each old one has to fit a new one."""
    before, after = _list_options(old), _list_options(new)
    for option in before:
        if not any(_fits(option, other) for other in after):
            yield Change(where, f"does not take {_show(option)} any more", True)
    for option in after:
        if not any(_fits(option, other) for other in before):
            yield Change(where, f"takes {_show(option)}, too", False)


def _list_options(schema: Schema) -> list[Any]:
    options: list[Any] | None = schema.get("anyOf", schema.get("oneOf"))
    if options is not None:
        return options
    return [{key: value for key, value in schema.items() if key not in _SAID}]


def _fits(option: Any, other: Any) -> bool:
    return not any(change.breaks for change in _compare(option, other, ""))


def _compare_properties(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    before, after = old.get("properties", {}), new.get("properties", {})
    must_before, must_after = set(old.get("required", ())), set(new.get("required", ()))
    for name in before.keys() - after.keys():
        yield Change(_step(where, name), "is not there any more", True)
    for name in after:
        path = _step(where, name)
        if name not in before:
            needed = name in must_after
            yield Change(path, "is new, and required" if needed else "is new, and optional", needed)
        elif name in must_after and name not in must_before:
            yield Change(path, "is required now", True)
        elif name in must_before and name not in must_after:
            yield Change(path, "is optional now", False)
        if name in before:
            yield from _compare(before[name], after[name], path)


def _step(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _compare_inner(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    yield from _compare(old.get("items", True), new.get("items", True), f"{where}[]")
    before, after = old.get("additionalProperties", True), new.get("additionalProperties", True)
    if after is False and before is not False:
        yield Change(where, "takes no other keys any more", True)
    elif before is False and after is not False:
        yield Change(where, "takes other keys, too", False)
    else:
        yield from _compare(before, after, _step(where, "*"))


def _compare_bounds(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after or key in _SAID or key in _OWN_RULES:
            continue
        what = f"{key} was {_show(before)} and is {_show(after)}"
        yield Change(where, what, after is not None and not _is_wider(key, before, after))


def _is_wider(key: str, before: Any, after: Any) -> bool:
    if before is None or not (key in _FROM or key in _UP_TO):
        return False
    return bool(after <= before if key in _FROM else after >= before)


def _compare_words(old: Schema, new: Schema, where: str) -> Iterator[Change]:
    if where:
        for key in ("description", "default"):
            if old.get(key) != new.get(key):
                yield Change(where, f"has another {key}", False)


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
