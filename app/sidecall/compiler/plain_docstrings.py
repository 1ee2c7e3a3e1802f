"""Parse docstrings that have only a text and `Args:`, as griffe does; others are left to griffe."""

import re
from dataclasses import dataclass, field
from typing import Literal

DocstringStyle = Literal["google", "numpy", "sphinx"]


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring in parts: the text before its sections, a text for each parameter, and the result's."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


_HEADING = "Args:"
# Lines that may be more than text: indented ones, code, and headings, which have two words at most. The title of a note
# is one only above an indented line.
_MORE = re.compile(r"^(?:[ \t]+\S|[\w-]+(?:[ \t]+[\w-]+)?[ \t]*:(?:\s|$)|>>>|```|~~~)", re.M)

_ITEM = re.compile(r" {4}(\w+): (\S.*)")

_GOES_ON = re.compile(r" {8}(\S.*)")


def read_google(text: str) -> Docstring | None:
    """Parse a cleaned docstring; None if it is not that simple."""
    head, heading, rest = text.partition(f"\n\n{_HEADING}\n")
    if _MORE.search(head) or (heading and not head.strip()):
        return None
    parameters: dict[str, list[str]] = {}
    last: list[str] = []
    for line in rest.rstrip().split("\n") if heading else ():
        if (found := _ITEM.fullmatch(line)) and found[1] not in parameters:
            last = parameters[found[1]] = [found[2]]
        elif last and (found := _GOES_ON.fullmatch(line)):
            last.append(found[1])
        else:
            return None
    return Docstring(head.strip(), {name: "\n".join(lines).strip() for name, lines in parameters.items()})
