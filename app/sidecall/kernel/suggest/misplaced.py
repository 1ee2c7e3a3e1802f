"""Find arguments under another dialect's name; the call would otherwise run without any."""

from collections.abc import Collection, Mapping
from typing import Any

from sidecall.kernel.json_data.text import parse_json

# What providers, frameworks and the pieces of their streams call the arguments of a call.
_NAMES = tuple(
    "args arguments input parameters params kwargs inputs tool_input toolInput tool_args toolArgs action_input"
    " partialArgs partial_args partial_json partialJson".split()
)
_NOTHING = frozenset(("", "{}", "[]", "null"))


def find_misplaced(call: Mapping[str, Any], right: str) -> str | None:
    """Return the name under which a call has its arguments if the right one is missing; None otherwise."""
    return None if is_filled(call.get(right)) else find_arguments(call, right)


def find_arguments(holder: Mapping[str, Any], *besides: str) -> str | None:
    """Return an unexpected name under which an object holds arguments, or None."""
    return next((name for name in _NAMES if name not in besides and is_filled(holder.get(name))), None)


def find_loose(call: Mapping[str, Any], parameters: Collection[str], known: Collection[str]) -> str | None:
    """List a tool's parameters that are next to the call's name, among unknown members."""
    return next((name for name in call if name not in known and name in parameters), None)


def differ(one: Any, other: Any) -> bool:
    """Return whether two arguments of a call differ, as objects or JSON texts."""
    return bool(_read(one) != _read(other))


def _read(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return parse_json(arguments.encode())
    except ValueError:  # A lone surrogate is none of UTF-8, too.
        return arguments


def is_filled(arguments: Any) -> bool:
    """Return whether arguments are non-empty, as an object or as JSON text."""
    if isinstance(arguments, str):
        return arguments.strip() not in _NOTHING
    return arguments is not None and arguments not in ({}, [])
