"""Read docstrings in Google, NumPy and Sphinx style, and in several of them."""

import inspect
import re
import textwrap
from collections.abc import Iterator

from sidecall.later import Later
from sidecall.schema.sections.parts import Docstring, DocstringStyle
from sidecall.schema.sections.plain import read_google

by_griffe = Later("sidecall.schema.sections.by_griffe")

_PARAMETERS = "(?:(?:Keyword|Other) )?(?:Args|Arguments|Params|Parameters)"
_GOOGLE = f"(?:{_PARAMETERS}|Returns|Raises|Yields)"
_NUMPY = "(?:(?:Other )?Parameters|Returns|Yields|Raises)"
_SPHINX = "(?:param|parameter|arg|argument|key|keyword|type|raise|raises|return|returns|rtype)"

# Where a section begins.
_HEADINGS: dict[DocstringStyle, re.Pattern[str]] = {
    "sphinx": re.compile(rf"^:{_SPHINX}\b[^:\n]*:", re.M),
    "numpy": re.compile(rf"^{_NUMPY}[ \t]*\n[ \t]*-{{3,}}[ \t]*$", re.M),
    "google": re.compile(rf"^{_GOOGLE}:[ \t]*$", re.M),
}
# What the OpenAI Agents SDK tells a style by, so that both take a docstring for the same; each counts once.
_SIGNS: dict[DocstringStyle, tuple[re.Pattern[str], ...]] = {
    "sphinx": tuple(re.compile(sign, re.M) for sign in (r"^:param\s", r"^:type\s", "^:return:", "^:rtype:")),
    "numpy": tuple(re.compile(rf"^{name}\s*\n\s*-{{3,}}", re.M) for name in ("Parameters", "Returns", "Yields")),
    "google": tuple(re.compile(sign, re.M) for sign in ("^(Args|Arguments):", "^Returns:", "^Raises:")),
}

# Google headings that griffe would take for text: no blank line above, blank lines below, items not indented.
_GLUED = re.compile(rf"(?<!\n)\n({_GOOGLE}:[ \t]*\n(?=\s*[ \t]+\S))", re.I)
_LOOSE = re.compile(rf"^({_GOOGLE}:)[ \t]*\n(?:[ \t]*\n)+(?=[ \t]+\S)", re.I | re.M)
_ITEM = rf"(?!{_GOOGLE}:[ \t]*$)\*{{0,2}}\w+(?: \(.*\))?:"
_FLAT = re.compile(rf"^({_PARAMETERS}:[ \t]*\n)(?={_ITEM})((?:(?:\n+(?={_ITEM}|[ \t]+\S))?.+\n?)+)", re.M)
_PADDED = re.compile(rf"^({_NUMPY})[ \t]*\n[ \t]*(-{{3,}})[ \t]*$", re.M)


def detect_style(text: str) -> DocstringStyle:
    """Detect the style by the section headings: Sphinx, NumPy, Google on a tie, and Google when there are none."""
    clean = inspect.cleandoc(text)
    scores = {style: _score(style, clean) for style in _SIGNS}
    return max(scores, key=lambda style: scores[style]) if any(scores.values()) else "google"


def _score(style: DocstringStyle, text: str) -> float:
    signs = sum(bool(sign.search(text)) for sign in _SIGNS[style])
    return signs or (0.5 if _HEADINGS[style].search(text) else 0)


def read_styles(text: str, names: tuple[str, ...] = (), style: DocstringStyle | None = None) -> Docstring:
    """Read a docstring that was cleaned in each style that it has, or in the one that is said."""
    parts = {style: text} if style else _split_by_style(text)
    leading, *others = [_read(part, names, chosen) for chosen, part in parts.items()]
    parameters = dict(leading.parameters)
    for other in others:
        parameters = {**other.parameters, **parameters}
    returns = next((reading.returns for reading in (leading, *others) if reading.returns), "")
    return Docstring(leading.description, parameters, returns)


def _split_by_style(text: str) -> dict[DocstringStyle, str]:
    """Split a docstring by style: the description and the sections of each, so that none reads another's as text."""
    leading = detect_style(text)
    others: list[DocstringStyle] = [style for style in _SIGNS if style != leading and _HEADINGS[style].search(text)]
    if not others:
        return {leading: text}
    styles = [leading, *others]
    marks = sorted((found.start(), style) for style in styles for found in _HEADINGS[style].finditer(text))
    ends = [start for start, _ in marks[1:]] + [len(text)]
    sections = [(style, text[start:end]) for (start, style), end in zip(marks, ends, strict=True)]
    head = text[: marks[0][0]]
    return {style: "\n\n".join([head, *(part for owner, part in sections if owner == style)]) for style in styles}


def _read(text: str, names: tuple[str, ...], style: DocstringStyle) -> Docstring:
    plain = read_google(text) if style == "google" else None
    if plain is not None:
        return plain
    read: Docstring = by_griffe.read_sections(_REPAIRS[style](text), names, style)
    return read


def _repair_google(text: str) -> str:
    text = _LOOSE.sub(r"\1\n", _GLUED.sub(r"\n\n\1", text))
    return _FLAT.sub(lambda found: found[1] + textwrap.indent(found[2], "    "), text)


def _repair_numpy(text: str) -> str:
    return _PADDED.sub(r"\1\n\2", text)


def _repair_sphinx(text: str) -> str:
    """Keep the text and the known fields: griffe adds any later paragraph to the field before it."""
    first = _HEADINGS["sphinx"].search(text)
    if first is None:
        return text
    return text[: first.start()] + "\n".join(_keep_field_lines(text[first.start() :]))


def _keep_field_lines(text: str) -> Iterator[str]:
    kept, above = True, ""
    for line in text.split("\n"):
        if line.startswith(":"):
            kept = _HEADINGS["sphinx"].match(line) is not None
        elif not above.strip() and line[:1].strip():
            kept = False
        if kept:
            yield line
        above = line


_REPAIRS = {"google": _repair_google, "numpy": _repair_numpy, "sphinx": _repair_sphinx}
