"""Read JSON text as models write it: fenced, encoded twice, or with the quotes and words of Python."""

import re
from typing import Any

from sidecall.core.json_text import parse_json

_FENCE = "```"
# How often text is looked for inside text.
_MOST_LAYERS = 3
# Nobody writes as much by hand, and each token of it is looked at.
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
_WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_INSIDE = re.compile(r"""\\.|["\n\r\t]""", re.DOTALL)


def parse_arguments(text: str, repaired: list[str]) -> Any:
    """Parse the JSON text of arguments, out of fences, further encodings and Python's spelling if need be.

    Args:
        text: What the model wrote.
        repaired: Where each mend is noted.

    Raises:
        ValueError: It is not JSON even so. Text that was cut off is never completed.
    """
    value = _parse_layer(text, repaired)
    for _ in range(_MOST_LAYERS - 1):
        inner = read_container(value)
        if inner is value:
            break
        repaired.append("arguments: JSON text inside JSON text")
        value = inner
    return value


def read_container(text: Any) -> Any:
    """Return the object or the array that a text is the JSON text of; anything else as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[", _FENCE)):
        return text
    try:
        value = _parse_layer(text, [])
    except ValueError:
        return text
    return value if isinstance(value, (dict, list)) else text


def _parse_layer(text: str, repaired: list[str]) -> Any:
    inside = _strip_fence(text)
    if inside is not None:
        repaired.append("arguments: taken out of a Markdown fence")
        text = inside
    try:
        return parse_json(text.encode())
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
        return value


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
    """Write Python's and JavaScript's spelling of a value as JSON, token by token; None where it is neither.

    No bracket, quote or comma is ever added, so what was cut off stays broken.
    """
    if len(text) > _MOST_RELAXED:
        return None
    written: list[str] = []
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        token = None if found is None else _write_token(found)
        if found is None or token is None:
            return None
        written.append(token)
        place = found.end()
    return "".join(written)


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
