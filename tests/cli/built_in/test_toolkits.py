"""`sidecall toolkits` says what may be switched on, and the start refuses what cannot be."""

import pytest
from typer.testing import CliRunner

from sidecall.cli.main import cli
from sidecall.toolkits.table import TOOLKITS


def test_toolkits_are_listed_with_their_risks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that ship, and which of them are on."""
    monkeypatch.setenv("COLUMNS", "400")

    result = CliRunner().invoke(cli, ["toolkits", "--toolkit", "fetch"])

    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert [name for name, line in lines.items() if line.split()[1] == "on"] == ["fetch"]
    assert [toolkit.name for toolkit in TOOLKITS if toolkit.risk not in lines[toolkit.name]] == []


def test_an_unknown_toolkit_stops_the_start() -> None:
    """Before anything is loaded."""
    result = CliRunner().invoke(cli, ["serve", "--toolkit", "fetsh"])

    assert result.exit_code == 1
    assert "There is no toolkit 'fetsh'. Did you mean fetch?" in str(result.exception)
