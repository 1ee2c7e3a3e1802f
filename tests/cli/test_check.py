"""`sidecall check` says what models and providers will stumble over."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.core.errors import DefinitionError

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
                "warning free `options` is an object with free keys, which Gemini refuses; use a model",
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
        ("", 0, ["0 tools, 0 errors, 0 warnings and notes, about 0 tokens"]),
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
        "warning find `filter[name]` has a name that Anthropic refuses: it takes ^[a-zA-Z0-9_.-]{1,64}$; rename it",
        "tokens  find about 42",
        "1 tool, 0 errors, 2 warnings and notes, about 42 tokens",
    ]


MOVED = '''
from langchain_core.tools import tool as langchain_tool
from langgraph.config import get_stream_writer as writer
from langgraph.types import interrupt

from sidecall import BaseTool, tool


@tool
def ask(question: str) -> str:
    """Ask a person.

    Args:
        question: What.
    """
    writer()("asking")
    return interrupt(question)


@langchain_tool(parse_docstring=True)
def shout(text: str) -> str:
    """Shout.

    Args:
        text: What.
    """
    return text.upper()


class Ask(BaseTool):
    """Ask, too."""

    name: str = "ask_too"

    def _run(self) -> str:
        return interrupt("?")


ask_too = Ask()
'''


def test_what_a_moved_file_cannot_have_is_named_with_its_line(here: Path) -> None:
    """And with what to use instead; tools of LangChain itself are fine."""
    (here / "moved_tools.py").write_text(MOVED)

    result = CliRunner().invoke(cli, ["check", "--tools", "moved_tools.py"])

    stream = "take a parameter `runtime: ToolRuntime` and call runtime.stream_writer"
    approve = "there is no graph to stop; let a person decide: raise ApprovalRequired('what')"
    assert [line for line in result.stdout.splitlines() if "moved_tools" in line] == [
        f"warning moved_tools.py:16 uses get_stream_writer, which is not here: {stream}",
        f"warning moved_tools.py:17 uses interrupt, which is not here: {approve}",
        f"warning moved_tools.py:36 uses interrupt, which is not here: {approve}",
    ]
    assert [line for line in result.stdout.splitlines() if "shout" in line] == ["tokens  shout about 43"]


def test_an_import_that_cannot_be_had_is_named_with_its_line(here: Path) -> None:
    """When its line has been changed already."""
    (here / "imports.py").write_text("from sidecall import tool\nfrom sidecall import interrupt\n")

    with pytest.raises(DefinitionError, match=r"imports.py:2 cannot be loaded: ImportError: interrupt is not in sid"):
        CliRunner().invoke(cli, ["check", "--tools", "imports.py"], catch_exceptions=False)


FROM_AGENTS = """
try:
    from agents import Runner
except ImportError:
    Runner = None

from sidecall import function_tool


@function_tool(custom_data_extractor=lambda _: {})
def look(what: str) -> str:
    \"\"\"Look.

    Args:
        what: What.
    \"\"\"
    return str(Runner)
"""


def test_what_a_file_from_the_openai_agents_sdk_asks_in_vain_is_named_with_its_line(here: Path) -> None:
    """What it imports, and what it wants of a tool."""
    (here / "from_agents.py").write_text(FROM_AGENTS)

    result = CliRunner().invoke(cli, ["check", "--tools", "from_agents.py"])

    lost = "custom_data_extractor is not called; return (content, artifact) with response_format='content_and_artifact'"
    instead = "an agent runs models, which is the program's part; go on importing it from agents"
    assert [line for line in result.stdout.splitlines() if line.startswith("warning")] == [
        f"warning look asks in from_agents.py:10 for what is not here: {lost}",
        f"warning from_agents.py:17 uses Runner, which is not here: {instead}",
    ]


def test_toolsets_are_checked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What in them fits no tool is a warning."""
    (here / "mine.py").write_text(GOOD)
    (here / "toolsets.toml").write_text('[math]\ntools = ["add"]\ntags = ["mth"]\n')
    monkeypatch.setenv("SIDECALL_TOOLSETS", "toolsets.toml")

    result = CliRunner().invoke(cli, ["check", "--tools", "mine.py"])

    assert "warning SIDECALL_TOOLSETS math has the tag 'mth', which no tool has" in result.stdout
    assert result.exit_code == 0
