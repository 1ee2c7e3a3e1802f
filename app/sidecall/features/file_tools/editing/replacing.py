"""Edit a text by content or line number."""

from typing import NamedTuple

from sidecall.kernel.core.errors import ToolException

_MOST_SHOWN = 20


class Edited(NamedTuple):
    """An edited text, and its new lines, counted from 0."""

    text: str
    first: int
    last: int


def locate_lines(text: str, wanted: str, most: int = _MOST_SHOWN) -> list[int]:
    """List the numbers of the lines where a text begins; occurrences may overlap."""
    lines: list[int] = []
    position, line, seen = text.find(wanted), 1, 0
    while position >= 0 and len(lines) < most:
        line += text.count("\n", seen, position)
        seen = position
        lines.append(line)
        position = text.find(wanted, position + 1)
    return lines


def fit_endings(text: str, old: str, new: str) -> tuple[str, str]:
    """Convert search text and replacement to the line endings of a text."""
    if "\r\n" not in text or "\n" not in old + new:
        return old, new
    if old in text and "\n" in old:
        return old, new
    fitted, filled = (it.replace("\r\n", "\n").replace("\n", "\r\n") for it in (old, new))
    return (fitted, filled) if fitted in text else (old, new)


def replace_once(text: str, old: str, new: str) -> Edited:
    """Replace the only occurrence in a text.

    Raises:
        ValueError: There is none, or there are several.
    """
    old, new = fit_endings(text, old, new)
    position = text.find(old)
    if not old or position < 0 or text.find(old, position + 1) >= 0:
        raise ValueError(old)
    first = text.count("\n", 0, position)
    return Edited(text[:position] + new + text[position + len(old) :], first, first + new.count("\n"))


def replace_every(text: str, path: str, old: str, new: str, *, only_one: bool) -> tuple[str, int]:
    """Replace all occurrences of a text, and return their number.

    Raises:
        ToolException: It does not occur, or occurs several times where only one is wanted.
    """
    if not old or old == new:
        reason = "`old_string` is empty" if not old else "`old_string` and `new_string` are the same"
        raise ToolException(f"edit: {reason}, so there is nothing to replace")
    old, new = fit_endings(text, old, new)
    count = text.count(old)
    if count == 0:
        raise ToolException(f"edit: old_string not found in {path}")
    if only_one and (count > 1 or len(locate_lines(text, old, 2)) > 1):
        lines = ", ".join(map(str, locate_lines(text, old)))
        raise ToolException(f"edit: old_string appears at lines {lines} in {path} (must be unique)")
    return text.replace(old, new), count


def insert_lines(text: str, line: int, inserted: str) -> Edited:
    """Insert lines below the line of this number, 0 for the top.

    Raises:
        ToolException: There is no such line.
    """
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        allowed = f"It should be within the range of lines of the file: [0, {len(lines)}]"
        raise ToolException(f"Invalid `insert_line` parameter: {line}. {allowed}.")
    ending = "\r\n" if "\r\n" in text else "\n"
    new = inserted.replace("\r\n", "\n").removesuffix("\n").split("\n")
    has_carriage = ending == "\r\n"
    fresh = [f"{it}\r" if has_carriage else it for it in new]
    if lines and not text.endswith("\n") and line == len(lines):
        # The former last line gets an ending, and the new one has none, as before.
        lines[-1] += "\r" if has_carriage else ""
        fresh[-1] = new[-1]
    keeps_end = not text or text.endswith("\n")
    joined = "\n".join([*lines[:line], *fresh, *lines[line:]])
    return Edited(joined + ("\n" if keeps_end else ""), line, line + len(new) - 1)
