"""`sidecall toolkits` says what may be switched on, and the start refuses what cannot be."""

import os
import subprocess

import pytest
from typer.testing import CliRunner

from sidecall.cli.main import cli
from sidecall.toolkits.table import TOOLKITS
from tests.executors.sandbox.machine import contained


def test_toolkits_are_listed_with_their_risks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that ship, and which of them are on."""
    monkeypatch.setenv("COLUMNS", "400")

    result = CliRunner().invoke(cli, ["toolkits", "--toolkit", "fetch"])

    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert [name for name, line in lines.items() if line.split()[1] == "on"] == ["fetch"]
    assert [toolkit.name for toolkit in TOOLKITS if toolkit.risk not in lines[toolkit.name]] == []


def test_a_toolkit_lacks_what_the_machine_forbids() -> None:
    """As a container does that forbids namespaces, by which commands would be kept apart."""
    command = contained("-m", "sidecall", "toolkits")
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "900"})

    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "bubblewrap" in lines["shell"]
    assert "bubblewrap" not in lines["files"]


def test_an_unknown_toolkit_stops_the_start() -> None:
    """Before anything is loaded."""
    result = CliRunner().invoke(cli, ["serve", "--toolkit", "fetsh"])

    assert result.exit_code == 1
    assert "There is no toolkit 'fetsh'. Did you mean fetch?" in str(result.exception)
