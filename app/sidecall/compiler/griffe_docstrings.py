"""Parse docstrings of any style: split them into sections, and read those with griffe, which only this file uses."""

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from griffe import Docstring as GriffeDocstring
from griffe import DocstringSectionKind, Function, Parameters
from griffe import Parameter as GriffeParameter

from sidecall.compiler.plain_docstrings import Docstring, DocstringStyle, read_google

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
    readings = [read_sections(split.by_style[it], names, it) for it in order]
    parameters: dict[str, str] = {}
    for reading in readings:
        parameters = {**reading.parameters, **parameters}
    returns = next((reading.returns for reading in readings if reading.returns), "")
    return Docstring(split.text, parameters, returns)


_PARAMETERS = "(?:(?:Keyword|Other) )?(?:Args?|Arguments?|Params?|Parameters?)"

_RESULTS = "Returns?|Yields?|Raises?|Exceptions?"

_FIELDS = (
    "param|parameter|arg|argument|key|keyword|type|raise|raises|except|exception|return|returns|yield|yields|rtype"
)

# What begins a section, at the left margin; of NumPy's, the line below is looked at too.
HEADINGS: Mapping[DocstringStyle, re.Pattern[str]] = {
    "sphinx": re.compile(rf"^:(?:{_FIELDS})\b[^:\n]*:", re.M),
    "numpy": re.compile(rf"^(?:(?:Other )?Parameters?|{_RESULTS})[ \t]*\n[ \t]*-{{3,}}[ \t]*$", re.M),
    "google": re.compile(rf"^(?:{_PARAMETERS}|{_RESULTS}):[ \t]*$", re.M | re.I),
}

_FENCE = re.compile(r"[ \t]*(```|~~~)")

_TITLE = re.compile(r"\S.*\n[ \t]*([-=~^])\1{2,}[ \t]*$")
# `name: meaning`, `*name (type): meaning`; a NumPy item may have no colon, and its meaning on the next line.
_ITEM = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\(.*\))?:(.*)")

_NUMPY_ITEM = re.compile(r"\*{0,2}(\w+)(?:[ \t]*,[ \t]*\*{0,2}\w+)*(?:[ \t]*:.*)?$")

_TYPED = re.compile(r"(\*{0,2}\w+)[ \t]*\(")

_ROLE = re.compile(r":\w+:`([^`]*)`:")
# A field that Sphinx reads and no reader of the page sees.
_UNSHOWN = re.compile(r":meta\b[^:]*:")


@dataclass(frozen=True, slots=True)
class Sections:
    """A docstring's text without its sections, and the sections of each style in the parser's form."""

    text: str
    by_style: Mapping[DocstringStyle, str]


def split_sections(text: str, names: tuple[str, ...], styles: Iterable[DocstringStyle]) -> Sections:
    """Split the sections of these styles from a docstring; other blocks stay in its text.

    Args:
        text: The docstring, cleaned.
        names: The function's parameters; none if they are unknown.
        styles: The styles whose headings count.
    """
    scan = _Scan(text.split("\n"), names, tuple(styles))
    kept: list[str] = []
    found: dict[DocstringStyle, list[str]] = {}
    for style, lines in scan.run():
        if style is None:
            kept += lines
            continue
        kept += [""] if kept and kept[-1] else []
        if section := _WRITERS[style](lines):
            found.setdefault(style, []).append(section)
    return Sections(_join_blocks(kept), {style: "\n\n".join(each) for style, each in found.items()})


