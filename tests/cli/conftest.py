"""The program in this process, for what it says before it serves anything."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sidecall.cli.main import main

SidecallHere = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def signals() -> Iterator[None]:
    """Take back that a command ends the process on SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


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
