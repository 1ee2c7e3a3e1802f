"""Parse a docstring: description, parameters and result."""

import inspect

from sidecall.kernel.schema.docstring_sections.parts import Docstring, DocstringStyle
from sidecall.kernel.schema.docstring_sections.plain import read_google
from sidecall.later import Later

# Its many patterns, and griffe behind it, take long to make; few docstrings need them.
styles = Later("sidecall.kernel.schema.docstring_sections.styles")


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
