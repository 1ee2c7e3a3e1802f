"""Tools are found by name: in modules, packages, files and folders."""

import sys
from pathlib import Path

import pytest

from sidecall.kernel.core.errors import DiscoveryError, InvalidToolOption
from sidecall.loading.discovery import discover, watched_folders
from tests.kit.projects import KIT, names, tool_file, write

pytestmark = pytest.mark.usefixtures("here")


def test_a_file_is_a_place() -> None:
    """In the order of the file."""
    write("my_tools.py", tool_file("second", "first"))

    assert names(discover(["my_tools.py"])) == ["second", "first"]


def test_a_folder_is_a_place() -> None:
    """Its modules and packages are loaded by name; what is private, a test or no Python is left alone."""
    write("box/b.py", tool_file("of_b"))
    write("box/a.py", tool_file("of_a"))
    write("box/pkg/__init__.py", tool_file("of_pkg"))
    write("box/pkg/inner.py", tool_file("of_inner"))
    write("box/plain/c.py", tool_file("of_plain"))
    write("box/_private.py", "raise RuntimeError")
    write("box/test_a.py", "raise RuntimeError")
    write("box/conftest.py", "raise RuntimeError")
    write("box/tests/__init__.py", "raise RuntimeError")
    write("box/notes.txt", "no Python")

    assert names(discover(["box"])) == ["of_a", "of_b", "of_pkg"]


def test_a_folder_that_is_a_package_offers_its_own_tools_too() -> None:
    """What its `__init__.py` holds comes first."""
    write("box/__init__.py", tool_file("of_box"))
    write("box/a.py", tool_file("of_a"))

    assert names(discover(["./box"])) == ["of_box", "of_a"]


def test_a_module_is_a_place() -> None:
    """By its dotted name, from the working directory or the path of imports."""
    write("acme/__init__.py", "")
    write("acme/deep.py", tool_file("of_deep"))

    assert names(discover(["acme.deep"])) == ["of_deep"]


def test_a_package_is_a_place() -> None:
    """With the public modules directly in it."""
    write("lib/acme/__init__.py", tool_file("of_acme"))
    write("lib/acme/b.py", tool_file("of_b"))
    write("lib/acme/_c.py", "raise RuntimeError")
    sys.path.append(str(Path("lib").resolve()))

    assert names(discover(["acme"])) == ["of_acme", "of_b"]


def test_places_are_loaded_in_order() -> None:
    """So that the listing is the operator's."""
    write("b.py", tool_file("of_b"))
    write("a.py", tool_file("of_a"))

    assert names(discover(["b.py", "a"])) == ["of_b", "of_a"]


def test_a_tool_seen_twice_counts_once() -> None:
    """By another name, in another module, in another place."""
    write("box/a.py", tool_file("shared"))
    write("box/b.py", "from a import shared\n\nagain = shared\n")

    assert names(discover(["box", "box/a.py", "box/b.py"])) == ["shared"]


def test_two_tools_of_one_name_are_both_found() -> None:
    """The registry refuses them, since it can name both."""
    write("a.py", tool_file("same"))
    write("b.py", tool_file("same"))

    assert names(discover(["a.py", "b.py"])) == ["same", "same"]


def test_names_with_an_underscore_are_private() -> None:
    """They may be parts of other tools."""
    write("a.py", tool_file("_hidden", "shown"))

    assert names(discover(["a.py"])) == ["shown"]


def test_all_says_what_is_offered() -> None:
    """In its order, names with an underscore too; what it names but does not exist is passed over."""
    write("a.py", tool_file("one", "_two", "three") + '\n__all__ = ["_two", "one", "missing"]\n')

    assert names(discover(["a.py"])) == ["_two", "one"]


def test_a_toolkit_offers_its_tools() -> None:
    """An instance in the module is enough."""
    write("kits.py", KIT)

    assert names(discover(["kits.py"])) == ["left", "right"]


