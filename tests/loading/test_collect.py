"""A module offers its public tools, toolkits and registries; those that it keeps for itself are found behind them."""

from pathlib import Path

import pytest

from sidecall.kernel.core.errors import DiscoveryError
from sidecall.loading.collect import collect_items, compile_items, tools_of
from sidecall.loading.modules.loading import load_file
from tests.kit.projects import names, tool_file, write

KITS = """
from sidecall import BaseToolkit


class Kit(BaseToolkit):
    tools: list

    def get_tools(self):
        return [*self.tools, None]


class Raising(BaseToolkit):
    def get_tools(self):
        raise KeyboardInterrupt("no tools")


"""

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("more", "offered", "all_of_them"),
    [
        ("", ["one", "two"], ["one", "two"]),
        ("_two = two\ndel two\n", ["one"], ["one", "two"]),
        ("__all__ = ['two']\n", ["two"], ["two", "one"]),
        ("from sidecall import Registry\nall_of_us = Registry([two])\n", ["one", "two"], ["one", "two", "two"]),
    ],
    ids=["public", "private", "__all__", "registry"],
)
def test_what_is_offered_comes_first(more: str, offered: list[str], all_of_them: list[str]) -> None:
    """What `sidecall.loading.discovery` lists, and what a process looks through."""
    module = load_file(write("mine.py", tool_file("one", "two") + more))

    assert names(compile_items(collect_items(module))) == offered
    assert names(tools_of(module)) == all_of_them


def test_a_wrong_toolkit_is_named(here: Path) -> None:
    """No matter what it raises; the tools beside it come before."""
    module = load_file(write(here / "mine.py", tool_file("one") + KITS + "kit = Raising()"))
    found = tools_of(module)

    assert next(found).name == "one"
    with pytest.raises(DiscoveryError, match="toolkit Raising cannot make its tools: KeyboardInterrupt: no tools"):
        next(found)


ADD = """
from langchain_core.tools import tool as langchain_tool
from sidecall import Registry, tool


@langchain_tool
def add(a: int, b: int = 1) -> int:
    \"\"\"Add two numbers.\"\"\"
    return a + b


"""


@pytest.mark.parametrize(
    ("more", "offered"),
    [
        ("fast = tool(add, timeout=5)", [("add", 5.0)]),
        ("registry = Registry([tool(add, timeout=5)])", [("add", 5.0)]),
        ("fast = tool('fast', add, timeout=5)", [("add", None), ("fast", 5.0)]),
    ],
    ids=["alone", "in a registry", "under another name"],
)
def test_another_librarys_tool_gives_way_to_what_is_made_of_it(
    more: str, offered: list[tuple[str, float | None]]
) -> None:
    """They are the same tool; under another name there are two."""
    module = load_file(write("mine.py", ADD + more))

    found = [compile_items(collect_items(module)), list(tools_of(module))]

    assert [[(tool.name, tool.options.timeout) for tool in tools] for tools in found] == [offered, offered]
