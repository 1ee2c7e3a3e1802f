"""Tools that stand only in a list are offered, where the list holds nothing else."""

import pytest

from sidecall.features.processes.finder import Finder
from sidecall.features.processes.tool_location import home_of
from sidecall.kernel.core.errors import ToolAlreadyRegistered
from sidecall.kernel.registry import Registry
from sidecall.loading.collect import tools_of
from sidecall.loading.discovery import discover
from tests.kit.projects import names, write

HEAD = '''

from collections import UserDict, UserList, deque
from types import MappingProxyType
from typing import Any

from langchain_core.tools import BaseTool as TheirBaseTool, BaseToolkit as TheirToolkit, tool as their_tool
from pydantic import BaseModel

from sidecall import BaseTool, BaseToolkit, Registry, StructuredTool, WebSearchTool, function_tool, tool
from tests.compat.foreign.agents_sdk import FunctionTool


def make(i, answer=""):
    @tool(f"add_{i}")
    def add(a: int) -> int:
        """Add."""
        return a + i

    return add


class Listener:
    def on_tool_start(self, serialized, text, **details):
        pass


class Number(BaseModel):
    n: int


class Declared(BaseTool):
    """Double, by a schema."""

    name: str = "declared"
    args_schema: type[BaseModel] = Number

    def _run(self, n: int) -> int:
        return 2 * n


class Inferred(BaseTool):
    """Double."""

    name: str = "inferred"

    def _run(self, n: int) -> int:
        return 2 * n


class Hashed(Inferred):
    __hash__ = object.__hash__


class Theirs(TheirBaseTool):
    name: str = "theirs"
    description: str = "Double."

    def _run(self, n: int) -> int:
        return 2 * n


@their_tool
def _wrapped(n: int) -> int:
    """Double."""
    return 2 * n


class Kit(BaseToolkit):
    def get_tools(self):
        def make(i):
            @tool(f"add_{i}")
            def add(a: int) -> int:
                """Add."""
                return a + i

            return add

        return [make(1), make(2)]


class TheirKit(TheirToolkit):
    def get_tools(self):
        return [_wrapped]


def _invoke(context, text):
    return text


def build(name):
    return FunctionTool(name, "Built.", {"type": "object", "properties": {}}, _invoke)


def double(n: int) -> int:
    """Double."""
    return 2 * n


'''

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("tools = [Inferred(), Declared()]", ["inferred", "declared"]),
        ("tools = (make(2), make(1))", ["add_2", "add_1"]),
        ("tools = {'second': make(2), 'first': make(1)}", ["add_2", "add_1"]),
        ("tools = {Hashed(name='b'), Hashed(name='a')}", ["a", "b"]),
        ("tools = frozenset((Hashed(name='b'), Hashed(name='a')))", ["a", "b"]),
        ("tools = deque([make(2), make(1)])", ["add_2", "add_1"]),
        ("tools = UserList([make(2), make(1)])", ["add_2", "add_1"]),
        ("tools = {'second': make(2), 'first': make(1)}.values()", ["add_2", "add_1"]),
        ("tools = MappingProxyType({'adding': (make(1), make(2))})", ["add_1", "add_2"]),
        ("tools = UserDict({'adding': [make(1)]})", ["add_1"]),
        ("tools: list[TheirBaseTool] = [_wrapped]", ["_wrapped"]),
        ("tools = {f'add {i}': make(i) for i in range(2)}", ["add_0", "add_1"]),
        ("tools = [{'it': make(1)}, {'it': make(2)}]", ["add_1", "add_2"]),
        ("tools = [tool('one')(double), tool('two')(double)]", ["one", "two"]),
        ("tools = [[make(1)], [make(2), [make(3)]], []]", ["add_1", "add_2", "add_3"]),
        ("tools = {'adding': [make(1)], 'doubling': (Inferred(),)}", ["add_1", "inferred"]),
        ("tools = [Theirs(), _wrapped]", ["theirs", "_wrapped"]),
        ("tools = [_wrapped, make(1), build('built')]", ["_wrapped", "add_1", "built"]),
        ("tools = [WebSearchTool(), function_tool(double)]", ["web_search", "double"]),
        ("tools = [StructuredTool.from_function(double)]", ["double"]),
        ("tools = [Kit()]", ["add_1", "add_2"]),
        ("tools = [Kit(), Inferred()]", ["add_1", "add_2", "inferred"]),
        ("tools = Kit().get_tools()", ["add_1", "add_2"]),
        ("tools = [TheirKit()]", ["_wrapped"]),
        ("tools: list[Any] = [make(1)]\ntools += [make(2)]\ntools.append(make(3))", ["add_1", "add_2", "add_3"]),
        ("ALL = [make(i) for i in range(3)]", ["add_0", "add_1", "add_2"]),
        ("_tools = [make(1)]\n__all__ = ['_tools']", ["add_1"]),
        ("if True:\n    tools = [make(1)]", ["add_1"]),
    ],
)
def test_a_collection_of_tools_alone_is_offered(text: str, offered: list[str]) -> None:
    """In its order, a set by names; nested, in a dict, and of other libraries too."""
    write("mine.py", HEAD + text + "\n")
    told: list[str] = []

    assert names(discover(["mine.py"], tell=lambda it: told.append(it.text))) == offered
    # Of the classes that the case is about nobody has to make an instance.
    assert [it for it in told if "make an instance" not in it or f" {it.split()[1]}(" in text] == []


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("one = make(1)\ntools = [one, make(2), one]", ["add_1", "add_2"]),
        ("tools = [make(2), make(1)]\none = tools[1]", ["add_1", "add_2"]),
        ("reading = [make(1)]\nall_tools = [*reading, make(2)]", ["add_1", "add_2"]),
        ("tools = [make(1)]\nby_name = {it.name: it for it in tools}", ["add_1"]),
        ("tools = [make(1)]\nregistry = Registry(tools)", ["add_1"]),
        ("tools = [make(1)]\ntools = Registry(tools)", ["add_1"]),
        ("kit = Kit()\ntools = kit.get_tools()", ["add_1", "add_2"]),
        ("kit = Kit()\ntools = [kit, Inferred()]", ["add_1", "add_2", "inferred"]),
        ("some = Kit().get_tools()[:1]\nall_tools = Kit().get_tools()", ["add_1", "add_2"]),
        ("one = _wrapped\ntools = [one]", ["_wrapped"]),
        ("wrapped = tool(_wrapped, timeout=5)\ntools = [_wrapped]", ["_wrapped"]),
        ("theirs = _wrapped\ntools = [tool(_wrapped, timeout=5)]", ["_wrapped"]),
        ("_tools = [make(1)]\none = make(2)", ["add_2"]),
        ("tools = [make(1)]\n__all__ = ['Kit']", []),
        ("tools = []\nothers = {}\nnested = [[], ()]", []),
        ("loop = [make(1)]\nloop.append(loop)\none = make(2)", ["add_2"]),
        ("many = [[0] * 10] * 10\nnames = ['a'] * 10\none = make(2)", ["add_2"]),
        ("tools = [Inferred, Declared]\none = make(2)", ["add_2"]),
        ("tools = [double]\none = make(2)", ["add_2"]),
    ],
)
def test_what_is_offered_once_is_offered_once(text: str, offered: list[str]) -> None:
    """Whether it stands under a name, in a toolkit, a registry or several lists; what is private stays so."""
    write("mine.py", HEAD + text + "\n")

    tools = discover(["mine.py"])

    assert names(tools) == offered
    assert Registry(tools).names == offered


