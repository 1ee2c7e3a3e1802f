"""The tools that ship are served where a project has none, and what it has may import the rest of it."""

import pytest

from sidecall.kernel.core.errors import DiscoveryError
from sidecall.loading.discovery import discover, watched_folders
from sidecall.loading.toolkits import shipped_tools
from tests.kit.projects import names, tool_file, write

pytestmark = pytest.mark.usefixtures("here")


SHIPPED = ["calculator", "current_time", "convert_time", "tavily_search"]


@pytest.mark.parametrize(
    ("files", "place", "offered"),
    [
        ([], "tools", SHIPPED),
        (["tools/a.py"], "tools", ["mine"]),
        (["tools/__init__.py", "tools/a.py"], "tools", ["mine", "mine"]),
        (["tools.py"], "tools", ["mine"]),
        (["tools.py", "tools/a.py"], "tools", ["mine"]),
        (["tools/a.py"], "sidecall", SHIPPED),
        (["tools/a.py"], "sidecall.calculator", ["calculator"]),
        ([], "sidecall.fetch", ["web_fetch"]),  # A toolkit's file that is named is meant.
        (["sidecall/a.py"], "sidecall", ["mine"]),  # a path wins, as for every place
    ],
)
def test_what_ships_is_served_where_a_project_has_no_tools(files: list[str], place: str, offered: list[str]) -> None:
    """And wherever it is asked for by the package's name."""
    for file in files:
        write(file, tool_file("mine"))

    assert names(discover([place])) == offered


def test_a_file_that_does_not_ship_is_named() -> None:
    """Modules of ours are no places of tools."""
    with pytest.raises(DiscoveryError, match=r"There is no module, file or folder 'sidecall\.weather'"):
        discover(["sidecall.weather"])


def test_what_ships_is_watched_where_it_is_served() -> None:
    """Each change shows at once."""
    assert watched_folders(["tools"]) == [shipped_tools()]


def test_tools_import_what_the_project_and_their_folder_have() -> None:
    """Each folder its own."""
    write("app/__init__.py", "")
    write("app/orders.py", "PRICE = 7\n")
    for folder in ("one", "two"):
        write(f"{folder}/_shared.py", f"NAME = 'of_{folder}'\n")
        text = "from app.orders import PRICE\nfrom _shared import NAME\nfrom ._shared import NAME as again\n"
        write(
            f"{folder}/a.py", text + tool_file("x").replace("@tool\n", "@tool(NAME, description=f'{again} {PRICE}')\n")
        )

    found = discover(["one", "two"])

    assert [(tool.name, tool.description) for tool in found] == [("of_one", "of_one 7"), ("of_two", "of_two 7")]
