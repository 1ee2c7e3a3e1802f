"""`sidecall stages` prints what the calls of a tool go through, in order."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.terminal.options import UnknownTool

TOOLS = '''
from sidecall import tool


@tool
async def add(a: int) -> int:
    """Add one."""
    return a + 1


@tool(requires_approval=True)
async def pay(cents: int) -> str:
    """Pay."""
    return "paid"
'''
PLAIN = """\
success:
   1  decode
   2  validate
   3  Execute
   4  format_output
   5  hold_result
   6  Truncate
failure:
   1  wrap_unexpected
   2  ApproveInside
   3  log_failure
   4  format_failure
   5  Truncate
   6  replay_answer
"""


@pytest.fixture
def file(here: Path) -> Path:
    """Write a file of tools."""
    path = here / "mine.py"
    path.write_text(TOOLS)
    return path


def test_a_plain_tool_takes_few_steps(file: Path) -> None:
    """Those that every call takes."""
    result = CliRunner().invoke(cli, ["stages", "add", "--tools", str(file)])

    assert (result.exit_code, result.stdout) == (0, PLAIN)


def test_an_option_adds_its_steps_in_their_place(file: Path) -> None:
    """An approval is asked for after the arguments are known to be right, and before the tool runs."""
    result = CliRunner().invoke(cli, ["stages", "pay", "--tools", str(file)])

    names = [line.split()[1] for line in result.stdout.partition("failure:")[0].splitlines()[1:]]
    assert names == ["decode", "FindPrevious", "validate", "Approve", "Execute", "format_output", "Truncate"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("paid", "there is no tool 'paid'"), ("pays", "there is no tool 'pays'; did you mean pay?")],
)
def test_an_unknown_name_is_refused(file: Path, name: str, message: str) -> None:
    """And the one that was likely meant is named."""
    result = CliRunner().invoke(cli, ["stages", name, "--tools", str(file)])

    assert isinstance(result.exception, UnknownTool)
    assert str(result.exception) == message