def test_what_is_made_of_another_librarys_tool_counts_where_it_stands_in_a_list() -> None:
    """It has the options of the author."""
    write("mine.py", HEAD + "theirs = _wrapped\ntools = [tool(_wrapped, timeout=5)]\n")

    assert [(it.name, it.options.timeout) for it in discover(["mine.py"])] == [("_wrapped", 5.0)]


def test_a_registry_keeps_its_guardrails_over_a_list() -> None:
    """It is the registry's tool that is offered."""
    write("mine.py", HEAD + "tools = [make(1)]\nours = Registry(tools, callbacks=[Listener()])\n")

    assert [len(it.options.callbacks) for it in discover(["mine.py"])] == [1]


@pytest.mark.parametrize("places", [["one.py", "two.py"], ["two.py", "one.py"], ["two.py"]])
def test_a_list_of_another_module_counts_once(places: list[str]) -> None:
    """Imported as it is, or as a part of another."""
    write("one.py", HEAD + "tools = [make(1), make(2)]\n")
    write("two.py", "from one import tools\n\nmore = [*tools]\n")

    assert names(discover(places)) == ["add_1", "add_2"]


@pytest.mark.parametrize(
    "text",
    [
        "tools = [make(1), make(1)]",
        "first = tool('same')(double)\ntools = [tool('same')(lambda n: n)]",
        "some = [tool('same')(double)]\nothers = [tool('same', description='Other.')(lambda n: n)]",
    ],
    ids=["in one list", "beside a name", "in two lists"],
)
def test_two_tools_of_one_name_stop_the_start(text: str) -> None:
    """As where both have names of their own."""
    write("mine.py", HEAD + text + "\n")

    with pytest.raises(ToolAlreadyRegistered):
        Registry(discover(["mine.py"]))


