"""Read docstrings in Google, NumPy and Sphinx style; the only file that knows griffe."""

import inspect
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from griffe import Docstring as GriffeDocstring
from griffe import DocstringSectionKind, Function, Parameters
from griffe import Parameter as GriffeParameter

Style = Literal["google", "numpy", "sphinx"]

_SIGNS: dict[Style, re.Pattern[str]] = {
    "sphinx": re.compile(
        r"^\s*:(param|arg|argument|parameter|key|keyword|type|return|returns|rtype|raises)\b.*:", re.M
    ),
    "numpy": re.compile(r"^\s*(Parameters|Other Parameters|Returns|Yields|Raises)\n\s*-{3,}\s*$", re.M),
    "google": re.compile(
        r"^\s*(Args|Arguments|Params|Parameters|Keyword Args|Keyword Arguments|Returns|Yields|Raises):", re.M
    ),
}
_GLUED = re.compile(r"(?<!\n)\n([ \t]*(?:Args|Arguments|Params|Parameters|Returns|Raises):[ \t]*\n)")
_DESCRIBES = (DocstringSectionKind.parameters, DocstringSectionKind.other_parameters)


@dataclass(frozen=True, slots=True)
class Docstring:
    """Hold what a docstring says: the text before its sections, a text per parameter, and the result's."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""


def detect_style(text: str) -> Style:
    """Tell the style from the section headings; the most frequent wins, Google when none is found."""
    scores = {style: len(sign.findall(text)) for style, sign in _SIGNS.items()}
    best = max(scores, key=lambda style: scores[style])
    return best if scores[best] else "google"


def parse_docstring(text: str | None, names: tuple[str, ...] = (), style: Style | None = None) -> Docstring:
    """Split a docstring into description, parameters and result.

    Args:
        text: The raw docstring.
        names: The function's parameters, so that the parser knows what it may find.
        style: The style to assume; detected when None.
    """
    if not text or not text.strip():
        return Docstring()
    clean = inspect.cleandoc(text)
    chosen = style or detect_style(clean)
    if chosen == "google":
        clean = _GLUED.sub(r"\n\n\1", clean)
    sections = _sections(clean, names, chosen)
    description = next((s.value for s in sections if s.kind is DocstringSectionKind.text), "")
    parameters = {
        item.name.lstrip("*"): item.description.strip()
        for section in sections
        if section.kind in _DESCRIBES
        for item in section.value
        if item.description.strip()
    }
    returns = [item.description.strip() for s in sections if s.kind is DocstringSectionKind.returns for item in s.value]
    return Docstring(description.strip(), parameters, "\n".join(returns))


def _sections(text: str, names: tuple[str, ...], style: Style) -> list[Any]:
    parent = Function("tool", parameters=Parameters(*(GriffeParameter(name) for name in names)))
    # griffe cleans the text again, and would take the indent of the second line away if the first were not empty.
    # What it would warn about (types, unknown names) is known better from the signature.
    return list(GriffeDocstring(f"\n{text}", parent=parent).parse(style, warnings=False))
