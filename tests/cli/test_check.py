"""`sidecall check` says what models and providers will stumble over."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.main import cli

GOOD = '''
from sidecall import tool


@tool
def add(a: int) -> int:
    """Add one.

    Args:
        a: The number.
    """
    return a + 1
'''
UNDESCRIBED = """
from sidecall import tool


@tool
def silent(a: int) -> int:
    return a
"""
FREE = '''
from typing import Any

from sidecall import tool


@tool
def free(options: dict[str, Any]) -> str:
    """Take anything.

    Args:
        options: Anything.
    """
    return ""
'''


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("text", "exit_code", "output"),
    [
        (GOOD, 0, ["1 tools, 0 errors, 0 warnings and notes"]),
        (
            UNDESCRIBED,
            1,
            [
                "error   silent has no description; write a docstring, models choose tools by it",
                "warning silent parameter `a` has no description; add it to the docstring's Args",
                "1 tools, 1 errors, 1 warnings and notes",
            ],
        ),
        (
            FREE,
            0,
            [
                "warning free `options` is an object with free keys, which Gemini refuses; use a model",
                "note    free cannot be strict: options: strict mode has no objects with free keys (dict, **kwargs)",
                "1 tools, 0 errors, 2 warnings and notes",
            ],
        ),
        (
            GOOD + GOOD.partition("\n\n\n")[2].replace("def add", "def Add"),
            0,
            [
                "warning Add is named almost like `add`; models mix them up",
                "2 tools, 0 errors, 1 warnings and notes",
            ],
        ),
        ("", 0, ["0 tools, 0 errors, 0 warnings and notes"]),
    ],
    ids=["good", "error", "warning", "near-duplicates", "none"],
)
def test_findings_are_listed_and_counted(here: Path, text: str, exit_code: int, output: list[str]) -> None:
    """The exit code is 1 only when there is an error."""
    (here / "mine.py").write_text(text)

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert result.stdout.splitlines() == output
    assert result.exit_code == exit_code


BRACKETS = '''
from pydantic import BaseModel, Field

from sidecall import tool


class Query(BaseModel):
    name: str = Field(alias="filter[name]")


@tool(args_schema=Query)
def find(name: str) -> str:
    """Find somebody."""
    return name
'''


def test_brackets_in_a_finding_are_text(here: Path) -> None:
    """They are no markup of the terminal."""
    (here / "mine.py").write_text(BRACKETS)

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert result.stdout.splitlines() == [
        "warning find parameter `filter[name]` has no description; add it to the docstring's Args",
        "1 tools, 0 errors, 1 warnings and notes",
    ]