def _join_blocks(lines: list[str]) -> str:
    """Join the text's lines, with one blank line in place of a section."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() if lines else ""


class _Scan:
    """A scan of a docstring from top to bottom."""

    def __init__(self, lines: list[str], names: tuple[str, ...], styles: tuple[DocstringStyle, ...]) -> None:
        self._lines = lines
        self._names = frozenset(names)
        self._styles = styles

    def run(self) -> Iterator[tuple[DocstringStyle | None, list[str]]]:
        """Yield the sections with their styles, and each line between them with None."""
        at, fence = 0, ""
        while at < len(self._lines):
            line = self._lines[at]
            style = None if fence else self._find_style(at)
            end = at + 1 if style is None else self._find_end(style, at)
            if end == at:  # A heading with nothing of a section below it is text.
                style, end = None, at + 1
            if style is None and (mark := _FENCE.match(line)):
                fence = "" if fence == mark[1] else fence or mark[1]
            yield style, self._lines[at:end]
            at = end

    def _get(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _find_style(self, at: int) -> DocstringStyle | None:
        """Return the style of a section that begins in this line, or None."""
        two = f"{self._get(at)}\n{self._get(at + 1)}"
        if "sphinx" in self._styles and _UNSHOWN.match(two):
            return "sphinx"
        return next((style for style in self._styles if HEADINGS[style].match(two)), None)

    def _find_end(self, style: DocstringStyle, at: int) -> int:
        """Return the line after a section; its own heading's line if the section is empty."""
        if style == "google":
            return self._end_google(at)
        goes_on = self._goes_on_in_numpy if style == "numpy" else self._goes_on_in_sphinx
        end = at + (2 if style == "numpy" else 1)
        while end < len(self._lines) and goes_on(end):
            end += 1
        return end

    def _end_google(self, at: int) -> int:
        first = next((it for it in range(at + 1, len(self._lines)) if self._get(it).strip()), len(self._lines))
        if self._get(first)[:1] in (" ", "\t"):
            return self._skip_indented(first)
        if first > at + 1 or first == len(self._lines):
            return at + 1  # It is empty.
        is_flat = self._get(at).lower().rstrip(": \t").endswith(("s", "arg", "param")) and self._is_item(first)
        return self._end_flat(first) if is_flat else at

    def _skip_indented(self, at: int) -> int:
        while at < len(self._lines) and (not self._get(at).strip() or self._get(at)[0] in " \t"):
            at += 1
        return at

    def _end_flat(self, at: int) -> int:
        """Return the end of unindented items: a blank line without an item below it."""
        while at < len(self._lines) and self._find_style(at) is None:
            if not self._get(at).strip() and not (self._is_item(at + 1) or self._get(at + 1)[:1] in (" ", "\t")):
                break
            at += 1
        return at

    def _is_item(self, at: int) -> bool:
        """Return whether a line is a parameter: a known name, or any name with a description."""
        found = _ITEM.match(self._get(at))
        if found is None or self._find_style(at) is not None:
            return False
        return found[1] in self._names or (not self._names and bool(found[2].strip()))

    def _goes_on_in_numpy(self, at: int) -> bool:
        line = self._get(at)
        if _TITLE.match(f"{line}\n{self._get(at + 1)}") or self._find_style(at) is not None:
            return False
        if not line.strip() or line[0] in " \t" or self._get(at - 1).strip():
            return True
        has_meaning = self._get(at + 1)[:1] in (" ", "\t")
        if line.rstrip().endswith((":", "\uff1a")):  # A title; the second colon is that of Chinese and Japanese.
            return False
        found = _NUMPY_ITEM.match(line)
        if found is None:
            return has_meaning
        return found[1] in self._names or " :" in line or (has_meaning and ":" not in line)

    def _goes_on_in_sphinx(self, at: int) -> bool:
        line = self._get(at)
        if not line.strip():
            below = next((it for it in self._lines[at:] if it.strip()), "")
            return below[:1] in (" ", "\t")
        if line[0] in " \t":
            return True
        return bool(self._get(at - 1).strip()) and not line.startswith((":", "..", "```", "~~~"))


def _write_google(lines: list[str]) -> str:
    """Write a section in the parser's form: items indented, without types, which may contain colons."""
    items = textwrap.dedent("\n".join(lines[1:])).strip("\n")
    if not items.strip():
        return ""
    bare = "\n".join(_drop_type(line) for line in items.split("\n"))
    return f"{lines[0].rstrip()}\n{textwrap.indent(bare, '    ')}"


def _drop_type(item: str) -> str:
    """Remove the type from `name (type): meaning`; the signature has it."""
    found = _TYPED.match(item)
    if found is None:
        return _ROLE.sub(r"\1:", item, count=1) if item.startswith(":") else item
    end = _find_close(item, found.end())
    if end is None or not (rest := item[end:].lstrip()).startswith(":"):
        return item
    return f"{found[1]}{rest}"


def _find_close(text: str, start: int) -> int | None:
    """Return the position after the parenthesis that closes the one before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    at = text.find("):", start)
    return None if at < 0 else at + 1


def _write_numpy(lines: list[str]) -> str:
    return "\n".join([lines[0].strip(), "-" * len(lines[0].strip()), *lines[2:]]).rstrip()


def _write_sphinx(lines: list[str]) -> str:
    return "" if _UNSHOWN.match(lines[0]) else "\n".join(lines).rstrip()


_WRITERS = {"google": _write_google, "numpy": _write_numpy, "sphinx": _write_sphinx}


_DESCRIBES = (DocstringSectionKind.parameters, DocstringSectionKind.other_parameters)


def read_sections(text: str, names: tuple[str, ...], style: DocstringStyle) -> Docstring:
    """Parse a cleaned docstring of a function with these parameters."""
    sections = _parse(text, names, style)
    description = next((s.value for s in sections if s.kind is DocstringSectionKind.text), "")
    parameters = {
        item.name.lstrip("\\*"): item.description.strip()
        for section in sections
        if section.kind in _DESCRIBES
        for item in section.value
        if item.description.strip()
    }
    returns = [item.description.strip() for s in sections if s.kind is DocstringSectionKind.returns for item in s.value]
    return Docstring(description.strip(), parameters, "\n".join(returns))


def _parse(text: str, names: tuple[str, ...], style: DocstringStyle) -> list[Any]:
    parent = Function("tool", parameters=Parameters(*(GriffeParameter(name) for name in names)))
    # griffe cleans the text again, and would take the indent of the second line away if the first were not empty.
    # What it would warn about (types, unknown names) is known better from the signature.
    return list(GriffeDocstring(f"\n{text}", parent=parent).parse(style, warnings=False))