@pytest.mark.parametrize("places", [["box"], ["./box"], ["box.kits", "./box/kits.py"]], ids=["name", "path", "both"])
def test_a_toolkit_seen_twice_counts_once(places: list[str]) -> None:
    """Though it makes its tools anew whenever it is asked."""
    write("box/__init__.py", "from box.kits import kit\n")
    write("box/kits.py", KIT)

    assert names(discover(places)) == ["left", "right"]


def test_a_toolkit_that_fails_is_named() -> None:
    """The operator sees the place and the reason instead of a traceback."""
    write("kits.py", KIT.replace('"""Make them anew."""', 'raise KeyError("API_KEY")'))

    with pytest.raises(DiscoveryError, match=r"kits\.py.*KeyError: 'API_KEY'"):
        discover(["kits.py"])


def test_a_toolkit_with_a_wrong_tool_says_why() -> None:
    """The error of the tool says more than that of the toolkit could."""
    write("kits.py", KIT.replace("@tool\n        def left", "@tool(tiemout=3)\n        def left"))

    with pytest.raises(InvalidToolOption, match="tool 'left': there is no option `tiemout`"):
        discover(["kits.py"])


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        ("[left, print]", "builtin_function_or_method; decorate it with @tool"),
        ("[None, left, 'right']", "NoneType; decorate it with @tool"),
        ("(left, [right])", "list; decorate it with @tool"),
        ("[left, Function()]", "Function, since it is a tool of phidata, which is not taken over; offer tool("),
    ],
)
@pytest.mark.parametrize("given", ["", "\ntools = [kit]", "\n_kit, kit = kit, None\ntools = {'a': [_kit]}"])
def test_a_toolkit_that_returns_something_else_among_tools_offers_its_tools(
    returned: str, named: str, given: str
) -> None:
    """What it returns besides is a warning, once, wherever the toolkit stands."""
    of_agno = "class Function:\n    name = 'find'\n\n\nFunction.__module__ = 'phi.tools.function'\n\n\n"
    text = KIT.replace("class Kit", f"{of_agno}class Kit", 1)
    write("kits.py", text.replace("return [left, right]", f"return {returned}") + given)
    told: list[str] = []

    found = discover(["kits.py"], tell=lambda it: told.append(it.text))

    assert names(found) == ["left"]
    (said,) = told
    assert said.startswith(f"toolkit Kit offers only its tools: it has to return tools, not {named}")


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        ("[print]", "builtin_function_or_method; decorate it with @tool"),
        ("[]", "an empty list"),
        ("None", "NoneType; decorate it with @tool"),
        ("'left'", "str; decorate it with @tool"),
        ("({'name': 'left'} for _ in range(2))", "dict; decorate it with @tool"),
    ],
)
@pytest.mark.parametrize("library", ["sidecall", "langchain_core.tools"])
def test_a_toolkit_without_tools_is_warned_of(returned: str, named: str, library: str) -> None:
    """It keeps no others from being offered."""
    text = KIT.replace("BaseTool, BaseToolkit, tool", "BaseTool, tool\nfrom LIBRARY import BaseToolkit")
    written = text.replace("LIBRARY", library).replace("return [left, right]", f"return {returned}")
    write("kits.py", f"{written}\n\nextra = tool(len, description='Count.')\n")
    told: list[str] = []

    found = discover(["kits.py"], tell=lambda it: told.append(f"{it.place}: {it.text}"))

    assert names(found) == ["len"]
    assert [it.partition(": ")[2] for it in told] == [
        f"toolkit Kit offers nothing: it has to return tools, not {named}"
    ]


UNKNOWN = KIT.replace("(BaseToolkit)", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            UNKNOWN,
            "kit is not offered: its get_tools() is not called, since Kit is no BaseToolkit of sidecall or LangChain;"
            " make it one, or write tools = kit.get_tools()",
        ),
        (
            UNKNOWN.replace("def get_tools", "async def get_tools"),
            "kit, of the class Kit, is not offered: nothing awaits its get_tools()",
        ),
    ],
)
def test_what_only_looks_like_a_toolkit_is_not_asked(text: str, said: str) -> None:
    """What a method of that name does is not known; it may reach out to other hosts."""
    write("kits.py", text.replace('"""Make them anew."""', 'raise SystemExit("asked")'))
    told: list[str] = []

    assert discover(["kits.py"], tell=lambda it: told.append(it.text)) == []
    assert told == [said]


