"""Files with tools below a folder of tools are named, since nothing else would say that they are not served."""

from pathlib import Path

import pytest

from sidecall.cli.check import find_unread
from sidecall.kernel.core.tool import Finding
from sidecall.loading.discovery import discover
from tests.kit.projects import tool_file, write

TEXT = "is not looked at: of a folder, the files directly in it are. Name its folder, too: --tools "

pytestmark = pytest.mark.usefixtures("here")


def test_tools_in_a_folder_of_a_folder_are_warned_of(here: Path) -> None:
    """At some depth, private files, tests and what is installed aside."""
    write("box/one.py", tool_file("one"))
    for path in ("sub/deep.py", "sub/more/deeper.py", "sub/_private.py", "_own/two.py", ".venv/three.py", "tests/t.py"):
        write(f"box/{path}", tool_file("deep"))
    write("box/sub/plain.py", "print\n")
    write("box/env/pyvenv.cfg", "")
    write("box/env/four.py", tool_file("four"))
    write("box/sub/bad.py", "").write_bytes(b"\xff")
    discover(["box"])

    assert find_unread(["box", "box/one.py"]) == [
        Finding("box/sub/deep.py", "warning", f"{TEXT}box/sub"),
        Finding("box/sub/more/deeper.py", "warning", f"{TEXT}box/sub/more"),
    ]


@pytest.mark.parametrize(
    ("imports", "number"),
    [
        ("from langchain_core.tools import tool\n", 1),
        ("from agents import Agent, function_tool\n", 1),
        ("from sidecall import (\n    Registry,\n    tool,\n)\n", 1),
        ("import sidecall\n\n\n@sidecall.tool\ndef add():\n    ...\n", 1),
        ("from sidecall import Message\n# a tool\n", 0),
    ],
)
def test_tools_of_other_libraries_count(imports: str, number: int) -> None:
    """By what a file imports, since it is not run."""
    write("box/sub/deep.py", imports)

    assert len(find_unread(["box"])) == number


def test_what_was_loaded_is_looked_at() -> None:
    """By its package, or as a place of its own."""
    write("nest/sub/__init__.py", "from . import loaded\n")
    write("nest/sub/loaded.py", tool_file("one"))
    write("nest/other/named.py", tool_file("two"))
    discover(["nest", "nest/other"])

    assert find_unread(["nest", "nest/other"]) == []


def test_a_large_folder_is_not_read_to_its_end() -> None:
    """It may be a project's whole tree."""
    for number in range(501):
        write(f"box/sub/a{number}.txt", "")
    write("box/sub/deep.py", tool_file("one"))

    assert find_unread(["box"]) == []
