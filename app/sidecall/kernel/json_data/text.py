"""Parse untrusted JSON text, and write texts as JSON."""

import gc
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import DecodeError
from msgspec.json import Decoder
from pydantic_core import from_json

# What stands before a value within another; and texts, whose commas and brackets do not. Nothing is ever tried twice:
# a text that does not end goes to the end, and `++` and `*+` give nothing back.
_BEFORE_VALUE = re.compile(rb',|[\[{](?!\s*+[\]}])|"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_QUOTE = ord('"')
# Numbers of so many digits take long to read and to write, and together they may have so many.
_LONG_NUMBER, MOST_DIGITS = 300, 100_000
_LEAST_LONG = 10**_LONG_NUMBER
# As many of these in a row, as many bytes apart, and there may be one.
_STEP, _IN_A_ROW = 15, _LONG_NUMBER // 15
_MAYBE_LONG = re.compile(rb"\d{%d}" % _IN_A_ROW)
# Values that a text may hold: a model never writes as many, and they are parsed, checked and told of within 0.1 s.
MOST_VALUES = 50_000
# Values that a thread may parse at once: a parser holds Python's lock until all are there, and so the event loop.
MOST_AT_ONCE = 250_000
# Levels to which a text may nest, and bytes of a text that cannot be deeper.
_DEEPEST = 200
NEVER_DEEP = 2 * _DEEPEST
# Bytes from which on a text is parsed in the way that is quickest for large ones.
LARGE = 64 * 1024
_decode = Decoder().decode


def is_flat(text: bytes) -> bool:
    """Return whether a text surely nests no deeper than it may, and is short, so that any parser may read it."""
    # One that nests deeper has more brackets.
    return len(text) <= LARGE and text.count(b"[") + text.count(b"{") <= _DEEPEST


def parse_json(text: bytes, most: int | None = MOST_VALUES) -> Any:
    """Parse strictly, with a bound on everything.

    Refused are NaN, Infinity and numbers that round to it, nesting deeper than 200 levels, integers of over 4,300
    digits, more than 100,000 digits in integers of over 300 digits together, invalid UTF-8, lone surrogates, and more
    than `most` values (None if they were counted before).

    Raises:
        ValueError: The text is not such JSON; the message says where.
    """
    if most is not None and holds_more(text, most):
        raise ValueError(f"more than {most:,} values")
    if len(text) <= NEVER_DEEP or is_flat(text):
        try:  # It is as strict, in half the time.
            return _decode(text)
        except (DecodeError, UnicodeDecodeError):  # The other parser says what is wrong, and where.
            pass
    value = from_json(text, allow_inf_nan=False)
    # It takes longer to look for such numbers in the text than to look at all there are.
    if not is_finite(value):
        raise ValueError("number out of range")
    # First looked for in a part of the text: few have any.
    if len(text) > MOST_DIGITS and _MAYBE_LONG.search(text[::_STEP]) and _count_digits(value) > MOST_DIGITS:
        raise ValueError(f"numbers of more than {_LONG_NUMBER} digits with more than {MOST_DIGITS:,} together")
    return value


def _count_digits(value: Any) -> int:
    """Estimate the total digits of the long integers in a parsed value."""
    if type(value) is int:
        return int(value.bit_length() * math.log10(2)) if abs(value) >= _LEAST_LONG else 0
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return sum(_count_digits(item) for item in inner if type(item) in _WITH_DIGITS)


def holds_more(text: bytes, most: int) -> bool:
    """Return whether JSON text holds more than `most` values, nested ones included, without parsing it."""
    # Each value but the last takes two bytes at least, so that no more has to be known of what is sent all day.
    if len(text) <= 2 * most or text.count(b",") + text.count(b"[") + text.count(b"{") < most:
        return False
    count = 1
    for found in _BEFORE_VALUE.finditer(text):
        if text[found.start()] != _QUOTE:
            count += 1
            if count > most:
                return True
    return False


def has_more_text(value: Any, most: int) -> bool:
    """Return whether the texts of a JSON value, names included, have more than so many characters."""
    pending = [value]
    while pending and most >= 0:
        item = pending.pop()
        if type(item) is str:
            most -= len(item)
        elif type(item) is dict:
            pending += item
            pending += item.values()
        elif type(item) is list:
            pending += item
    return most < 0


def is_finite(value: Any) -> bool:
    """Return whether all numbers in a parsed value are finite."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)
    # Spelled out rather than with all(), since every call passes here.
    if kind is dict:
        for item in value.values():
            if type(item) in NESTED and not is_finite(item):
                return False
    elif kind is list:
        for item in value:
            if type(item) in NESTED and not is_finite(item):
                return False
    return True


NESTED = frozenset((float, dict, list))
_WITH_DIGITS = frozenset((int, dict, list))


def read_object(value: Any) -> Any:
    """Return an empty object for an empty array, as PHP and Lua write it; other values unchanged."""
    return {} if isinstance(value, list) and not value else value


def name_json_type(value: Any) -> str:
    """Return the JSON type of a parsed value, with an article: `an array`, `null`."""
    return _KINDS.get(type(value), "a number")


_KINDS: dict[type, str] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    type(None): "null",
}


def quote_text(text: str) -> str:
    """Write a text as ASCII JSON, as Python's own module does."""
    # Most are plain, and the module takes five times as long.
    is_plain = text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text}"' if is_plain else json.dumps(text)


@contextmanager
def pause_collector() -> Iterator[None]:
    """Pause the collector, which would otherwise walk through half a million objects ten times."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_args(args: dict[str, Any] | str) -> Any:
    """Parse the arguments, so that text and object compare equal."""
    if isinstance(args, dict):
        return args
    try:
        return read_object(parse_json(args.encode(errors="surrogatepass") or b"{}"))
    except ValueError:
        return args
