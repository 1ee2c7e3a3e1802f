"""The lines of a text, each with an ending of its own."""

from collections.abc import Iterable
from typing import NamedTuple


class TextLine(NamedTuple):
    """A line, and what ends it: a line feed, with or without a carriage return, or nothing at the end of the text."""

    text: str
    ending: str


def split_text(text: str) -> list[TextLine]:
    """Split a text at its line feeds only, since a file may hold all other separators inside a line."""
    *whole, last = text.split("\n")
    lines = [TextLine(line[:-1], "\r\n") if line.endswith("\r") else TextLine(line, "\n") for line in whole]
    return [*lines, TextLine(last, "")] if last else lines


def join_lines(lines: Iterable[TextLine]) -> str:
    """Write the text of lines."""
    return "".join(line.text + line.ending for line in lines)
