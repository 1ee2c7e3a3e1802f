"""Names and prose keep to the field's words, as `words.py` lists them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import EVERYTHING, ROOT, name_of, outline
from tests.words import BANNED, BANNED_PREFIXES, BANNED_WHOLE, CLEAN, PROSE, REMAINING

WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
GLOSSARY = ROOT / "docs/glossary.md"


def find_banned(name: str) -> list[str]:
    """Return the banned words in a name, each with the field's word for it."""
    words = [word.lower() for word in WORD.findall(name)]
    found = [f"{word}: {BANNED[word]}" for word in words if word in BANNED]
    if "_".join(words) in BANNED_WHOLE:
        found.append(f"{name}: {BANNED_WHOLE['_'.join(words)]}")
    return found + [
        f"{start}: {BANNED_PREFIXES[start]}" for start in BANNED_PREFIXES if name.strip("_").startswith(start)
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Pen", ["pen: writer connection"]),
        ("test_stray_decisions", ["stray: orphan, or unknown key"]),
        ("HTTPCourier", ["courier: dispatcher"]),
        ("_tell_of_workspace", ["tell_of_: warn_, report_ or notify_"]),
        ("Hand", ["Hand: writer backend"]),
        ("hand_over", []),
        ("open_pending", []),
        ("words", []),
    ],
)
def test_banned_words_are_found_in_names(name: str, found: list[str]) -> None:
    """As whole words of a name, in any case."""
    assert find_banned(name) == found


def _list_names(path: Path) -> Iterator[str]:
    yield path.stem
    yield from outline(path).classes
    # The name of a test is a sentence.
    yield from (name for name, _ in outline(path).bodies if not name.startswith("test_"))


def test_names_are_the_fields() -> None:
    """No file, class or function has a banned word in its name, but for those that are still to be changed."""
    names = {(name_of(path), name) for path in EVERYTHING for name in _list_names(path)}

    found = {(file, name): banned for file, name in names if (banned := find_banned(name))}
    assert {name: banned for name, banned in found.items() if name not in REMAINING} == {}
    assert REMAINING - found.keys() == set()


def test_the_glossary_has_no_banned_term() -> None:
    """The terms in the first column of its table."""
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY.read_text(), re.MULTILINE)

    assert len(terms) > 50
    assert [term for term in terms if find_banned(term)] == []


def _list_prose(place: Path) -> Iterator[tuple[str, str]]:
    files = [place] if place.is_file() else [*place.rglob("*.py"), *place.rglob("*.md")]
    for path in sorted(files):
        yield from (
            (name_of(path), text) for text in ([path.read_text()] if path.suffix == ".md" else outline(path).docstrings)
        )


@pytest.mark.parametrize("place", CLEAN)
def test_prose_is_plain(place: str) -> None:
    """No docstring, or page, of a clean folder says "whoever" and its kind."""
    assert (ROOT / place).exists()
    wrong = [(name, match[0]) for name, text in _list_prose(ROOT / place) for match in PROSE.finditer(text)]

    assert wrong == []
