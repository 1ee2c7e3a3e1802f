"""What a module seems to offer and does not is named with its line, and with what to write."""

from pathlib import Path

import pytest

from sidecall.loading.discovery import discover
from sidecall.loading.modules.loading import load_file
from sidecall.loading.skipped_tools import find_omissions
from tests.kit.projects import names, write

HEAD = '''import functools

from sidecall import BaseTool, BaseToolkit, Registry, tool


def make(i):
    @tool(f"add_{i}")
    def add(a: int) -> int:
        """Add."""
        return a + i

    return add


def log(function):
    @functools.wraps(function)
    def run(*args, **kwargs):
        return function(*args, **kwargs)

    return run


'''
WRAPPED = '''@log
@log
@tool
def shout(text: str) -> str:
    """Shout."""
    return text.upper()
'''
KIT = """class Kit(BaseToolkit):
    def get_tools(self):
        return [make(1)]


kit = Kit()
"""
REFUSING = """import enum
import typing

import typing_extensions


class State(typing.TypedDict):
    n: int


class Later(typing_extensions.TypedDict, total=False):
    n: int


class Shape(typing.Protocol):
    def draw(self): ...


class Refusing(type):
    def __instancecheck__(cls, it):
        raise RuntimeError("not asked")


class Odd(metaclass=Refusing):
    tools = ()


T = typing.TypeVar("T")
Id = typing.NewType("Id", int)
Alias = dict[str, int]
Color = enum.Enum("Color", "RED")
add = make(1)
"""
ALONE = "since it does not hold tools alone"
TAKE = "or give each tool a name of its own there"
_WAY = "write that decorator below @tool"

pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("text", "omissions"),
    [
        (
            "adders = [*(make(i) for i in range(5)), None]\n",
            [
                "mine.py:23: adders holds tools that are not offered (add_0, add_1, add_2, ...), "
                f"{ALONE}: take out what is none, of the class NoneType, {TAKE}"
            ],
        ),
        (
            "adders = (1, make(1))\n",
            [
                f"mine.py:23: adders holds tools that are not offered (add_1), {ALONE}: take out what is none, of the "
                f"class int, {TAKE}"
            ],
        ),
        (
            "by_name = {'x': [make(1)], 'y': 'z'}\n",
            [
                f"mine.py:23: by_name holds tools that are not offered (add_1), {ALONE}: take out what is none, of the "
                f"class str, {TAKE}"
            ],
        ),
        (
            "def plain():\n    pass\n\n\nadders = [plain, make(1)]\n",
            [
                f"mine.py:27: adders holds tools that are not offered (add_1), {ALONE}: "
                "decorate the function plain with @tool"
            ],
        ),
        (WRAPPED, [f"mine.py:26: shout is not offered: it is a function around the tool 'shout'; {_WAY}"]),
        (
            "if True:\n    one: list = [make(1), 2]\n",
            ["mine.py:24: one holds tools that are not offered (add_1), since"],
        ),
    ],
)
def test_what_is_not_offered_is_told(text: str, omissions: list[str]) -> None:
    """Nothing else would say so."""
    write("mine.py", HEAD + text)
    told: list[str] = []

    assert discover(["mine.py"], tell=lambda it: told.append(f"{it.place}: {it.text}")) == []
    assert [told_one[: len(expected)] for told_one, expected in zip(told, omissions, strict=True)] == omissions


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("one = make(1)\nadders = [one, 1]\n", ["add_1"]),
        ("adders = [make(1)]\nadders = Registry(adders)\n", ["add_1"]),
        ("adders = [make(1)]\nmine = Registry(adders)\n", ["add_1"]),
        ("adders = [make(1), None]\nmine = Registry(adders[:1])\n", ["add_1"]),
        (f"{KIT}adders = [*kit.get_tools(), None]\n", ["add_1"]),
        ("_adders = [make(1)]\n", []),
        ("numbers = [1, 2]\ntexts = {'a': 'b'}\nloud = log(print)\n", []),
        ("_inner = make(1)\n__all__ = ['_inner', 'outer']\nouter = log(_inner)\n", ["add_1"]),
    ],
    ids=[
        "by itself",
        "in its registry",
        "in a registry",
        "among others",
        "in a toolkit",
        "private",
        "others",
        "inside",
    ],
)
def test_what_is_offered_elsewhere_or_private_is_not_told(text: str, offered: list[str]) -> None:
    """Only what was forgotten is worth a line."""
    write("mine.py", HEAD + text)
    told: list[object] = []

    assert names(discover(["mine.py"], tell=told.append)) == offered
    assert told == []


def test_a_module_whose_source_is_gone_is_named_without_a_line(here: Path) -> None:
    """And one without a file by its name."""
    module = load_file(write("mine.py", f"{HEAD}adders = [make(1), 1]\n"))
    (here / "mine.py").unlink()

    assert [it.place for it in find_omissions(module)] == ["mine.py"]

    module.__file__ = None

    assert [it.place for it in find_omissions(module)] == [module.__name__]


def test_classes_that_refuse_to_be_asked_for_their_objects_are_passed_over(tmp_path: Path) -> None:
    """A state or a protocol beside a tool has nothing to do with what is offered."""
    (tmp_path / "mine.py").write_text(HEAD + REFUSING)

    assert names(discover([str(tmp_path / "mine.py")])) == ["add_1"]
    assert list(find_omissions(load_file(tmp_path / "mine.py"))) == []
