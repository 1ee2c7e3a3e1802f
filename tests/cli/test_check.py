"""`sidecall check` says what models and providers will stumble over."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli

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
        (GOOD, 0, ["tokens  add about 45", "1 tool, 0 errors, 0 warnings and notes, about 45 tokens"]),
        (
            UNDESCRIBED,
            1,
            [
                "error   silent has no description; write a docstring, models choose tools by it",
                "warning silent parameter `a` has no description; add it to the docstring's Args",
                "tokens  silent about 35",
                "1 tool, 1 error, 1 warnings and notes, about 35 tokens",
            ],
        ),
        (
            FREE,
            0,
            [
                "warning free `options` is an object with free keys, so models guess them; use a pydantic model",
                "note    free cannot be strict: options: strict mode has no objects with free keys (dict, **kwargs)",
                "tokens  free about 50",
                "1 tool, 0 errors, 2 warnings and notes, about 50 tokens",
            ],
        ),
        (
            GOOD + GOOD.partition("\n\n\n")[2].replace("def add", "def Add"),
            0,
            [
                "warning Add is named almost like `add`; models mix them up",
                "tokens  add about 45",
                "tokens  Add about 45",
                "2 tools, 0 errors, 1 warnings and notes, about 90 tokens",
            ],
        ),
        (
            "",
            1,
            [
                "error   mine.py Nothing would be offered: there is no tool in mine.py."
                " A tool is a module-level function with @tool.",
                "0 tools, 1 error, 0 warnings and notes, about 0 tokens",
            ],
        ),
    ],
    ids=["good", "error", "warning", "near-duplicates", "none"],
)
def test_findings_are_listed_and_counted(here: Path, text: str, exit_code: int, output: list[str]) -> None:
    """The exit code is 1 only when there is an error."""
    (here / "mine.py").write_text(text)

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert result.stdout.splitlines() == output
    assert result.exit_code == exit_code


COMMAND = '''
from sidecall import tool


@tool(command=["no-such-program", "{word}"])
def run(word: str) -> str:
    """Run it.

    Args:
        word: What with.
    """


@tool(command=["sh", "-c", "id"])
def show() -> str:
    """Show it."""
'''


def test_a_program_that_is_not_here_is_a_warning(here: Path) -> None:
    """It may be where the server runs."""
    (here / "mine.py").write_text(COMMAND)

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert (result.exit_code, [line for line in result.stdout.splitlines() if line.startswith("warning")]) == (
        0,
        ["warning run runs `no-such-program`, which is not here: its sandbox looks in /usr/local/bin:/usr/bin:/bin"],
    )


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
        "tokens  find about 42",
        "1 tool, 0 errors, 1 warnings and notes, about 42 tokens",
    ]


def test_all_that_is_not_offered_is_named_where_one_line_makes_several(here: Path) -> None:
    """The place of a finding is a line, and a line may hold more."""
    (here / "mine.py").write_text(
        f"{GOOD}\n\nclass Kit:\n    def get_tools(self): ...\n\n\nfirst, second = Kit(), Kit()\n"
    )

    output = CliRunner().invoke(cli, ["check", "--tools", "mine.py"]).output

    assert "mine.py:19 first is not offered: its get_tools() is not called" in output
    assert "mine.py:19 second is not offered: its get_tools() is not called" in output


def test_toolsets_are_checked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What in them fits no tool is a warning."""
    (here / "mine.py").write_text(GOOD)
    (here / "toolsets.toml").write_text('[math]\ntools = ["add"]\ntags = ["mth"]\n')
    monkeypatch.setenv("SIDECALL_TOOLSETS", "toolsets.toml")

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert "warning SIDECALL_TOOLSETS math has the tag 'mth', which no tool has" in result.stdout
    assert result.exit_code == 0
