"""Parse simple `sidecall serve` arguments without importing Typer.

That import takes a fortieth of the start, and is only needed for help, mistakes and other spellings.
"""

import re
from collections.abc import Sequence
from typing import Any

# Options that take a word or a number, those that may come again, and those that stand alone.
_TEXTS, _NUMBERS = {"--host": "host"}, {"--port": "port", "--workers": "workers"}
_LISTS, _SWITCHES = (
    {"--tools": "tools", "--toolkit": "toolkits"},
    {"--reload": "reload", "--allow-empty": "allow_empty"},
)
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)


def read_serve(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments of `serve`; None for another command, or if they are not that simple."""
    if words[:1] != ["serve"]:
        return None
    given: dict[str, Any] = {}
    rest = iter(words[1:])
    for option in rest:
        if option in _SWITCHES:
            given[_SWITCHES[option]] = True
            continue
        value = next(rest, "-")
        if value.startswith("-") or not _add(given, option, value):
            return None
    return given


def _add(given: dict[str, Any], option: str, value: str) -> bool:
    """Add a value, and return whether that was possible."""
    if option in _LISTS:
        given.setdefault(_LISTS[option], []).append(value)
    elif option in _TEXTS:
        given[_TEXTS[option]] = value
    elif option in _NUMBERS and _NUMBER.fullmatch(value):
        given[_NUMBERS[option]] = int(value)
    else:
        return False
    return True
