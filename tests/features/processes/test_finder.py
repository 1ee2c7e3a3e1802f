"""Tools are found again by where they stand and what they are called."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecall import BaseTool, BaseToolkit, Tool, tool
from sidecall.features.processes.finder import Finder, Home
from sidecall.features.processes.tool_location import home_of
from sidecall.kernel.core.errors import DiscoveryError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.lazy_imports import load_function
from sidecall.loading.collect import TOOLS_OF, collect_items, tools_of
from sidecall.loading.discovery import discover
from sidecall.loading.modules.loading import load_file
from tests.kit.projects import write

IMPORT = "from sidecall import tool\n"
TOOL = f'''{IMPORT}

@tool(executor="process")
def found() -> int:
    """Answer."""
    return 1
'''


BESIDE = '''
from sidecall import BaseToolkit

class Broken(BaseToolkit):
    """Makes no tools."""

    def get_tools(self):
        raise RuntimeError("no tools")


class Later:
    """Would make them later."""

    async def get_tools(self):
        return []


broken, later = Broken(), Later()
'''


# In another order than they stand.
NAMES = ["tool_7", "tool_0", "tool_3"]


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


def _row(count: int) -> str:
    """Write a module of so many tools."""
    tools = [TOOL.removeprefix(IMPORT).replace("found", f"tool_{number}") for number in range(count)]
    return IMPORT + "".join(tools)


kit = Kit()
written = Written()
single = Tool("single", lambda text: text, "Take a text.", executor="process")


@pytest.mark.parametrize("offered", [kit.get_tools()[0], written, single], ids=["toolkit", "class", "wrapped"])
def test_tools_are_found_where_they_are_written(offered: BaseTool) -> None:
    """In the module of their function, or in that of the function that is wrapped."""
    assert Finder(tools_of).find(home_of(offered.compiled)).name == offered.name


def test_tools_that_a_module_keeps_for_itself_are_found(here: Path) -> None:
    """They may be run without being offered."""
    module = load_file(write("hidden.py", TOOL + "\n\n_kept = found\ndel found\n"))

    assert Finder(tools_of).find(home_of(module._kept.compiled)).name == "found"
    assert collect_items(module) == []


def test_tools_are_found_by_the_file_that_no_module_stands_for_yet(here: Path) -> None:
    """As in a new process; it is looked for once."""
    home: Home = {"name": "found", "module": "some_alias_of_it", "file": str(write("lonely.py", TOOL))}
    finder = Finder(tools_of)
    first = finder.find(home)

    assert first.name == "found"
    assert finder.find(home) is first


def test_tools_are_found_in_the_servers_places(here: Path) -> None:
    """When their function stands somewhere else than they do."""
    discover([str(write("box/offering.py", TOOL).parent)])
    home: Home = {"name": "found", "module": "sidecall.compat.foreign.langchain", "file": None}

    assert Finder(tools_of).find(home).name == "found"


def test_a_module_that_is_broken_is_named() -> None:
    """Its author has to mend it."""
    with pytest.raises(DiscoveryError, match=r"offers a tool of this name \(.*no_such\.py"):
        Finder(tools_of).find({"name": "found", "module": "no_such", "file": "no_such.py"})


def test_a_toolkit_that_makes_no_tools_harms_no_others(here: Path) -> None:
    """It stands beside them; who misses its tools reads why."""
    module = load_file(write("beside.py", BESIDE + "\n\n" + TOOL))
    home = home_of(module.found.compiled)

    assert Finder(tools_of).find(home).name == "found"
    assert "toolkit Broken cannot make its tools: RuntimeError: no tools" in str(
        Finder(tools_of).explain_loss({**home, "name": "gone"})
    )


def test_what_lists_tools_is_loaded_by_its_name() -> None:
    """A function cannot be sent to a process."""
    assert load_function(TOOLS_OF) is tools_of


def test_each_tool_of_a_module_is_made_once(here: Path) -> None:
    """However many are looked for, and only as far as they are."""
    homes: list[Home] = [{"name": name, "module": "row", "file": str(write("row.py", _row(9)))} for name in NAMES]
    made: list[str] = []

    def list_tools(offered: object) -> Iterator[CompiledTool]:
        for each in tools_of(offered):
            made.append(each.name)
            yield each

    finder = Finder(list_tools)
    assert [finder.find(home).name for home in homes] == NAMES
    assert made == [f"tool_{number}" for number in range(8)]


def test_a_tool_that_a_module_adds_later_is_found(here: Path) -> None:
    """The module is looked through once more for it."""
    module = load_file(write("growing.py", _row(2)))
    home = home_of(module.tool_0.compiled)
    finder = Finder(tools_of)
    assert finder.explain_loss({**home, "name": "found"})
    vars(module)["found"] = tool("found", executor="process")(lambda: 1)

    assert finder.find({**home, "name": "found"}).name == "found"
    assert finder.find(home).name == "tool_0"
