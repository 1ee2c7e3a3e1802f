"""A server that would offer nothing does not start, unless it is asked to."""

import json
from pathlib import Path

import pytest

from sidecall.cli.serve import name_first
from sidecall.kernel.registry import Registry
from sidecall.loading.discovery import discover
from sidecall.settings import Settings
from sidecall.terminal.options import NothingOffered, refuse_empty
from tests.cli.conftest import SidecallHere
from tests.kit.forked import run_sidecall
from tests.kit.projects import tool_file

NONE = "Nothing would be offered: there is no tool in mine.py. A tool is a module-level function with @tool."
DISABLED = "Nothing would be offered: all tools in mine.py have is_enabled=False."
HINT = "To start all the same, give --allow-empty or set SIDECALL_ALLOW_EMPTY=true."
LIST = "from sidecall import tool\n\ntools = [tool(len, description='Count.')]\n"
EMPTY = [
    ("", NONE),
    ("x = 1\n", NONE),
    (tool_file("_private"), NONE),
    ("from sidecall import BaseTool\n\n\nclass Add(BaseTool):\n    name: str = 'add'\n", NONE),
    (LIST.replace("tool(len", "1, tool(len"), NONE),
    (tool_file("one").replace("@tool", "@tool(is_enabled=False)"), DISABLED),
]
OFFERING = [tool_file("one"), LIST, tool_file("one").replace("@tool", "@tool(is_enabled=lambda caller: False)")]


@pytest.mark.parametrize(("text", "said"), EMPTY)
@pytest.mark.parametrize("arguments", [[], ["--workers", "2"]], ids=["alone", "workers"])
@pytest.mark.usefixtures("origin")
def test_an_empty_server_does_not_start(tmp_path: Path, text: str, said: str, arguments: list[str]) -> None:
    """The last line says so, and how to start it all the same."""
    (tmp_path / "mine.py").write_text(text)

    result = run_sidecall("serve", "--port", "0", "--tools", "mine.py", *arguments, cwd=tmp_path)

    assert result.returncode == 1
    assert f"{said} {HINT}" in result.stderr.splitlines()[-1]


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_both_ways_to_serve_can_be_asked_to(command: str, sidecall_here: SidecallHere) -> None:
    """It is an option of each."""
    assert "--allow-empty" in sidecall_here(command, "--help", COLUMNS="200").stdout


@pytest.mark.usefixtures("origin")
def test_an_empty_server_of_pipes_does_not_start(here: Path) -> None:
    """Its client would see a server without tools."""
    (here / "mine.py").touch()

    refused = run_sidecall("mcp", "--tools", "mine.py", cwd=here)

    assert refused.returncode == 1
    assert f"{NONE} {HINT}" in refused.stderr


@pytest.mark.parametrize(("text", "said"), EMPTY)
def test_a_check_fails_where_nothing_is_offered(sidecall_here: SidecallHere, here: Path, text: str, said: str) -> None:
    """As the start would."""
    (here / "mine.py").write_text(text)

    result = sidecall_here("check", "--tools", "mine.py")

    assert result.returncode == 1
    assert f"error   mine.py {said}" in result.stdout.splitlines()
    assert ", 1 error, " in result.stdout or ", 2 errors, " in result.stdout


@pytest.mark.parametrize("text", OFFERING)
def test_a_check_passes_where_something_is_offered(sidecall_here: SidecallHere, here: Path, text: str) -> None:
    """To some callers at least."""
    (here / "mine.py").write_text(text)

    assert "Nothing would be offered" not in sidecall_here("check", "--tools", "mine.py").stdout


def test_a_check_passes_where_nothing_is_wanted(sidecall_here: SidecallHere, here: Path) -> None:
    """The setting holds for it, too."""
    (here / "mine.py").touch()

    result = sidecall_here("check", "--tools", "mine.py", SIDECALL_ALLOW_EMPTY="true")

    assert (result.returncode, "error " in result.stdout) == (0, False)


@pytest.mark.parametrize(
    "given",
    [
        {"allow_empty": True},
        {"reload": True},
        {"openapi": ["https://api.example.com/openapi.json"]},
        {"openapi_services": "services.json"},
        {"mcp_servers": "mcp.json"},
        {"toolkits": ["fetch"]},
    ],
    ids=lambda it: next(iter(it)),
)
def test_what_may_offer_something_later_starts(here: Path, given: dict[str, object]) -> None:
    """A file that changes, servers of MCP, documents of OpenAPI; and a toolkit does at once."""
    (here / "mine.py").touch()
    (here / "mcp.json").write_text(json.dumps({"mcpServers": {"there": {"url": "http://127.0.0.1:9/mcp"}}}))
    (here / "services.json").write_text("{}")
    settings = Settings(tools=["mine.py"], **given)

    refuse_empty(settings, Registry(discover(settings.places)))

    with pytest.raises(NothingOffered):
        refuse_empty(Settings(tools=["mine.py"]), Registry(discover(["mine.py"])))


def test_the_defaults_offer_what_ships(here: Path) -> None:
    """In a fresh folder, and in one of the project's own."""
    settings = Settings()

    refuse_empty(settings, Registry(discover(settings.places)))

    (here / "tools").mkdir()
    with pytest.raises(NothingOffered, match="there is no tool in tools"):
        refuse_empty(settings, Registry(discover(settings.places)))


@pytest.mark.parametrize(
    ("count", "end"),
    [(0, "none"), (1, "a0"), (2, "a0, a1"), (20, ", a19"), (21, ", a19 and 1 more"), (1000, "980 more")],
)
def test_the_log_names_some_of_what_is_offered(count: int, end: str) -> None:
    """A thousand names would hide what else the line says."""
    said = name_first([f"a{index}" for index in range(count)])

    assert said.endswith(end)
    assert said.count(",") < 20
