"""Parse docstrings in Google, NumPy and Sphinx style, and mixtures of them."""

import inspect
import re

from sidecall.kernel.schema.docstring_sections.parts import Docstring, DocstringStyle
from sidecall.kernel.schema.docstring_sections.plain import read_google
from sidecall.kernel.schema.docstring_sections.split import HEADINGS, split_sections
from sidecall.later import Later

by_griffe = Later("sidecall.kernel.schema.docstring_sections.by_griffe")

# What the OpenAI Agents SDK tells a style by, so that both take a docstring for the same; each counts once.
_SIGNS: dict[DocstringStyle, tuple[re.Pattern[str], ...]] = {
    "sphinx": tuple(re.compile(sign, re.M) for sign in (r"^:param\s", r"^:type\s", "^:return:", "^:rtype:")),
    "numpy": tuple(re.compile(rf"^{name}\s*\n\s*-{{3,}}", re.M) for name in ("Parameters", "Returns", "Yields")),
    "google": tuple(re.compile(sign, re.M) for sign in ("^(Args|Arguments):", "^Returns:", "^Raises:")),
}


def detect_style(text: str) -> DocstringStyle:
    """Detect the style by section headings: Sphinx, NumPy, else Google, also on a tie."""
    clean = inspect.cleandoc(text)
    scores = {style: _score(style, clean) for style in _SIGNS}
    return max(scores, key=lambda style: scores[style]) if any(scores.values()) else "google"


def _score(style: DocstringStyle, text: str) -> float:
    signs = sum(bool(sign.search(text)) for sign in _SIGNS[style])
    return signs or (0.5 if HEADINGS[style].search(text) else 0)


def read_styles(text: str, names: tuple[str, ...] = (), style: DocstringStyle | None = None) -> Docstring:
    """Parse a cleaned docstring in each style that it uses, or in the given one."""
    if style == "google" and (plain := read_google(text)) is not None:
        return plain
    split = split_sections(text, names, (style,) if style else _SIGNS)
    leading = style or detect_style(text)
    order = sorted(split.by_style, key=lambda it: it != leading)
    readings = [by_griffe.read_sections(split.by_style[it], names, it) for it in order]
    parameters: dict[str, str] = {}
    for reading in readings:
        parameters = {**reading.parameters, **parameters}
    returns = next((reading.returns for reading in readings if reading.returns), "")
    return Docstring(split.text, parameters, returns)
