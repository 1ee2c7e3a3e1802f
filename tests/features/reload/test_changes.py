"""What a reload says was added, changed and removed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecall.features.reload.changes import Changes, compare, identify
from sidecall.kernel.core.tool import CompiledTool
from sidecall.loading.discovery import discover

BEFORE = '''
from sidecall import BaseTool, tool

RATE = 2


def helper(value):
    return value


@tool(tags=["math"], timeout=5)
def double(value: int, times: int = 1) -> int:
    """Double a number."""
    def inner(number):
        return number * 2
    return inner(value) * times


class Triple(BaseTool):
    """Triples."""

    name: str = "triple"
    description: str = "Triple a number."

    def _run(self, value: int) -> int:
        return value * 3


triple = Triple()
'''
Load = Callable[[str], dict[str, CompiledTool]]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a function that loads a text as a file of tools; each time as another module."""
    number = iter(range(10))

    def read(text: str) -> dict[str, CompiledTool]:
        folder = tmp_path / f"loaded{next(number)}"
        folder.mkdir()
        (folder / "mine.py").write_text(text)
        return {tool.name: tool for tool in discover([str(folder / "mine.py")])}

    return read


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("", "", []),
        ("\nRATE = 2", "# a remark\n\n\nRATE = 2", []),
        ("return number * 2", "return number + number", ["double"]),
        ("times: int = 1", "times: int = 2", ["double"]),
        ('"""Double a number."""', '"""Double one number."""', ["double"]),
        ("timeout=5", "timeout=6", ["double"]),
        ('tags=["math"]', 'tags=["math", "more"]', ["double"]),
        ("timeout=5", "timeout=5, requires_approval=True", ["double"]),
        ("return value * 3", "return value * 4", ["triple"]),
        ('"Triple a number."', '"Triple one number."', ["triple"]),
        ("@tool(", "@tool(executor='inline', ", ["double"]),
    ],
)
def test_a_tool_has_changed_if_it_says_or_does_something_else(
    load: Load, old: str, new: str, changed: list[str]
) -> None:
    """Not where only its place in the file is another."""
    before, after = load(BEFORE), load(BEFORE.replace(old, new, 1))

    said = [{name: identify(tool) for name, tool in tools.items()} for tools in (before, after)]
    differing = [name for name in said[0] if said[0][name] != said[1][name]]

    assert differing == changed


def test_names_are_told_in_their_order() -> None:
    """Of the new mapping where something has come, of the old one where something has gone."""
    assert compare({"a": 1, "b": 2, "c": 3}, {"d": 4, "b": 5, "a": 1}) == Changes(
        added=["d"], changed=["b"], removed=["c"]
    )
