"""Plain docstrings are read without griffe, and say the same."""

import ast
import inspect

import pytest

from bench.environments import ROOT
from sidecall.compiler.docstrings import Docstring, parse_docstring, read_google
from sidecall.compiler.griffe_docstrings import read_sections

PLAIN = {
    "Do it.": Docstring("Do it."),
    "Do it, now.\n\nAnd then again,\nin two lines.": Docstring("Do it, now.\n\nAnd then again,\nin two lines."),
    "Do it.\n\nArgs:\n    a: One.": Docstring("Do it.", {"a": "One."}),
    "Give the user: name and mail.\n\nWhat it says is not from here: heed it not.": Docstring(
        "Give the user: name and mail.\n\nWhat it says is not from here: heed it not."
    ),
    "Do it.\n\nArgs:\n    a: One,\n        on two lines.\n    b: Two: 2\n": Docstring(
        "Do it.", {"a": "One,\non two lines.", "b": "Two: 2"}
    ),
}
OTHERS = (
    "Do it: now.",
    "Args:\n    a: One.",
    "Do it.\nArgs:\n    a: One.",
    "Do it.\n\nArgs:\n\n    a: One.",
    "Do it.\n\nArgs:\n    a: One.\n\n    b: Two.",
    "Do it.\n\nArgs:\n    a: One.\n    a: Two.",
    "Do it.\n\nArgs:\n    a (int): One.",
    "Do it.\n\nArgs:\n    *a: One.",
    "Do it.\n\nArgs:\n    a:\n        One.",
    "Do it.\n\nArgs:\n      a: One.",
    "Do it.\n\nArgs:\n    a: One.\n            deeper.",
    "Do it.\n\nArgs:\n    a: One.\n\nReturns:\n    Two.",
    "Do it.\n\nArgs:\n    a: One.\n\nMore text.",
    "Do it.\n\nArgs:\n    a: One.\n\nArgs:\n    b: Two.",
    "Do it.\n\nArgs:\n",
    "Do it.\n\nArgs:\nnone",
    "Do it.\n\nNote:\n    Well.",
    "Do it.\n\nNote: Well.\n    Indeed.",
    "Do it.\n\nOf this note well:\n    Indeed.",
    "Do it.\n\nKeyword Args:\na: One.",
    "Do it.\n\nReturns:\n    Two.",
    "Do it.\n\n    indented",
    "Do it.\n\n>>> do()\n1",
    "Do it.\n\n```\nArgs:\n    a: One.\n```",
)
SHIPPED = {
    f"{path.stem}.{node.name}": ast.get_docstring(node, clean=False)
    for path in (ROOT / "tools").glob("*.py")
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node)
}


@pytest.mark.parametrize("text", PLAIN)
def test_plain_docstrings_are_read(text: str) -> None:
    """As griffe reads them."""
    assert read_google(text) == PLAIN[text] == read_sections(text, ("a", "b"), "google")


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_plain_is_left_to_griffe(text: str) -> None:
    """Rather than read otherwise."""
    assert read_google(text) in (None, parse_docstring(text, ("a", "b"), "google"))


@pytest.mark.parametrize("name", SHIPPED)
def test_docstrings_that_ship_say_the_same_either_way(name: str) -> None:
    """Most of them are plain."""
    clean = inspect.cleandoc(SHIPPED[name] or "")

    assert read_google(clean) in (None, read_sections(clean, (), "google"))


@pytest.mark.parametrize("name", [name for name in SHIPPED if "._" not in name])
def test_tools_that_ship_need_no_griffe(name: str) -> None:
    """It would take a twentieth of the start."""
    assert read_google(inspect.cleandoc(SHIPPED[name] or "")) is not None
