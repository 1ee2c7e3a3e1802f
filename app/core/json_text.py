"""Parse JSON text that comes from outside."""

import math
import re
from typing import Any

from pydantic_core import from_json

# A number that a float may round to infinity: a large exponent, or more digits than a float reaches.
_MAYBE_HUGE = re.compile(rb"[eE]\+?\d{3}|\d{309}")


def parse_json(text: bytes) -> Any:
    """Parse strictly, with a bound on everything.

    Refused are NaN, Infinity and numbers that round to it, nesting deeper than 200 levels, integers of over 4,300
    digits, invalid UTF-8 and lone surrogates.

    Raises:
        ValueError: The text is not such JSON; the message says where.
    """
    value = from_json(text, allow_inf_nan=False)
    if _MAYBE_HUGE.search(text) and not _is_finite(value):
        raise ValueError("number out of range")
    return value


def _is_finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_is_finite(item) for item in value.values())
    return all(_is_finite(item) for item in value) if isinstance(value, list) else True


def json_kind(value: Any) -> str:
    """Say what a parsed value is in the words of JSON, with an article: `an array`, `null`."""
    return _KINDS.get(type(value), "a number")


_KINDS: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    type(None): "null",
}
