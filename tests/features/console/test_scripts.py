"""The limits that the console's scripts keep: sizes, forbidden ways to make pages, imports, a line for each export."""

import re
from pathlib import Path

import pytest

from tests.kit.sources import ROOT, name_of

SCRIPTS = sorted((ROOT / "app/sidecall/features/console/static").rglob("*.js"))
MAX_LINES = 220
MAX_WIDTH = 160
# What makes markup or code of text, or keeps what nobody may find later.
_FORBIDDEN = re.compile(
    r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|srcdoc|localStorage|sessionStorage"
    r"|createContextualFragment|parseFromString|setHTML\w*|var)\b|\bFunction\(|(?<![=!<>])==(?!=)"
)
# The library that shortens scripts does not know a template within a template.
_NESTED = re.compile(r"`[^`]*\$\{[^}`]*`")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://|[\"'`]//")
_EXPORT = re.compile(r"^export (?:default |async )*(?:function\*?|class|const|let) (\w+)", re.MULTILINE)
_DESCRIBED = re.compile(r"\*/\nexport (?:default |async )*(?:function\*?|class|const|let) (\w+)")
_IMPORT = re.compile(r"^import (?:(\{[^}]*\}|\* as \w+) from )?\"([^\"]+)\";$", re.MULTILINE)
_each = pytest.mark.parametrize("path", SCRIPTS, ids=name_of)


@_each
def test_a_script_is_one_short_module(path: Path) -> None:
    """It begins with a line that says what it is for."""
    lines = path.read_text().splitlines()

    assert len(lines) <= MAX_LINES
    assert [line for line in lines if len(line) > MAX_WIDTH] == []
    assert lines[0].startswith("// ")


@_each
def test_a_script_makes_neither_markup_nor_code_of_text(path: Path) -> None:
    """Nor does it keep anything in the browser, or know an address."""
    text = path.read_text()

    assert [found.group() for found in _FORBIDDEN.finditer(text)] == []
    assert [found.group() for found in _ADDRESS.finditer(text)] == []
    assert [found.group() for found in _NESTED.finditer(text)] == []


@_each
def test_every_export_says_what_it_does(path: Path) -> None:
    """In a comment right above it."""
    text = path.read_text()

    assert _EXPORT.findall(text) == _DESCRIBED.findall(text)


@_each
def test_a_script_imports_what_is_there_and_uses_it(path: Path) -> None:
    """No build step says so."""
    text = path.read_text()
    rest = _IMPORT.sub("", text)

    for names, source in _IMPORT.findall(text):
        exported = _EXPORT.findall((path.parent / source).resolve().read_text())
        wanted = re.findall(r"\w+", names) if names.startswith("{") else []
        assert [name for name in wanted if name not in exported] == []
        assert [name for name in wanted if not re.search(rf"\b{name}\b", rest)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("box.innerHTML = text", ["innerHTML"]),
        ("new Function(text)", ["Function("]),
        ("makeFunction(text)", []),
        ("evaluate(text)", []),
        ("window.eval(text)", ["eval"]),
        ("if (one == two) {}", ["=="]),
        ("if (one === two || one !== two || one <= two) {}", []),
    ],
)
def test_forbidden_words_are_found(text: str, found: list[str]) -> None:
    """As whole words."""
    assert [it.group() for it in _FORBIDDEN.finditer(text)] == found


@pytest.mark.parametrize(
    ("text", "is_found"),
    [('"https://example.org"', True), ('"//example.org/x"', True), ('"../json.js" // a comment', False)],
)
def test_addresses_are_found(text: str, is_found: bool) -> None:
    """With a scheme, or with that of the page."""
    assert bool(_ADDRESS.search(text)) is is_found
