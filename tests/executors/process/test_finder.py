"""Tools are found again by where they stand and what they are called."""

import sys
from pathlib import Path
from typing import Any

import pytest

from sidecall import BaseTool, BaseToolkit, Tool, tool
from sidecall.core.errors import DiscoveryError
from sidecall.discovery import discover
from sidecall.executors.process.finder import Discover, Finder, Home, load_discover
from sidecall.executors.process.home import home_of
from sidecall.executors.process.modules import discover_in_modules

TOOL = '''from sidecall import tool


@tool(executor="process")
def found() -> int:
    """Answer."""
    return 1
'''


BESIDE = '''

class Broken:
    """Makes no tools."""

    def get_tools(self):
        raise RuntimeError("no tools")


class Later:
    """Would make them later."""

    async def get_tools(self):
        return []


broken, later = Broken(), Later()
'''


class Kit(BaseToolkit):
    """Offer a method."""

    number: int = 0

    @tool(executor="process")
    def kept(self) -> int:
        """Answer."""
        return self.number


class Written(BaseTool):
    """Offer a class."""

    name: str = "written"
    executor: Any = "process"

    def _run(self) -> None: ...


kit = Kit()
written = Written()
single = Tool("single", lambda text: text, "Take a text.", executor="process")


@pytest.fixture(params=[discover, discover_in_modules], ids=["server", "modules"])
def by(request: pytest.FixtureRequest) -> Discover:
    """As a server finds tools, and as is done without one."""
    found: Discover = request.param
    return found


@pytest.mark.parametrize("offered", [kit.get_tools()[0], written, single], ids=["toolkit", "class", "wrapped"])
def test_tools_are_found_where_they_are_written(by: Discover, offered: BaseTool) -> None:
    """In the module of their function, or in that of the function that is wrapped."""
    assert Finder(by).find(home_of(offered.compiled)).name == offered.name


def test_tools_are_found_by_the_file_that_no_module_stands_for_yet(
    by: Discover, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a new process; it is looked for once."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "lonely.py"
    file.write_text(TOOL)
    home: Home = {"name": "found", "module": "some_alias_of_it", "file": str(file)}
    finder = Finder(by)
    first = finder.find(home)

    assert first.name == "found"
    assert finder.find(home) is first


def test_tools_are_found_in_the_servers_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When their function stands somewhere else than they do."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "offering.py").write_text(TOOL)
    home: Home = {"name": "found", "module": "sidecall.authoring.foreign.langchain", "file": None}

    assert Finder(discover, [str(tmp_path)]).find(home).name == "found"


def test_a_module_that_is_broken_is_named(by: Discover) -> None:
    """Its author has to mend it."""
    with pytest.raises(DiscoveryError, match=r"offers a tool of this name \(.*no_such\.py"):
        Finder(by).find({"name": "found", "module": "no_such", "file": "no_such.py"})


def test_what_raises_on_its_way_in_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a module's own code does."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "leaving_early.py").write_text("raise SystemExit(3)")

    with pytest.raises(DiscoveryError) as caught:
        discover_in_modules(["leaving_early"])

    assert caught.value.message == "leaving_early cannot be loaded: SystemExit: 3"


def test_what_only_looks_like_a_toolkit_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands beside the tools of a module, and is none."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beside.py").write_text(TOOL + BESIDE)

    assert [tool.name for tool in discover_in_modules([str(tmp_path / "beside.py")])] == ["found"]


def test_what_finds_tools_is_loaded_by_its_name() -> None:
    """A function cannot be sent to a process."""
    assert load_discover("sidecall.discovery:discover") is discover
