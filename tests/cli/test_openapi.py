"""`sidecall openapi` writes the OpenAPI document."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli

FOLDER = Path(__file__).parents[2] / "openapi"


def test_the_document_is_printed() -> None:
    """It is the committed one, to the letter."""
    result = CliRunner().invoke(cli, ["openapi"])

    assert result.exit_code == 0
    assert result.stdout == (FOLDER / "openapi.json").read_text()


def test_the_document_can_be_written_to_a_file(tmp_path: Path) -> None:
    """In a folder that need not be there; nothing is printed then."""
    output = tmp_path / "new" / "openapi.json"

    result = CliRunner().invoke(cli, ["openapi", "--output", str(output)])

    assert result.exit_code == 0
    assert result.stdout == ""
    assert output.read_text() == (FOLDER / "openapi.json").read_text()


def test_the_example_requests_are_written_beside_it(tmp_path: Path) -> None:
    """They are the committed ones, to the letter."""
    CliRunner().invoke(cli, ["openapi", "--output", str(tmp_path / "openapi.json")])

    written = {path.name: path.read_text() for path in (tmp_path / "examples").iterdir()}

    assert written == {path.name: path.read_text() for path in (FOLDER / "examples").iterdir()}


def test_the_document_does_not_depend_on_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor on whether they can be loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIDECALL_TOOLS", "nowhere")

    result = CliRunner().invoke(cli, ["openapi"])

    assert result.exit_code == 0
    assert result.stdout == (FOLDER / "openapi.json").read_text()
