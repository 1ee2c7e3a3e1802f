"""Parse a docstring: description, parameters and result."""

import inspect
import re

from sidecall.compiler.plain_docstrings import Docstring, DocstringStyle, read_google
from sidecall.lazy_imports import Later

# Its many patterns, and griffe, take long to make; few docstrings need them.
styles = Later("sidecall.compiler.griffe_docstrings")


def parse_docstring(text: str | None, names: tuple[str, ...] = (), style: DocstringStyle | None = None) -> Docstring:
    """Parse a docstring into description, parameters and result.

    A docstring that mixes styles is parsed in each of them; for a parameter the leading style wins.

    Args:
        text: The raw docstring.
        names: The function's parameters, so that the parser knows what it may find.
        style: The style to assume; detected when None.
    """
    if not text or not text.strip():
        return Docstring()
    clean = inspect.cleandoc(text)
    plain = read_google(clean) if style == "google" or (style is None and _has_one_style(clean)) else None
    if plain is not None:
        return plain
    read: Docstring = styles.read_styles(clean, names, style)
    return read


def _has_one_style(text: str) -> bool:
    """Return whether no line is underlined (NumPy) or begins with a colon (Sphinx)."""
    return "---" not in text and "\n:" not in text and not text.startswith(":")


# What begins a line that stands on its own: an item, a heading, a row, a quotation, a prompt, `name: meaning`, markup.
_OWN_LINE = re.compile(r"[-*+•>|#:@]|\d+[.)]\s|\.\.\s|[\w`'\"*]+(?: \([^)]*\))?:(?:\s|$)|```|~~~|={3,}|<")

_ITEM = re.compile(r"([-*+•]|\d+[.)])\s+")

_FENCE = ("```", "~~~")


def join_sentences(text: str) -> str:
    """Join wrapped lines; keep paragraphs, lists, tables and code."""
    if "\n" not in text:
        return text
    lines: list[str] = []
    depth: int | None = 0  # How far a line that goes on is indented; None after what nothing goes on from.
    is_code = False
    for line in text.split("\n"):
        bare = line.strip()
        indent = len(line) - len(line.lstrip())
        is_fence = bare.startswith(_FENCE)
        goes_on = bool(lines) and depth == indent and not _OWN_LINE.match(bare) and _may_go_on(lines[-1])
        if bare and goes_on and not is_code and not is_fence:
            lines[-1] = f"{lines[-1]} {bare}"
            continue
        lines.append(line)
        is_code ^= is_fence
        depth = None if is_code or is_fence else _find_depth(bare, indent)
    return "\n".join(lines)


def _may_go_on(line: str) -> bool:
    """Return whether a line may be wrapped: not blank, no heading, no intended line break."""
    return bool(line.strip()) and not line.endswith((":", "  ", "\\"))


def _find_depth(bare: str, indent: int) -> int | None:
    """Return the indentation of a sentence's continuation lines."""
    item = _ITEM.match(bare)
    if item:
        return indent + item.end()
    return None if indent or _OWN_LINE.match(bare) else 0
