"""Texts are changed where they say something once, or below a line, and keep their endings."""

import pytest

from sidecall.features.file_tools.editing.reading import (
    Edited,
    insert_lines,
    locate_lines,
    replace_every,
    replace_once,
)
from sidecall.kernel.core.errors import ToolException


@pytest.mark.parametrize(
    ("text", "old", "new", "edited"),
    [
        ("a\nb\nc\n", "b", "B", Edited("a\nB\nc\n", 1, 1)),
        ("a\nb\nc\n", "b\n", "", Edited("a\nc\n", 1, 1)),
        ("a\nb\nc\n", "b", "x\ny", Edited("a\nx\ny\nc\n", 1, 2)),
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", Edited("x\r\ny\r\nc\r\n", 0, 1)),
        ("a\r\nb\r\n", "b", "x\ny", Edited("a\r\nx\r\ny\r\n", 1, 2)),
        ("a\r\nb\n", "a\r\nb", "x", Edited("x\n", 0, 0)),
        ("a\r\nb\nc\n", "b\nc", "x\ny", Edited("a\r\nx\ny\n", 1, 2)),
    ],
)
def test_one_place_is_replaced(text: str, old: str, new: str, edited: Edited) -> None:
    """Models do not see how lines end."""
    assert replace_once(text, old, new) == edited


@pytest.mark.parametrize(("text", "old"), [("a", "b"), ("aa", "a"), ("aaa", "aa"), ("a", "")])
def test_none_and_several_are_not(text: str, old: str) -> None:
    """Also where they overlap."""
    with pytest.raises(ValueError):
        replace_once(text, old, "c")


def test_places_are_named_by_their_lines() -> None:
    """The first of them."""
    assert locate_lines("aaa\nb\na\n", "a") == [1, 1, 1, 3]
    assert locate_lines("a" * 30, "a") == [1] * 20
    assert locate_lines("b", "a") == []


@pytest.mark.parametrize(
    ("text", "line", "inserted", "edited"),
    [
        ("a\nb\n", 0, "x", Edited("x\na\nb\n", 0, 0)),
        ("a\nb\n", 1, "x\ny\n", Edited("a\nx\ny\nb\n", 1, 2)),
        ("a\nb\n", 2, "x", Edited("a\nb\nx\n", 2, 2)),
        ("a\nb", 2, "x", Edited("a\nb\nx", 2, 2)),
        ("a\nb", 1, "x", Edited("a\nx\nb", 1, 1)),
        ("a\r\nb\r\n", 1, "x\ny", Edited("a\r\nx\r\ny\r\nb\r\n", 1, 2)),
        ("a\r\nb", 2, "x", Edited("a\r\nb\r\nx", 2, 2)),
        ("", 0, "x", Edited("x\n", 0, 0)),
        ("a\n", 1, "x\n\n", Edited("a\nx\n\n", 1, 2)),
    ],
)
def test_lines_are_inserted(text: str, line: int, inserted: str, edited: Edited) -> None:
    """With the endings of the text."""
    assert insert_lines(text, line, inserted) == edited


@pytest.mark.parametrize(("text", "line"), [("a\nb\n", 3), ("a\nb\n", -1), ("", 1)])
def test_there_has_to_be_such_a_line(text: str, line: int) -> None:
    """Or 0."""
    with pytest.raises(ToolException, match=r"It should be within the range of lines of the file: \[0, [02]\]\."):
        insert_lines(text, line, "x")


@pytest.mark.parametrize(
    ("old", "new", "only_one", "expected"),
    [
        ("two", "2", True, ("one\r\n2\r\none\r\n", 1)),
        ("one", "1", False, ("1\r\ntwo\r\n1\r\n", 2)),
        ("one\ntwo\n", "x\n", True, ("x\r\none\r\n", 1)),
        ("one", "1", True, "edit: old_string appears at lines 1, 3 in f (must be unique)"),
        ("three", "3", True, "edit: old_string not found in f"),
        ("three", "3", False, "edit: old_string not found in f"),
        ("one", "one", False, "edit: `old_string` and `new_string` are the same, so there is nothing to replace"),
        ("", "x", False, "edit: `old_string` is empty, so there is nothing to replace"),
    ],
)
def test_every_place_may_be_replaced(old: str, new: str, only_one: bool, expected: tuple[str, int] | str) -> None:
    """Or the only one."""
    text = "one\r\ntwo\r\none\r\n"
    try:
        outcome: tuple[str, int] | str = replace_every(text, "f", old, new, only_one=only_one)
    except ToolException as error:
        outcome = error.message

    assert outcome == expected
