"""`sidecall check` says of tools that want a process of their own what `serve` would refuse them for."""

from pathlib import Path

import pytest

from tests.cli.conftest import SidecallHere

HOME = '''
from sidecall import tool


def made():
    @tool(executor="process")
    def inner() -> str:
        """Answer."""
        return "inner"

    return [inner]


closure, = made()


@tool(executor="process")
def fit() -> str:
    """Answer."""
    return "fit"
'''
STORED = '''
from typing import Annotated

from sidecall import InjectedStore, Store, tool


@tool(executor="process")
def note(store: Annotated[Store, InjectedStore]) -> str:
    """Write it down."""
    return "noted"
'''
HIDDEN = '''
from sidecall import BaseToolkit, tool


class Kit(BaseToolkit):
    """Tools that are made when they are asked for, and are others the second time."""

    asked: int = 0

    def get_tools(self):
        self.asked += 1

        @tool(f"inner_{self.asked}", executor="process")
        def inner() -> str:
            """Answer."""
            return "inner"

        return [inner]


kit = Kit()
'''


@pytest.mark.parametrize(
    ("text", "exit_code", "first"),
    [
        pytest.param(HOME, 0, "tokens  inner about 23", id="fit, a closure that its module offers"),
        pytest.param(
            STORED,
            0,
            "tokens  note about 25",
            id="fit, with the store of its server",
        ),
        pytest.param(
            HIDDEN,
            1,
            "error   inner_1 cannot have executor='process': neither the module mine nor any of the server's places "
            "offers a tool of this name",
            id="found no second time",
        ),
    ],
)
def test_what_cannot_run_in_a_process_is_an_error(
    here: Path, sidecall_here: SidecallHere, text: str, exit_code: int, first: str
) -> None:
    """The build fails, not the start."""
    (here / "mine.py").write_text(text)

    done = sidecall_here("check", "--tools", "mine.py")

    assert (done.returncode, done.stdout.splitlines()[0]) == (exit_code, first)
