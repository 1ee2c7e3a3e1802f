"""Build the error entry of one argument: what is expected, and what was likely meant."""

from collections.abc import Sequence
from typing import Any

from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.describe import MOST_LISTED, add_article, describe, describe_choice, write_literal
from sidecall.kernel.schema.repair.members import list_options
from sidecall.kernel.suggest.fuzzy_match import find_likely_name

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
