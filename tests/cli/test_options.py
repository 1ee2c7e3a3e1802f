"""What the environment says holds for the commands, too."""

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.settings import Settings
from sidecall.terminal.options import load_registry

HANGING = '''
import asyncio
from sidecall import tool


@tool
async def hang() -> None:
    """Hang."""
    await asyncio.Event().wait()
'''
ENTRY_POINT = "[sidecall.tools]\nacme = acme_tools\n"


@pytest.mark.parametrize(("entry_points", "names"), [(True, ["hang"]), (False, [])])
def test_commands_leave_installed_packages_out(here: Path, entry_points: bool, names: list[str]) -> None:
    """The setting `entry_points`."""
    (here / "acme_tools.py").write_text(HANGING)
    (here / "acme-1.0.dist-info").mkdir()
    (here / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (here / "acme-1.0.dist-info/entry_points.txt").write_text(ENTRY_POINT)
    sys.path.append(str(here))

    assert load_registry(Settings(tools=(), entry_points=entry_points)).names == names


def test_a_command_waits_as_long_as_a_server_would(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting `tool_timeout`."""
    (here / "mine.py").write_text(HANGING)
    monkeypatch.setenv("SIDECALL_TOOL_TIMEOUT", "0.05")

    result = CliRunner().invoke(cli, ["call", "--tools", "mine.py", "hang"])

    assert result.exit_code == 1
    assert "Error: hang timed out after 0.05 seconds." in result.stdout
