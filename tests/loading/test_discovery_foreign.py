"""Tools of LangChain and of the OpenAI Agents SDK are found where ours are."""

from pathlib import Path

import pytest

from sidecall.loading.discovery import discover
from tests.kit.projects import names

LANGCHAIN = '''
from langchain_core.tools import tool


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b
'''
AGENTS = """
from tests.compat.foreign.agents_sdk import FunctionTool

built = FunctionTool("built", "Built.", {"type": "object", "properties": {}}, lambda context, text: text)
"""
TOOLKIT = '''
from langchain_core.tools import BaseToolkit, tool as langchain_tool
from sidecall import tool


@langchain_tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
def ours() -> str:
    """Be ours."""
    return "ours"


class Kit(BaseToolkit):
    def get_tools(self):
        return [add, ours]


kit = Kit()
'''
METHODS = '''
from sidecall import BaseToolkit, tool


class Notes(BaseToolkit):
    """Tools that share a notebook."""

    @tool
    def write(self, text: str) -> str:
        """Write."""
        return text

    @tool
    def read(self) -> str:
        """Read."""
        return ""
'''


pytestmark = pytest.mark.usefixtures("here")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LANGCHAIN, ["add"], id="LangChain tool"),
        pytest.param(TOOLKIT, ["add", "ours"], id="LangChain toolkit"),
        pytest.param(AGENTS, ["built"], id="Agents SDK"),
        pytest.param(METHODS + "\n\nnotes = Notes()\n", ["write", "read"], id="methods"),
        pytest.param(METHODS + "\n\nread = Notes().read\n", ["read"], id="one method"),
    ],
)
def test_tools_that_are_there_already_are_offered(here: Path, text: str, expected: list[str]) -> None:
    """As they are, in the order of the file."""
    (here / "mine.py").write_text(text)

    assert names(discover(["mine.py"])) == expected


def test_a_tool_that_several_modules_import_is_offered_once(here: Path) -> None:
    """As with ours."""
    (here / "one.py").write_text(LANGCHAIN)
    (here / "two.py").write_text("from one import add\n")

    assert names(discover(["one.py", "two.py"])) == ["add"]


def test_a_toolkit_has_to_return_tools_of_some_kind(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A plain function is none."""
    (here / "mine.py").write_text(TOOLKIT.replace("[add, ours]", "[add, print]"))

    assert names(discover(["mine.py"])) == ["add", "ours"]
    assert "Kit offers only its tools: it has to return tools, not builtin_function_or_method" in caplog.text


def test_a_class_of_tools_without_an_instance_is_pointed_out(here: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It is easy to forget."""
    (here / "mine.py").write_text(METHODS)

    assert discover(["mine.py"]) == []
    assert "class Notes is not offered; make an instance: toolkit = Notes()" in caplog.text