CLASS = '''
from sidecall import BaseTool


class Greet(BaseTool):
    """Greet."""

    name: str = "greet"

    def _run(self) -> str:
        return "hello"
'''


def test_a_class_without_an_instance_is_warned_about(caplog: pytest.LogCaptureFixture, here: Path) -> None:
    """It is easily forgotten, and nothing else would say so."""
    write("a.py", CLASS)

    assert discover(["a.py"]) == []
    assert caplog.messages == [
        "no tools found in a.py; a tool is a module-level function with @tool",
        "a.py:5: class Greet is not offered; make an instance: tool = Greet()",
    ]


def test_it_is_warned_of_once_where_tools_run_in_processes(caplog: pytest.LogCaptureFixture) -> None:
    """Their place is looked up in the same module."""
    write("a.py", CLASS.replace("import BaseTool", "import BaseTool, tool") + PROCESS)

    assert [tool.name for tool in discover(["a.py"])] == ["work"]
    assert caplog.messages == ["a.py:5: class Greet is not offered; make an instance: tool = Greet()"]


PROCESS = '''

@tool(executor="process")
def work() -> str:
    """Work."""
    return ""
'''


@pytest.mark.parametrize(
    ("rest", "offered"),
    [
        ("\ngreet = Greet()\n", ["greet"]),
        ("\n\nclass Polite(Greet):\n    ...\n\n\npolite = Polite()\n", ["greet"]),  # a base class
        ("\n__all__ = []\n", []),  # private
    ],
    ids=["instance", "base", "private"],
)
def test_a_class_that_serves_another_purpose_is_not_warned_about(
    caplog: pytest.LogCaptureFixture, rest: str, offered: list[str]
) -> None:
    """Only what was forgotten is worth a line."""
    write("a.py", CLASS + rest)

    assert names(discover(["a.py"])) == offered
    assert "is not offered" not in caplog.text


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("./nowhere.py", "There is no file or folder './nowhere.py' (looked in {here})."),
        ("nowhere.py", "There is no file or folder 'nowhere.py' (looked in {here})."),
        ("some/where", "There is no file or folder 'some/where' (looked in {here})."),
        (
            "nowhere",
            "There is no module, file or folder 'nowhere'. Give a path such as ./my_tools.py, or install it.",
        ),
        (
            "acme.nowhere",
            "There is no module, file or folder 'acme.nowhere'. Give a path such as ./my_tools.py, or install it.",
        ),
    ],
)
def test_a_place_that_is_not_there_is_named(here: Path, place: str, complaint: str) -> None:
    """With where it was looked for, or what may have been meant."""
    write("acme/__init__.py", "")

    with pytest.raises(DiscoveryError) as caught:
        discover([place])

    assert caught.value.message == complaint.format(here=here)


def test_a_place_without_tools_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    """A forgotten decorator is the usual reason."""
    write("a.py", "def add(a: int) -> int:\n    return a\n")

    assert discover(["a.py"]) == []
    assert caplog.messages == ["no tools found in a.py; a tool is a module-level function with @tool"]


def test_watched_are_the_folders_that_decide() -> None:
    """A folder itself, the folder of a file, the folders of a package's modules; each once."""
    write("box/a.py", tool_file("of_a"))
    write("other/b.py", tool_file("of_b"))
    write("acme/__init__.py", "")
    write("acme/c.py", tool_file("of_c"))

    folders = watched_folders(["box", "box/a.py", "other/b.py", "acme.c"])

    assert folders == [Path("box").resolve(), Path("other").resolve(), Path("acme").resolve()]


def test_the_folder_of_a_namespace_package_is_watched() -> None:
    """It has no file of its own, its modules have."""
    write("lib/space/c.py", tool_file("of_c"))
    sys.path.append(str(Path("lib").resolve()))

    assert watched_folders(["space"]) == [Path("lib/space").resolve()]
