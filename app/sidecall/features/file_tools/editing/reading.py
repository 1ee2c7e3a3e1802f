"""Read texts out of a workspace: whole ones that are small, and lines of any."""

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.core.errors import ToolException

#: Maximum bytes that a model reads at once.
MOST_READ = 256 * 1024
#: Maximum bytes of a file that is edited, which is held in memory.
MOST_EDITED = 4 * 1024 * 1024

_PIECE = 64 * 1024


class Passage(NamedTuple):
    """Lines of a text, and the number of the first."""

    text: str
    first: int


def read_whole(workspace: Workspace, path: str, most: int = MOST_READ) -> str:
    """Read a whole text.

    Raises:
        ToolException: There is no such file, it is too large, or it is no text.
    """
    with _open_file(workspace, path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise ToolException(_describe_large(path, size, most))
        content = file.read(most + 1)
    if len(content) > most:
        raise ToolException(_describe_large(path, len(content), most))
    return decode_text(content, path)


def read_passage(workspace: Workspace, path: str, view_range: Sequence[int] | None, most: int = MOST_READ) -> Passage:
    """Read lines of a text, or all of it, holding no more than is returned.

    Args:
        workspace: The workspace.
        path: The path of the file.
        view_range: The first and the last line, counted from 1; -1 for the last one means to the end.
        most: Maximum bytes to return.

    Raises:
        ToolException: There is no such file, it has no such lines or too many, or it is no text.
    """
    if view_range is None:
        return Passage(read_whole(workspace, path, most), 1)
    first, last = _require_range(view_range)
    with _open_file(workspace, path) as file:
        content, lines = _cut_lines(file, first, last, most)
    if lines < first and (first > 1 or lines):
        raise ToolException(f"{path} has {lines} lines only. Use a smaller `view_range`.")
    if len(content) > most:
        text = f"Lines {first} to {last if last > 0 else 'the last'} of {path} take more than {most} bytes"
        raise ToolException(f"{text}. Use a smaller `view_range`.")
    return Passage(decode_text(content, path), first)


def decode_text(content: bytes, path: str) -> str:
    """Decode the bytes of a text.

    Raises:
        ToolException: They are not text.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise ToolException(f"{path} is not a text in UTF-8.") from None
    if "\0" in text:
        raise ToolException(f"{path} is a binary file.")
    return text


@contextmanager
def _open_file(workspace: Workspace, path: str) -> Iterator[io.FileIO]:
    with io.FileIO(workspace.open(path, os.O_RDONLY)) as file:
        yield file


def _describe_large(path: str, size: int, most: int) -> str:
    if most > MOST_READ:
        return f"{path} has {size} bytes, and at most {most} bytes of a file can be changed."
    return (
        f"{path} has {size} bytes, which exceeds the limit of {most} bytes. "
        "Use `view_range` to read some of its lines, such as [1, 500]."
    )


def _require_range(view_range: Sequence[int]) -> tuple[int, int]:
    if len(view_range) != 2:
        raise ToolException("`view_range` is a list of two numbers: the first and the last line, such as [1, 50].")
    first, last = view_range
    if first < 1 or (last < first and last != -1):
        raise ToolException("`view_range` begins with 1 or more, and its end is not smaller; -1 means the last line.")
    return first, last


def _cut_lines(file: io.FileIO, first: int, last: int, most: int) -> tuple[bytes, int]:
    """Return the bytes of lines, somewhat more than `most` of them at most, and how many lines were seen."""
    piece = bytearray(_PIECE)
    kept = bytearray()
    line, is_open = 1, False  # The number of the line that a piece begins in, and whether anything of it was seen.
    while count := file.readinto(piece):
        start = 0
        if line < first:
            breaks = piece.count(b"\n", 0, count)
            if line + breaks < first:
                line, is_open = line + breaks, piece[count - 1] != 0x0A
                continue
            start = _skip_breaks(piece, 0, first - line)
            line = first
        end, line = _find_end(piece, start, count, line, last)
        kept += piece[start:end]
        is_open = end > 0 and piece[end - 1] != 0x0A
        if len(kept) > most or (last > 0 and line > last):
            break
    return bytes(kept), line if is_open else line - 1


def _find_end(piece: bytearray, start: int, count: int, line: int, last: int) -> tuple[int, int]:
    """Return where the wanted lines end in a piece, and the number of the line that follows there."""
    breaks = piece.count(b"\n", start, count)
    if last < 0 or line + breaks <= last:
        return count, line + breaks
    return _skip_breaks(piece, start, last + 1 - line), last + 1


def _skip_breaks(piece: bytearray, position: int, breaks: int) -> int:
    for _ in range(breaks):
        position = piece.index(b"\n", position) + 1
    return position


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