@pytest.mark.parametrize("text", ["tools = [{}]", "tools = {{'a': {}}}", "_tools = [[{}]]\nown = make(1)"])
def test_a_tool_in_a_list_is_found_by_its_process(text: str) -> None:
    """A private one too, which another module may offer."""
    made = "tool(executor='process')(double)"
    write("mine.py", HEAD + text.format(made) + "\n")
    write("other.py", "import mine\n\nthere = [*getattr(mine, 'tools', None) or mine._tools[0]]\n")
    write("third.py", "import mine\n\nthere = getattr(mine, 'tools', None) or mine._tools[0]\n")

    (found,) = (it for it in discover(["third.py"]) if it.name == "double")

    assert Finder(tools_of).find(home_of(found)).name == "double"


PLAIN = "which are not offered (double): write @tool over them"


@pytest.mark.parametrize(
    ("text", "offered", "told"),
    [
        ("tools = [double]", [], [f"tools holds plain functions, {PLAIN}"]),
        ("MY_TOOLS = {'double': double}\none = make(1)", ["add_1"], [f"MY_TOOLS holds plain functions, {PLAIN}"]),
        ("tools = (double,)\ndouble_tool = tool(double)", ["double"], []),
        ("hooks = [double]\none = make(1)", ["add_1"], []),
        (
            "def get_tools():\n    return [make(1)]",
            [],
            ["get_tools is not called, and offers nothing; write tools = get_tools(...)"],
        ),
        (
            "def build_search_tools(key):\n    return [make(1)]",
            [],
            ["build_search_tools is not called, and offers nothing; write tools = build_search_tools(...)"],
        ),
        ("def get_tools():\n    return [make(1)]\n\n\ntools = get_tools()", ["add_1"], []),
        ("def get_tools():\n    return [one]\n\n\none = make(1)", ["add_1"], []),
    ],
)
def test_what_is_meant_for_tools_and_holds_none_is_named(text: str, offered: list[str], told: list[str]) -> None:
    """A list of functions as agents take them, and a function that nobody calls."""
    write("mine.py", HEAD + text + "\n")
    heard: list[str] = []

    assert names(discover(["mine.py"], tell=lambda it: heard.append(it.text))) == offered
    assert [it for it in heard if "make an instance" not in it] == told
