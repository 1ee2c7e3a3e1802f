"""Build the error entry of one argument: what is expected, and what was likely meant."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.describe import MOST_LISTED, add_article, describe, describe_choice, write_literal
from sidecall.kernel.schema.references import resolve
from sidecall.kernel.suggest.fuzzy_match import find_likely_name, find_resembling, find_same

Path = tuple[str | int, ...]

# Longer lists do not help a model.
_MOST_ALLOWED = 100

_MOST_MEANT = 4


def list_allowed(node: Schema, root: Schema) -> list[Any]:
    """List a schema's enumerated values; empty if it accepts others too."""
    found: list[Any] = []
    for option in list_options(node, root):
        if "const" in option:
            found.append(option["const"])
        elif "enum" in option:
            found.extend(option["enum"])
        elif option.get("type") != "null":
            return []
    return found


def make_invalid(path: Path, kind: str, node: Schema, root: Schema, sent: Any = None) -> FieldError:
    """Make the entry of an invalid value; `sent` is only compared, never repeated."""
    allowed = list_allowed(node, root) if "not" not in node else []
    if not allowed:
        others = [option for option in list_options(node, root) if option.get("type") != "null"]
        wanted = describe({"anyOf": others} if len(others) > 1 else [*others, node][0])
        return {"loc": list(path), "type": kind, "msg": say_wanted(wanted), "expected": wanted}
    return make_choice(path, kind, allowed, sent)


def say_wanted(words: str) -> str:
    """Format what is expected, with an article before the name of a type."""
    return f"Input should be {add_article(words)}"


def make_choice(path: Path, kind: str, allowed: Sequence[Any], sent: Any = None) -> FieldError:
    """Make the entry of a value that is not in an enumeration."""
    texts = {value: value for value in allowed if isinstance(value, str)}
    meant = find_likely_name(sent, texts) if isinstance(sent, str) and sent not in texts else None
    shown = _put_first(allowed, meant) if len(allowed) > MOST_LISTED else allowed
    wanted = describe_choice(shown)
    entry: FieldError = {"loc": list(path), "type": kind, "msg": f"Input should be {wanted}"}
    entry["expected"] = wanted
    entry["allowed"] = list(allowed[:_MOST_ALLOWED])
    return suggest(entry, meant) if meant is not None and len(allowed) > 1 else entry


def suggest(entry: FieldError, meant: Any) -> FieldError:
    """Add the likely meant name or value to an entry."""
    return {**entry, "msg": f"{entry['msg']}; did you mean {write_literal(meant)}?", "suggestion": meant}


def _put_first(values: Sequence[Any], first: Any) -> list[Any]:
    return [*(value for value in values if value == first), *(value for value in values if value != first)]


def make_missing(path: Path, node: Schema | None, root: Schema, reason: str = "") -> FieldError:
    """Make the entry of a missing argument; `reason` says why it is required, if that depends on others."""
    entry: FieldError = {"loc": list(path), "type": "missing", "msg": f"Field required{reason}"}
    if node is not None:
        wanted = describe(node)
        entry["msg"] += f" ({wanted})"
        entry["expected"] = wanted
        allowed = list_allowed(node, root)
        if allowed:
            entry["allowed"] = allowed[:_MOST_ALLOWED]
    return entry


def make_key(path: Path, kind: str, wanted: str) -> FieldError:
    """Make the entry of a key that its object does not take; the path ends with it."""
    return {
        "loc": list(path),
        "type": kind,
        "msg": f"the key has to be {add_article(wanted)}",
        "expected": wanted,
    }


def make_unknown(path: Path, names: Sequence[str]) -> FieldError:
    """Make the entry of a name that an object does not accept."""
    known = ", ".join(sorted(names)[:MOST_LISTED]) + (", …" if len(names) > MOST_LISTED else "")
    return {
        "loc": list(path),
        "type": "extra_forbidden",
        "msg": f"There is no such argument; the arguments are: {known or 'none'}",
        "allowed": list(names[:_MOST_ALLOWED]),
    }


def make_ambiguous(path: Path, names: Sequence[str]) -> FieldError:
    """Make the entry of a name that may have been meant for one of several."""
    *first, last = names[:_MOST_MEANT]
    said = f"{', '.join(first)} or {last}" if first else last
    return {
        "loc": list(path),
        "type": "misnamed_argument",
        "msg": f"There is no such argument; did you mean {said}?",
        "allowed": list(names[:_MOST_MEANT]),
    }


