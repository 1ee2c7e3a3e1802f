"""Format values of Monty's like Python; those of a model's code may be too large or too deep."""

from collections import deque
from collections.abc import Iterable
from typing import Any

import pydantic_monty as monty

from sidecall.kernel.core.log_text import shorten

_MOST_SHOWN = 65_536
# A lower bound of the output's size, so that formatting does not exhaust memory or time.
_MOST_WRITTEN = 16_000_000
_WRITTEN_OF_EACH = 32


def format_value(value: Any) -> tuple[str | None, str | None]:
    """Return a value as Python formats it, without the middle of a long one, or the error of formatting it."""
    if value is None:
        return None, None
    if _is_too_large(value):
        return None, "MemoryError: the value of the last line is too large to show; print the part of it that you need"
    try:
        return shorten(repr(value), _MOST_SHOWN), None
    except Exception as error:  # A number with too many digits, or lists nested too deeply: the model has to fix it.
        return None, f"{type(error).__name__}: the value of the last line cannot be shown: {error}"


def _is_too_large(value: Any) -> bool:
    # A value may contain another many times, and each time it is written out.
    written, waiting = 0, [value]
    while waiting:
        found = waiting.pop()
        parts = _list_parts(found)
        written += _WRITTEN_OF_EACH + (len(found) if isinstance(found, str | bytes) else len(parts))
        if written > _MOST_WRITTEN:
            return True
        waiting.extend(parts)
    return False


def _list_parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, monty.MontyClassProxy):
        return list(value.attributes.values())
    parts: Iterable[Any] = value if isinstance(value, list | tuple | set | frozenset | deque) else ()
    return list(parts)
