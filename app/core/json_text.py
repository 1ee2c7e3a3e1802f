"""Parse JSON text that comes from outside."""

import math
import re
from typing import Any

from pydantic_core import from_json

# A number that a float may round to infinity: a large exponent, or more digits than a float reaches.
_MAYBE_HUGE = re.compile(rb"[eE]\+?\d{3}|\b\d{309}")


def parse_json(text: bytes) -> Any:
    """Parse strictly, with a bound on everything.

    Refused are NaN, Infinity and numbers that round to it, nesting deeper than 200 levels, integers of over 4,300
    digits, invalid UTF-8 and lone surrogates.

    Raises:
        ValueError: The text is not such JSON; the message says where.
    """
    value = from_json(text, allow_inf_nan=False)
    if _MAYBE_HUGE.search(text) and not is_finite(value):
        raise ValueError("number out of range")
    return value


def is_finite(value: Any) -> bool:
    """Tell whether every number in parsed JSON is one that JSON has."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    # Spelled out rather than with all(), since every call passes here.
    if kind is dict:
        for item in value.values():
            if type(item) in _NESTED and not is_finite(item):
                return False
    elif kind is list:
        for item in value:
            if type(item) in _NESTED and not is_finite(item):
                return False
    return True


_NESTED = frozenset((float, dict, list))


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
