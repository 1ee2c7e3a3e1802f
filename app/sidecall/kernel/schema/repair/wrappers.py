"""Unwrap arguments that models put into an extra object."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.repair.text import read_container

# Members next to the arguments in calls of providers and protocols.
_BESIDE = frozenset(("name", "type", "id", "tool", "tool_name", "function", "function_name", "action", "call_id"))
_WRAPPERS = frozenset(
    "args arguments input inputs kwargs params parameters properties tool_input action_input function_args data"
    " payload body request function".split()
)
_MOST_LAYERS = 3


def find_wrapped(args: Mapping[str, Any], root: Schema) -> tuple[tuple[str, ...], dict[str, Any]] | None:
    """Find arguments inside an unknown object; return the wrapper's path and its content."""
    path: list[str] = []
    inner: Mapping[str, Any] = args
    known = root.get("properties", {})
    while len(path) < _MOST_LAYERS and (name := _choose_wrapper(inner, known)) is not None:
        held = read_container(inner[name])
        if not isinstance(held, dict):
            break
        path.append(name)
        inner = held
    is_known = bool(path) and (bool(inner) or path[-1] in _WRAPPERS)
    return (tuple(path), dict(inner)) if is_known and _looks_right(inner, root) else None


def _choose_wrapper(args: Mapping[str, Any], known: Mapping[str, Any]) -> str | None:
    if not known.keys().isdisjoint(args):
        return None
    names = [name for name in args if name not in _BESIDE]
    held = names if len(names) == 1 else [name for name in args if name == "function"] if not names else []
    if len(held) != 1:
        return None
    is_lone = len(args) == 1
    return held[0] if is_lone or held[0] in _WRAPPERS else None


def _looks_right(inner: Mapping[str, Any], root: Schema) -> bool:
    """Return whether an object looks like the arguments: some known names, and all required ones."""
    known = root.get("properties", {})
    if not inner:
        return not root.get("required")
    return not known.keys().isdisjoint(inner) and inner.keys() >= set(root.get("required", ()))
