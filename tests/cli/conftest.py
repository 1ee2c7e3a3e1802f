"""The program in this process, for what it says before it serves anything."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.cli.main import main
from tests.kit.forked import origin

__all__ = ["origin"]

SidecallHere = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def signals() -> Iterator[None]:
    """Take back that a command ends the process on SIGTERM and Ctrl+C."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def sidecall_here(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> SidecallHere:
    """Return a function that does in this process, in an empty folder, what the program does in one of its own."""

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["sidecall", *arguments])
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, int(left.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def tools_here(request: pytest.FixtureRequest, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the module's tools into the folder that is worked in."""
    (here / "mine.py").write_text(request.module.TOOLS)
    monkeypatch.setenv("SIDECALL_TOOLS", "mine.py")
    monkeypatch.setenv("COLUMNS", "200")


def call(*arguments: str) -> Result:
    """Run `sidecall call`."""
    return CliRunner().invoke(cli, ["call", *arguments])
