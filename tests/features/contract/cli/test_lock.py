"""`sidecall lock` and `sidecall check --lock` say whether callers are broken, by exit codes too."""

from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.features.contract.lock import InvalidLock

ADD = '''
from sidecall import tool


@tool
def add(a: int) -> int:
    """Add one.

    Args:
        a: The number.
    """
    return a + 1
'''

pytestmark = pytest.mark.usefixtures("here")


def run(*words: str, file: str = "t.py") -> Result:
    """Run the program on the tools of a file; one that was loaded is not read again by the same process."""
    return CliRunner().invoke(cli, [*words, "--tools", f"./{file}"])


@pytest.mark.parametrize(
    ("source", "line", "code"),
    [
        (ADD, "tools.lock: 0 changes, 0 of them break callers", 0),
        (ADD.replace("Add one.", "Add 1."), "changed add has another description", 3),
        (ADD.replace("a: int)", "a: int, b: int = 2)"), "changed add b: is new, and optional", 3),
        (ADD.replace("a: int)", "a: int, b: int)"), "breaks  add b: is new, and required", 1),
        (ADD.replace("a: int)", "a: bool)"), "breaks  add a: its type was integer and is boolean", 1),
        (ADD.replace("def add", "def plus"), "breaks  add is not there any more", 1),
    ],
)
def test_what_has_changed_is_said(here: Path, source: str, line: str, code: int) -> None:
    """1 where callers are broken, 3 where they are not."""
    Path("t.py").write_text(ADD)
    assert run("lock").output == "tools.lock: 1 tool\n"

    Path("later.py").write_text(source)
    result = run("check", "--lock", file="later.py")

    assert (line in result.output, result.exit_code) == (True, code)


def test_without_a_lock_there_is_nothing_to_compare_with() -> None:
    """The command says what writes one."""
    Path("t.py").write_text(ADD)

    result = run("check", "--lock")

    assert isinstance(result.exception, InvalidLock)
    assert result.exception.message == "There is no tools.lock in this folder. `sidecall lock` writes it."


def test_without_the_option_nothing_is_compared() -> None:
    """As before."""
    Path("t.py").write_text(ADD)

    result = run("check")

    assert (result.exit_code, "lock" in result.output) == (0, False)
