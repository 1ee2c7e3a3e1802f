"""What tests import from `sidecall.testing`, at run time and for type checkers."""

import ast
from pathlib import Path

from sidecall import testing


def test_type_checkers_are_told_the_same() -> None:
    """Each name, and where it is defined."""
    tree = ast.parse(Path(testing.__file__).with_suffix(".pyi").read_text())
    imported = {it.name: node.module for node in tree.body if isinstance(node, ast.ImportFrom) for it in node.names}
    [listed] = [node.value for node in tree.body if isinstance(node, ast.Assign)]

    assert imported == testing._HOMES
    assert ast.literal_eval(listed) == testing.__all__


def test_each_name_is_there() -> None:
    """And is found by those who look around."""
    assert [getattr(testing, name).__name__ for name in testing.__all__] == testing.__all__
    assert set(testing.__all__) <= set(dir(testing))
    assert not hasattr(testing, "ToolTestr")


def test_no_name_is_that_of_a_module() -> None:
    """To import the module would put it in the place of the name."""
    modules = {file.stem for file in Path(testing.__file__).parent.glob("*.py")}

    assert modules.isdisjoint(testing.__all__)
