"""Errors of single arguments, and their short text for models."""

from collections.abc import Sequence
from typing import Any, NotRequired, TypedDict

from sidecall.kernel.json_data.pointer import format_path

# Fields that are named as wrong; a model that gets more of them wrong has misunderstood the tool.
MOST_FIELDS = 100
# What the whole may take, and one line of several.
_MOST_TEXT = 400
_MOST_LINE = 200
_MOST_NAMED = 100


class FieldError(TypedDict):
    """An error in one argument: its path (`loc`), the rule, and the message.

    `expected` describes what is wanted, `allowed` lists the accepted values or names, `suggestion` is the one that was
    most likely meant.
    """

    loc: list[str | int]
    type: str
    msg: str
    expected: NotRequired[str]
    allowed: NotRequired[list[Any]]
    suggestion: NotRequired[Any]


def write_lines(errors: Sequence[FieldError], *, is_whole: bool = True) -> str:
    """Format errors as one line each; equal errors of many list items share a line.

    Args:
        errors: The mistakes.
        is_whole: Whether there are no more of them.
    """
    lines = _group(errors)
    most = _MOST_TEXT if len(lines) == 1 else _MOST_LINE
    shown: list[str] = []
    left = _MOST_TEXT - (0 if is_whole and len(lines) == 1 else _MOST_NAMED)
    for path, text in lines:
        line = _shorten(f"{_shorten(path, _MOST_NAMED)}: {text}", most)
        if shown and len(line) + 1 > left:
            break
        shown.append(line)
        left -= len(line) + 1
    return "\n".join([*shown, *_name_others([path for path, _ in lines[len(shown) :]], is_whole)])


def _group(errors: Sequence[FieldError]) -> list[tuple[str, str]]:
    """Pair paths with texts; paths that differ only in their indexes are merged."""
    if len(errors) == 1:
        return [(format_path(errors[0]["loc"]), errors[0]["msg"])]
    groups: dict[tuple[str, str], dict[str, FieldError]] = {}
    for error in errors:
        pattern = format_path(["*" if isinstance(part, int) else part for part in error["loc"]])
        # One value may break two rules of one sentence.
        groups.setdefault((pattern, error["msg"]), {})[format_path(error["loc"])] = error
    return [
        (_write_pattern(next(iter(alike.values()))["loc"]), f"{text} ({len(alike)} items)")
        if len(alike) > 1
        else (next(iter(alike)), text)
        for (_, text), alike in groups.items()
    ]


def _write_pattern(loc: Sequence[str | int]) -> str:
    text = ""
    for part in loc:
        text += "[*]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _name_others(paths: Sequence[str], is_whole: bool) -> list[str]:
    """Name the remaining errors, as far as there is room."""
    if not paths:
        return [] if is_whole else ["… and more"]
    named = _shorten(", ".join(dict.fromkeys(paths)), _MOST_NAMED - 30)
    return [f"… and {len(paths)} more: {named}" if is_whole else f"… and more: {named}"]


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
