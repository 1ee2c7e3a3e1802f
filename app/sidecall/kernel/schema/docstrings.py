"""Read what a docstring says of a function, its parameters and its result."""

import inspect

from sidecall.kernel.schema.docstring_sections.parts import Docstring, DocstringStyle
from sidecall.kernel.schema.docstring_sections.plain import read_google
from sidecall.later import Later

# Its many patterns, and griffe behind it, take long to make; few docstrings need them.
styles = Later("sidecall.kernel.schema.docstring_sections.styles")


def parse_docstring(text: str | None, names: tuple[str, ...] = (), style: DocstringStyle | None = None) -> Docstring:
    """Split a docstring into description, parameters and result.

    A docstring that mixes styles is read in each of them; what the leading style says of a parameter counts.

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
    """Return whether nothing is underlined, and no line begins with a colon, as in the styles of NumPy and Sphinx."""
    return "---" not in text and "\n:" not in text and not text.startswith(":")
