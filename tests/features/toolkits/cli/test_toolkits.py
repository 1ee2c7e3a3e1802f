"""`sidecall toolkits` says what may be switched on, and the start refuses what cannot be."""

import json
import subprocess

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.loading.toolkits import TOOLKITS
from tests.features.sandbox.machine import contained


def test_toolkits_are_listed_with_their_risks(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that ship, and which of them are on."""
    monkeypatch.setenv("COLUMNS", "400")

    result = CliRunner().invoke(cli, ["toolkits", "--toolkit", "fetch"])

    states = [line.split()[:2] for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert states[:-1] == [[it.name, "on" if it.name == "fetch" else "off"] for it in TOOLKITS]
    assert [toolkit.name for toolkit in TOOLKITS if toolkit.risk not in result.stdout] == []


def test_names_are_whole_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what one types."""
    monkeypatch.setenv("COLUMNS", "40")

    shown = CliRunner().invoke(cli, ["toolkits"]).stdout

    assert [toolkit.name for toolkit in TOOLKITS if f"{toolkit.name} " not in shown] == []


def test_toolkits_are_listed_for_programs() -> None:
    """As JSON."""
    fetch, *_ = json.loads(CliRunner().invoke(cli, ["toolkits", "--toolkit", "fetch", "--json"]).stdout)

    assert fetch == {
        "name": "fetch",
        "on": True,
        "tools": ["web_fetch"],
        "risk": TOOLKITS[0].risk,
        "asks_about": "nothing",
        "lacks": None,
    }


def test_a_toolkit_lacks_what_the_machine_forbids() -> None:
    """As a container does that forbids namespaces, by which commands would be kept apart."""
    command = contained("-m", "sidecall", "toolkits", "--json")
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    lacks = {it["name"]: it["lacks"] for it in json.loads(done.stdout)}
    assert "bubblewrap" in lacks["shell"]
    assert lacks["files"] is None


def test_an_unknown_toolkit_stops_the_start() -> None:
    """Before anything is loaded."""
    result = CliRunner().invoke(cli, ["serve", "--toolkit", "fetsh"])

    assert result.exit_code == 1
    assert "There is no toolkit 'fetsh'. Did you mean fetch?" in str(result.exception)
