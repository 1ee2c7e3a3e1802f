"""`sidecall --help` has a line of each command and loads none of them; commands load what they need alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.environments import ROOT
from bench.servers import plain_environment
from sidecall.cli.commands import COMMANDS, cli, list_commands
from sidecall.composition.features import load_features

# What a command has loaded at its end, by the beginning of the names of modules.
LOADED = """
import json, sys
from sidecall.cli.main import main
try:
    main()
finally:
    print(json.dumps(sorted({name for name in sys.modules})), file=sys.stderr)
"""
# The framework, the server, HTTP and the features' modules.
WEB = "fastapi starlette uvicorn httpx sidecall.main sidecall.server.graceful_shutdown sidecall.http.application"


def run_and_list(folder: Path, *arguments: str) -> list[str]:
    """Run a command in a folder, and return the modules that it has loaded."""
    command = [sys.executable, "-c", LOADED, *arguments]
    done = subprocess.run(command, cwd=folder, env=plain_environment(), capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(done.stderr.splitlines()[-1])
    return loaded


def list_rooms(modules: list[str], rooms: str) -> list[str]:
    """List what begins with one of these names."""
    return [name for name in modules if any(name == room or name.startswith(f"{room}.") for room in rooms.split())]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_line_is_the_first_sentence_of_the_command(name: str) -> None:
    """So that both say the same."""
    said = " ".join(CliRunner().invoke(cli, [name, "--help"], env={"COLUMNS": "400"}).stdout.split())

    assert f" {COMMANDS[name].text} " in said


def test_the_commands_of_features_are_where_these_say() -> None:
    """Each feature names its own."""
    said = {
        name: place for feature in load_features(use_entry_points=False) for name, place in feature.commands.items()
    }
    ours = {name: it.place for name, it in COMMANDS.items() if it.place.startswith("sidecall.features.")}

    assert ours == said


def test_the_help_loads_no_command(tmp_path: Path) -> None:
    """Or else it would take seconds."""
    loaded = run_and_list(tmp_path, "--help")

    assert list_rooms(loaded, f"{WEB} sidecall.features sidecall.composition sidecall.settings pydantic") == []
    assert len(list_rooms(loaded, "sidecall")) < 30


@pytest.mark.parametrize(
    ("arguments", "most"), [("check", 270), ("call echo text=hi", 370), ("tools", 235)], ids=["check", "call", "tools"]
)
def test_a_command_that_serves_nothing_loads_no_server(tmp_path: Path, arguments: str, most: int) -> None:
    """Nor what talks HTTP, nor stores, nor what only other tools need."""
    loaded = run_and_list(tmp_path, *arguments.split(), "--tools", str(ROOT / "bench" / "tools.py"))

    stores = "asyncpg sqlite3 sidecall.storage.sqlite sidecall.storage.postgres sidecall.features.history.history"
    assert list_rooms(loaded, f"{WEB} {stores}") == []
    assert len(list_rooms(loaded, "sidecall")) < most


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with a feature that has a command."""
    about = tmp_path / "more-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[sidecall.features]\nmore = more_features:FEATURE\n")
    (tmp_path / "more_features.py").write_text(
        "import typer\nfrom sidecall.feature import Feature\n\n"
        'FEATURE = Feature(name="more", commands={"more": "more_features:more"})\n\n\n'
        'def more() -> None:\n    """Print more than that."""\n    typer.echo("more")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    list_commands.cache_clear()
    load_features.cache_clear()


@pytest.mark.usefixtures("installed")
def test_commands_of_installed_packages_come_last() -> None:
    """With their own line, which only they have."""
    try:
        lines = CliRunner().invoke(cli, ["--help"]).stdout.splitlines()
        ran = CliRunner().invoke(cli, ["more"]).stdout

        assert [line.split()[1] for line in lines if "Print more than that." in line] == ["more"]
        assert list(list_commands())[-1] == "more"
        assert ran == "more\n"
    finally:
        list_commands.cache_clear()
        load_features.cache_clear()
