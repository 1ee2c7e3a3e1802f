"""Lines of a text, each with its own ending."""

from collections.abc import Iterable
from typing import NamedTuple


class TextLine(NamedTuple):
    """A line and its ending: a line feed with or without a carriage return, or nothing at the end of the text."""

    text: str
    ending: str


def split_text(text: str) -> list[TextLine]:
    """Split a text at line feeds only, since a line may contain all other separators."""
    *whole, last = text.split("\n")
    lines = [TextLine(line[:-1], "\r\n") if line.endswith("\r") else TextLine(line, "\n") for line in whole]
    return [*lines, TextLine(last, "")] if last else lines


def join_lines(lines: Iterable[TextLine]) -> str:
    """Write the text of lines."""
    return "".join(line.text + line.ending for line in lines)
