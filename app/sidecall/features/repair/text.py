"""Parse JSON text as models write it: fenced, encoded twice, or with Python's quotes and literals."""

import re
from collections.abc import Mapping
from typing import Any

from sidecall.kernel.json_data.large_values import is_on_loop
from sidecall.kernel.json_data.text import parse_json
from sidecall.kernel.schema.errors.reading import SHORT, LongRepair

_FENCE = "```"
# How often text is looked for inside text.
_MOST_LAYERS = 3
# Longer texts are not translated, since each token costs time.
_MOST_RELAXED = 100_000
_TOKEN = re.compile(
    r"""(?P<space>\s++)
    |(?P<double>"[^"\\]*+(?:\\.[^"\\]*+)*+")
    |(?P<single>'[^'\\]*+(?:\\.[^'\\]*+)*+')
    |(?P<comma>,(?=\s*+[}\]]))
    |(?P<mark>[{}\[\]:,])
    |(?P<number>-?\d[\d.eE+-]*+)
    |(?P<key>[A-Za-z_]\w*+(?=\s*+:))
    |(?P<word>[A-Za-z]++)""",
    re.VERBOSE | re.DOTALL,
)
_ENDS = {"{": "}", "[": "]"}
_OPENING, _CLOSING = frozenset(_ENDS), frozenset(_ENDS.values())
# How deep a value may be, as for the parser.
_MOST_LEVELS = 200
# What each token may be followed by, roughly: the parser has the last word.
_TEXTS = {"double", "single"}
_BEFORE_VALUE = frozenset({*_TEXTS, "number", "word", *_OPENING})
_AFTER_VALUE = frozenset({",", ":", *_CLOSING})
_NOTHING: frozenset[str] = frozenset()
_FOLLOWING = {
    "{": frozenset({*_TEXTS, "key", "}"}),
    "[": _BEFORE_VALUE | {"]"},
    ",": _BEFORE_VALUE | {"key"},
    ":": _BEFORE_VALUE,
    "key": frozenset({":"}),
}
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_INSIDE = re.compile(r"""\\.|["\n\r\t]""", re.DOTALL)


def leave_to_thread(args: Mapping[str, Any]) -> None:
    """Refuse to repair arguments on an event loop that hold long texts which may be objects or arrays.

    Raises:
        LongRepair: They are to be repaired in a thread.
    """
    if not is_on_loop():
        return
    left, pending = SHORT, [*args.values()]
    while pending:
        value = pending.pop()
        if type(value) is list:
            pending.extend(value)
        elif type(value) is dict:
            pending.extend(value.values())
        elif may_hold_container(value):
            left -= len(value)
            if left < 0:
                raise LongRepair


def parse_arguments(text: str, repaired: list[str]) -> tuple[Any, str]:
    """Parse the JSON text of arguments, removing fences and extra encodings, and translating Python syntax.

    Args:
        text: What the model wrote.
        repaired: Where each mend is noted.

    Returns:
        The value, and the JSON text that it was parsed from in the end.

    Raises:
        ValueError: It is not JSON even so. Text that was cut off is never completed.
    """
    value, written = _parse_layer(text, repaired)
    for _ in range(_MOST_LAYERS - 1):
        inner, text_inside = _read_inside(value)
        if inner is value:
            break
        repaired.append("arguments: JSON text inside JSON text")
        value, written = inner, text_inside
    return value, written


def read_container(text: Any) -> Any:
    """Return the object or array in a JSON text; other values unchanged."""
    return _read_inside(text)[0]


def may_hold_container(value: Any) -> bool:
    """Return whether a value is a text in which `read_container` looks for an object or array."""
    return isinstance(value, str) and value.lstrip().startswith(("{", "[", _FENCE))


def _read_inside(text: Any) -> tuple[Any, str]:
    if not may_hold_container(text):
        return text, ""
    try:
        value, written = _parse_layer(text, [])
    except ValueError:
        return text, ""
    return (value, written) if isinstance(value, (dict, list)) else (text, "")


def _parse_layer(text: str, repaired: list[str]) -> tuple[Any, str]:
    inside = _strip_fence(text)
    if inside is not None:
        repaired.append("arguments: taken out of a Markdown fence")
        text = inside
    try:
        return parse_json(text.encode()), text
    except ValueError:
        strict = _write_strictly(text)
        if strict is None:
            raise
        try:
            value = parse_json(strict.encode())
        except ValueError:
            value = None
        if value is None:
            raise
        repaired.append("arguments: read as JSON, though not written strictly")
        return value, strict


def _strip_fence(text: str) -> str | None:
    # Not with a regular expression, which would take hours for megabytes of line breaks.
    block = text.strip()
    if len(block) < 2 * len(_FENCE) or not block.startswith(_FENCE) or not block.endswith(_FENCE):
        return None
    language, line_break, inside = block[len(_FENCE) : -len(_FENCE)].partition("\n")
    if line_break and language.strip().lower() in ("", "json", "json5", "javascript", "python"):
        return inside
    whole = block[len(_FENCE) : -len(_FENCE)].removeprefix("json").strip()
    return whole if whole.startswith(("{", "[")) else None


def _write_strictly(text: str) -> str | None:
    """Translate Python's and JavaScript's literals to JSON, token by token; None if it is neither.

    No bracket, quote or comma is ever added, so truncated text stays broken. It stops at the first unexpected token,
    since invalid text may be long.
    """
    if len(text) > _MOST_RELAXED or not _has_both_ends(text):
        return None
    written: list[str] = []
    place, depth, following = 0, 0, _BEFORE_VALUE
    while place < len(text):
        found = _TOKEN.match(text, place)
        token = None if found is None else _write_token(found)
        if found is None or token is None:
            return None
        place = found.end()
        kind = token if found.lastgroup == "mark" else found.lastgroup
        if token and kind != "space":
            depth += (kind in _OPENING) - (kind in _CLOSING)
            if kind not in following or depth > _MOST_LEVELS:
                return None
            following = _FOLLOWING.get(kind, _AFTER_VALUE) if depth else _NOTHING
        written.append(token)
    return "".join(written)


def _has_both_ends(text: str) -> bool:
    """Return whether a text that begins with a bracket ends with the matching one."""
    block = text.strip()
    return block[:1] not in _ENDS or block[-1:] == _ENDS[block[:1]]


def _write_token(found: re.Match[str]) -> str | None:
    kind, token = found.lastgroup, found.group()
    if kind == "comma":
        return ""
    if kind == "key":
        return f'"{token}"'
    if kind == "word":
        return _WORDS.get(token)
    if kind in ("double", "single"):
        return f'"{_INSIDE.sub(_write_inside, token[1:-1])}"'
    return token


def _write_inside(found: re.Match[str]) -> str:
    piece = found.group()
    if piece == "\\'":
        return "'"
    return '\\"' if piece == '"' else _CONTROLS.get(piece, piece)
