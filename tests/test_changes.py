"""CHANGELOG.md has an entry for each release, and changes/ what comes after the last one."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
FRAGMENTS = sorted(path for path in (ROOT / "changes").iterdir() if path.name != "README.md")
TYPES = ["added", "changed", "fixed", "removed"]
NAME = re.compile(rf"\+[a-z0-9-]+\.(?:{'|'.join(TYPES)})\.md")


def test_new_entries_come_first() -> None:
    """They go where towncrier looks for its marker, which stands before the first entry."""
    before, _, after = CHANGELOG.partition("<!-- towncrier release notes start -->\n")

    assert "\n## " not in before
    assert re.match(r"\n## \d+\.\d+\.\d+ \((?:unreleased|\d{4}-\d\d-\d\d)\)\n", after)


def test_the_first_release_says_what_it_can_do() -> None:
    """By area, and in short."""
    entry = re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[-1]

    assert entry.startswith("0.1.0 (")
    assert len(entry.splitlines()) <= 80
    assert len(entry.encode()) <= 8_000


def test_the_types_are_those_that_are_explained() -> None:
    """In changes/README.md, in the order of an entry."""
    page = (ROOT / "changes/README.md").read_text()

    assert [kind["directory"] for kind in CONFIGURATION["type"]] == TYPES
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == TYPES


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("+batch-of-one.fixed.md", True),
        ("+batch.added.md", True),
        ("+batch.fix.md", False),
        ("batch.fixed.md", False),
        ("12.fixed.md", False),
        ("+batch.fixed.txt", False),
        ("+.fixed.md", False),
        ("+Batch.fixed.md", False),
    ],
)
def test_names_of_fragments(name: str, fits: bool) -> None:
    """A plus, words and a type: a name with another type is left out by towncrier without a word."""
    assert bool(NAME.fullmatch(name)) is fits


def test_every_fragment_becomes_a_line() -> None:
    """Its name has a type, and its links are those of CHANGELOG.md, where its text goes."""
    links = [link for path in FRAGMENTS for link in re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text())]

    assert [path.name for path in FRAGMENTS if not NAME.fullmatch(path.name)] == []
    assert [path.name for path in FRAGMENTS if not path.read_text().strip()] == []
    assert [link for link in links if not (ROOT / link).exists()] == []
