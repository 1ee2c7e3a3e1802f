"""The program says its version, its commands, and in a sentence what has to be mended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sidecall.cli.commands import cli
from sidecall.version import __version__
from tests.cli.conftest import SidecallHere
from tests.kit.forked import run_sidecall

TOOL = 'from sidecall import tool\n\n\n@tool{option}\ndef {name}() -> str:\n    """Answer."""\n    return "{name}"\n'


def test_the_version_is_printed() -> None:
    """On one line, for scripts."""
    result = CliRunner().invoke(cli, ["--version"])

    assert result.exit_code == 0
    assert result.stdout == f"sidecall {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_commands_are_listed(arguments: list[str]) -> None:
    """Each with what it does."""
    result = CliRunner().invoke(cli, arguments)

    assert "Run the tools of AI agents behind plain HTTP." in result.output
    assert [name for name in ("serve", "tools", "call", "new", "check", "openapi") if name in result.output] == [
        *("serve", "tools", "call", "new", "check", "openapi")
    ]


def test_an_unknown_command_is_a_mistake_of_usage() -> None:
    """Exit code 2, as everywhere."""
    result = CliRunner().invoke(cli, ["sreve"])

    assert result.exit_code == 2
    assert "No such command 'sreve'" in result.stderr


def test_the_installed_program_is_the_module(tmp_path: Path) -> None:
    """`sidecall` and `python -m sidecall` do the same."""
    programs = [[str(Path(sys.executable).parent / "sidecall")], [sys.executable, "-m", "sidecall"]]

    results = [
        subprocess.run([*program, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        for program in programs
    ]

    assert [(result.returncode, result.stdout) for result in results] == [(0, f"sidecall {__version__}\n")] * 2


@pytest.mark.usefixtures("origin")
def test_a_bad_setting_is_named(tmp_path: Path) -> None:
    """One line each, and nothing else."""
    environment = {**os.environ, "SIDECALL_THREADS": "0", "SIDECALL_LOG_LEVEL": "loud"}

    result = run_sidecall("openapi", cwd=tmp_path, environment=environment)

    assert result.returncode == 1
    assert result.stdout == ""
    assert sorted(result.stderr.splitlines()) == [
        "error: setting SIDECALL_LOG_LEVEL: Input should be 'debug', 'info', 'warning' or 'error'; it is 'loud'",
        "error: setting SIDECALL_THREADS: Input should be greater than or equal to 1; it is '0'",
    ]


@pytest.mark.parametrize(
    ("arguments", "environment", "complaint"),
    [
        # what some programs do with the quotes of a file of variables is seen
        (
            ["tools"],
            {"SIDECALL_RATE_LIMIT": '"1/day"'},
            "setting SIDECALL_RATE_LIMIT: write calls per second, minute, hour or day, such as 100/minute; "
            "it is '\"1/day\"'",
        ),
        (
            ["tools"],
            {"SIDECALL_CALLER_HEADER": "X User"},
            "setting SIDECALL_CALLER_HEADER: write the name of a header, such as X-Forwarded-User; it is 'X User'",
        ),
        (
            ["tools"],
            {"SIDECALL_HOST": " "},
            "setting SIDECALL_HOST: write an address, such as 127.0.0.1, 0.0.0.0 or ::1; it is ' '",
        ),
        (["tools"], {"SIDECALL_LOG_CALLS": "yess"}, "setting SIDECALL_LOG_CALLS: write true or false; it is 'yess'"),
        (["tools"], {"SIDECALL_PORT": "http"}, "setting SIDECALL_PORT: Input should be a valid integer"),
        (
            ["tools"],
            {"SIDECALL_AUTH": "gateway,api-key"},
            "setting SIDECALL_AUTH: Input should be 'none', 'api_key', 'jwt' or 'gateway'; it is 'api-key'",
        ),
        (["serve", "--port", "99999"], {}, "setting SIDECALL_PORT: Input should be less than or equal to 65535"),
        (["serve", "--workers", "0"], {}, "setting SIDECALL_WORKERS: Input should be greater than or equal to 1"),
    ],
)
@pytest.mark.usefixtures("signals")
def test_a_bad_setting_is_named_wherever_it_comes_from(
    sidecall_here: SidecallHere,
    arguments: list[str],
    environment: dict[str, str],
    complaint: str,
) -> None:
    """The environment and the command line are told of in the same words."""
    result = sidecall_here(*arguments, **environment)

    assert result.returncode == 1
    assert result.stdout == ""
    assert [line[: len(complaint) + 7] for line in result.stderr.splitlines()] == [f"error: {complaint}"]


@pytest.mark.usefixtures("signals")
def test_a_secret_that_does_not_fit_is_not_said_back(sidecall_here: SidecallHere) -> None:
    """Logs are read by many."""
    result = sidecall_here("tools", SIDECALL_WEBHOOK_SECRET="whsec_mistyped!")

    complaint = "setting SIDECALL_WEBHOOK_SECRET: write whsec_ and the base64 of 24 to 64 random bytes"
    assert (result.returncode, result.stderr) == (1, f"error: {complaint}\n")


BROKEN = pytest.mark.parametrize(
    ("files", "places", "complaint"),
    [
        (
            {"a.py": TOOL.format(name="same", option=""), "b.py": TOOL.format(name="same", option="")},
            ["a.py", "b.py"],
            "error: Two tools are called 'same': a.py:4 and b.py:4. "
            "Give one another name, for instance @tool('same_2').\n",
        ),
        (
            {"a.py": TOOL.format(name="fine", option='("not fine")')},
            ["a.py"],
            "error: a.py:4: tool 'not fine': The name of a tool must match ^[a-zA-Z0-9_-]{1,64}$. "
            "Rename it, or give a name: @tool('good_name').\n",
        ),
        (
            {"a.py": "import nowhere"},
            ["a.py"],
            "error: {here}/a.py:1 cannot be loaded: ModuleNotFoundError: No module named 'nowhere'\n",
        ),
        ({}, ["nowhere.py"], "error: There is no file or folder 'nowhere.py' (looked in {here}).\n"),
        # what looks like markup of the terminal is text
        ({}, ["some/[red]"], "error: There is no file or folder 'some/[red]' (looked in {here}).\n"),
        ({}, ["some/[/red]"], "error: There is no file or folder 'some/[/red]' (looked in {here}).\n"),
        (
            {"a.py": TOOL.format(name="greet", option='("greet", tags=7)')},
            ["a.py"],
            "error: a.py:4: tool 'greet': option `tags`: Input should be a valid list.\n",
        ),
    ],
    ids=["duplicate", "name", "broken", "missing", "markup", "closing-markup", "option"],
)


def written(folder: Path, files: dict[str, str], places: list[str]) -> list[str]:
    """Write files of tools, and return the options that name their places."""
    [(folder / name).write_text(text) for name, text in files.items()]
    return [option for place in places for option in ("--tools", place)]


@BROKEN
def test_tools_that_cannot_be_offered_cannot_be_checked(
    here: Path, sidecall_here: SidecallHere, files: dict[str, str], places: list[str], complaint: str
) -> None:
    """With file, tool and remedy, and without a traceback."""
    options = written(here, files, places)

    result = sidecall_here("check", *options)

    assert result.returncode == 1
    assert result.stderr == complaint.replace("{here}", str(here))


@pytest.mark.usefixtures("origin")
def test_tools_that_cannot_be_offered_stop_the_start(tmp_path: Path) -> None:
    """The words are those of the check, in a line of the log as all that comes after."""
    options = written(tmp_path, {"a.py": TOOL.format(name="greet", option='("greet", tags=7)')}, ["a.py"])

    result = run_sidecall("serve", *options, cwd=tmp_path)

    assert result.returncode == 1
    [line] = map(json.loads, result.stderr.splitlines())
    assert line["level"] == "error"
    assert line["event"] == "a.py:4: tool 'greet': option `tags`: Input should be a valid list."


def test_a_toolkit_that_fails_stops_the_start(here: Path, sidecall_here: SidecallHere) -> None:
    """Its file and the reason are named, without a traceback."""
    (here / "kits.py").write_text(
        "from sidecall import BaseToolkit\n\n\nclass Kit(BaseToolkit):\n    def get_tools(self):\n"
        '        raise KeyError("API_KEY")\n\n\nkit = Kit()\n'
    )

    result = sidecall_here("tools", "--tools", "kits.py")

    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "kits.py" in result.stderr
    assert "KeyError: 'API_KEY'" in result.stderr
