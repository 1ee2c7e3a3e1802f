"""Parse docstrings in all three styles; the only file that uses griffe."""

from typing import Any

from griffe import Docstring as GriffeDocstring
from griffe import DocstringSectionKind, Function, Parameters
from griffe import Parameter as GriffeParameter

from sidecall.kernel.schema.plain_docstrings import Docstring, DocstringStyle

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