def make_misnamed(path: Path, meant: Path, names: Sequence[str]) -> FieldError:
    """Make the entry of a name that was likely meant for another one, here or elsewhere."""
    is_beside = path[:-1] == meant[:-1]
    said = str(meant[-1]) if is_beside else format_path(meant)
    outer = f", not inside {format_path(path[:-1])}" if len(meant) < len(path) else ""
    return {
        "loc": list(path),
        "type": "misnamed_argument" if is_beside else "misplaced_argument",
        "msg": f"There is no such argument; did you mean {said}{outer}?",
        "allowed": list(names[:_MOST_ALLOWED]),
        "suggestion": said,
    }


_CHOOSING = frozenset(("anyOf", "oneOf", "$ref"))
# Keys that are compared with those they may have been meant for.
_MOST_COMPARED = 20


def list_options(node: Any, root: Schema) -> list[Schema]:
    """List a schema's options, flattened; itself if it is no choice. Null is included."""
    if not isinstance(node, dict):
        return []
    if "anyOf" not in node and "oneOf" not in node and "$ref" not in node:
        return [node]
    choices = node.get("anyOf") or node.get("oneOf")
    if choices and _is_flat(node, choices):
        return list(choices)
    waiting = [resolve(node, root)]
    found: list[Schema] = []
    seen: set[int] = set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        choices = [it for key in ("anyOf", "oneOf") for it in one.get(key, ()) if isinstance(it, dict)]
        if choices and "properties" not in one:
            waiting = [resolve(choice, root) for choice in choices] + waiting
        else:
            found.append(one)
    return found


def _is_flat(node: Schema, choices: Sequence[Any]) -> bool:
    """Return whether a schema is a choice without nested choices, as most are."""
    is_one = len(node.keys() & _CHOOSING) == 1 and "properties" not in node
    return is_one and all(isinstance(it, dict) and not it.keys() & _CHOOSING for it in choices)


def list_members(node: Schema, root: Schema) -> list[Schema]:
    """List a schema's options, without null."""
    if "anyOf" not in node and "oneOf" not in node and "$ref" not in node:
        return [] if node.get("type") == "null" else [node]
    return [option for option in list_options(node, root) if option.get("type") != "null"]


def find_tag(options: Sequence[Schema], node: Schema) -> str | None:
    """Return the property that discriminates a union of objects, declared or inferred."""
    declared = node.get("discriminator")
    if isinstance(declared, dict) and isinstance(declared.get("propertyName"), str):
        return str(declared["propertyName"])
    objects = [option for option in options if "properties" in option]
    if len(objects) < 2:
        return None
    names = [name for name in objects[0]["properties"] if all(list_tags(it, name) for it in objects)]
    return next((name for name in names if _are_apart([list_tags(it, name) for it in objects])), None)


def _are_apart(tags: Sequence[Sequence[Any]]) -> bool:
    every = [json.dumps(tag, default=str) for some in tags for tag in some]
    return len(set(every)) == len(every)


def list_tags(option: Schema, name: str) -> list[Any]:
    """List the values of a member's discriminating property, if there are few."""
    inner = option.get("properties", {}).get(name)
    if not isinstance(inner, dict):
        return []
    return [inner["const"]] if "const" in inner else list(inner.get("enum", ()))


def find_tagged(value: Mapping[str, Any], tag: str, options: Sequence[Schema]) -> Schema | None:
    """Return the member that an object's tag names."""
    return next((it for it in options if tag in value and value[tag] in list_tags(it, tag)), None)


def choose_member(value: Any, options: Sequence[Schema]) -> Schema | None:
    """Return the union member that a value was likely meant for; None if several are possible."""
    if len(options) == 1:
        return options[0]
    if not isinstance(value, dict):
        return None
    objects = [option for option in options if "properties" in option]
    knowing = [option for option in objects if all(key in option["properties"] for key in value)]
    if len(knowing) == 1:
        return knowing[0]
    scores = [(_score(value, option), option) for option in objects]
    scores.sort(key=lambda pair: pair[0], reverse=True)
    if not scores or scores[0][0] <= 0 or (len(scores) > 1 and scores[0][0] == scores[1][0]):
        return None
    return scores[0][1]


def _score(value: Mapping[str, Any], option: Schema) -> float:
    """Count the keys that a member knows, minus missing required ones; a similar key counts half."""
    properties: Schema = option["properties"]
    known = sum(key in properties for key in value)
    unsent = [key for key in properties if key not in value]
    unknown = [key for key in value if key not in properties][:_MOST_COMPARED]
    same = sum(bool(find_same(str(key), unsent)) for key in unknown)
    similar = sum(find_resembling(str(key), unsent) is not None for key in unknown)
    missing = sum(key not in value for key in option.get("required", ()))
    return known + 0.5 * (same + similar) - 0.25 * max(0, missing - similar)
