"""`sidecall new` writes a tool and its test, which pass as they are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from bench.environments import ROOT
from sidecall.cli.commands import cli
from sidecall.kernel.core.errors import InvalidToolName

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a wide terminal."""
    monkeypatch.setenv("COLUMNS", "200")


def new(*arguments: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(cli, ["new", *arguments])


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in this folder, as its owner would."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_tool_and_its_test_are_written() -> None:
    """In the folder that is loaded by default, and the next step is said."""
    result = new("get_weather")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "wrote tools/get_weather.py",
        "wrote tools/test_get_weather.py",
        "Try it: sidecall call get_weather text=hello times=2 --tools tools",
        "Test it, with pytest installed: python -m pytest tools/test_get_weather.py",
        "Serve it: sidecall serve --tools tools",
    ]


@pytest.mark.parametrize(
    ("name", "stem", "decorated"),
    [
        ("get_weather", "get_weather", "@tool\ndef get_weather("),
        ("GetWeather", "GetWeather", "@tool\ndef GetWeather("),
        ("get-weather", "get_weather", '@tool("get-weather")\ndef get_weather('),
        ("class", "tool_class", '@tool("class")\ndef tool_class('),  # a keyword
        ("2d-plot", "tool_2d_plot", '@tool("2d-plot")\ndef tool_2d_plot('),  # no identifier
        ("json", "tool_json", "@tool\ndef json("),  # the name of a module
        ("pytest", "tool_pytest", "@tool\ndef pytest("),  # of one that is installed
        ("sidecall", "tool_sidecall", "@tool\ndef sidecall("),
        ("tool", "tool", "@tool\ndef tool("),  # the name of the decorator
        ("ToolException", "ToolException", '@tool("ToolException")\ndef tool_ToolException('),  # what it raises
        ("answer", "answer", '@tool("answer")\ndef tool_answer('),  # what its test is answered with
        ("ToolTester", "ToolTester", '@tool("ToolTester")\ndef tool_ToolTester('),
        ("call", "call", "@tool\ndef call("),
        ("str", "str", "@tool\ndef str("),
        ("conftest", "tool_conftest", "@tool\ndef conftest("),
        ("x" * 64, "x" * 64, f"@tool\ndef {'x' * 64}("),
    ],
)
def test_what_is_written_works(here: Path, name: str, stem: str, decorated: str) -> None:
    """The tool is called as was asked for, and so are file and function where nothing else is called so."""
    written = new(name, "--folder", "mine")

    called = CliRunner().invoke(cli, ["call", "--tools", "mine", "--", name, "text=hello", "times=2"])

    assert written.exit_code == 0
    assert decorated in (here / "mine" / f"{stem}.py").read_text()
    assert called.exit_code == 0, called.output
    assert '"content": "hello hello"' in called.stdout


def test_the_tests_that_are_written_pass() -> None:
    """Two for each tool, no matter what its name is."""
    taken = ["json", "tool", "pytest", "sidecall", "ToolException", "answer", "ToolTester", "call", "str"]
    names = ["get_weather", "class", "2d-plot", *taken, "x" * 64]
    written = [new(name, "--folder", "mine").exit_code for name in names]

    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "mine")

    assert written == [0] * len(names)
    assert tested.returncode == 0, tested.stdout
    assert f"{2 * len(names)} passed" in tested.stdout


@pytest.mark.parametrize("name", ["-", "_", "_hidden", "test_it", "conftest", "tests"])
def test_a_tool_is_not_written_where_it_would_not_be_found(name: str) -> None:
    """Files and functions with such names are left alone when tools are loaded, so they get another."""
    new(name, "--folder", "mine")

    listed = CliRunner().invoke(cli, ["tools", "--tools", "mine", "--format", "json_schema"])

    assert [schema["title"] for schema in json.loads(listed.stdout)] == [name]


def test_what_is_written_into_a_package_works(here: Path) -> None:
    """Where there are tests the test goes to them, and imports by the package's name."""
    (here / "acme").mkdir()
    (here / "acme/__init__.py").touch()
    (here / "tests").mkdir()

    written = new("get-weather", "--folder", "acme")
    called = CliRunner().invoke(cli, ["call", "get-weather", "text=hello", "times=2", "--tools", "acme"])
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")

    assert written.stdout.splitlines()[:2] == ["wrote acme/get_weather.py", "wrote tests/acme/test_get_weather.py"]
    assert called.exit_code == 0, called.output
    assert tested.returncode == 0, tested.stdout


def test_a_file_of_a_package_is_taken_for_no_other(here: Path) -> None:
    """It keeps its name, since it is imported by the package's."""
    (here / "acme").mkdir()
    (here / "acme/__init__.py").touch()

    written = new("json", "--folder", "acme")
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "acme")

    assert written.stdout.splitlines()[:2] == ["wrote acme/json.py", "wrote acme/test_json.py"]
    assert tested.returncode == 0, tested.stdout


def test_what_is_written_into_a_package_without_tests_works(here: Path) -> None:
    """The test lies beside the tool."""
    (here / "acme").mkdir()
    (here / "acme/__init__.py").touch()

    written = new("get_weather", "--folder", "acme")
    tested = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "acme")

    assert written.stdout.splitlines()[1] == "wrote acme/test_get_weather.py"
    assert tested.returncode == 0, tested.stdout


def test_what_is_written_pleases_the_linter() -> None:
    """It is an example to start from."""
    new("get_weather", "--folder", "mine")

    checked = CliRunner().invoke(cli, ["check", "--tools", "mine"])

    assert checked.stdout.splitlines()[-1] == "1 tool, 0 errors, 0 warnings and notes, about 86 tokens"


@pytest.mark.parametrize("config", [["--isolated"], ["--config", str(ROOT / "pyproject.toml")]], ids=["plain", "ours"])
@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=["check", "format"])
def test_what_is_written_pleases_ruff(command: list[str], config: list[str]) -> None:
    """As it is set up by default, and as in this repository."""
    pytest.importorskip("ruff", reason="a linter, which is not installed beside every Python")
    for name in ("get_weather", "weather", "a"):
        new(name, "--folder", "mine")

    checked = run("-m", "ruff", *command, "--no-cache", *config, "mine")

    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("file", ["get_weather.py", "test_get_weather.py"])
def test_nothing_is_overwritten(here: Path, file: str) -> None:
    """Neither of the two, and none is written when the other is there."""
    (here / "tools").mkdir()
    (here / "tools" / file).write_text("mine")

    result = new("get_weather")

    assert result.exit_code == 2
    assert f"tools/{file} exists already" in result.stderr
    assert [path.name for path in (here / "tools").iterdir()] == [file]
    assert (here / "tools" / file).read_text() == "mine"


@pytest.mark.parametrize("name", ["", "get weather", "get.weather", "../weather", "wetter_ü", "x" * 65])
def test_a_name_that_no_provider_takes_is_refused(here: Path, name: str) -> None:
    """Nothing is written."""
    result = new(name)

    assert isinstance(result.exception, InvalidToolName)
    assert result.exception.message == f"{name!r}: The name of a tool must match ^[a-zA-Z0-9_-]{{1,64}}$."
    assert list(here.iterdir()) == []
