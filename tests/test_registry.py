"""The registry holds tools in order, under names that are theirs alone."""

import pytest

from app import Registry, StructuredTool, tool
from app.core.errors import ToolAlreadyRegistered


def _named(name: str) -> StructuredTool:
    return tool(name, description="Do it.")(lambda: None)


def test_tools_stay_in_the_order_they_came() -> None:
    """Clients cache the list."""
    b, a = _named("b").compiled, _named("a").compiled
    registry = Registry([b, a])

    assert registry.names == ["b", "a"]
    assert list(registry) == [b, a]
    assert len(registry) == 2


def test_a_tool_is_found_by_its_exact_name() -> None:
    """Case counts."""
    search = _named("search").compiled
    registry = Registry([search])

    assert registry.get("search") is search
    assert registry.get("Search") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("serch_web", ["search_web", "search_files"]),
        ("search", ["search_web", "search_files"]),
        ("zzz", []),
        # bounded, since it comes from outside
        ("search_web" + "x" * 100_000, []),
    ],
)
def test_names_that_look_alike_are_found(name: str, expected: list[str]) -> None:
    """Best first."""
    registry = Registry(_named(known).compiled for known in ("search_files", "search_web", "sum"))

    assert registry.nearest(name) == expected


def test_no_more_than_three_names_are_offered() -> None:
    """A hint, not the list."""
    registry = Registry(_named(f"search_{letter}").compiled for letter in "abcdef")

    assert len(registry.nearest("search_")) == 3


def test_two_tools_of_one_name_are_refused_with_both_places() -> None:
    """The author sees where they are, and what to write instead."""
    with pytest.raises(ToolAlreadyRegistered) as caught:
        Registry([_named("same").compiled, _named("same").compiled])

    assert caught.value.message.startswith("Two tools are called 'same': tests/test_registry.py:")
    assert caught.value.message.endswith("Give one another name, for instance @tool('same_2').")


def test_the_same_tool_twice_is_one_tool() -> None:
    """A toolkit and a module may both offer it."""
    same = _named("same").compiled

    assert Registry([same, same]).names == ["same"]


def test_all_tools_are_replaced_at_once() -> None:
    """The version says that they were."""
    registry = Registry([_named("old").compiled])
    before = registry.version

    registry.replace([_named("new").compiled])

    assert registry.names == ["new"]
    assert registry.version == before + 1


def test_a_replacement_that_is_refused_changes_nothing() -> None:
    """A server that reloads keeps what it had."""
    registry = Registry([_named("old").compiled])
    before = registry.version

    with pytest.raises(ToolAlreadyRegistered):
        registry.replace([_named("same").compiled, _named("same").compiled])

    assert (registry.names, registry.version) == (["old"], before)


def test_tools_can_be_added_after_the_others() -> None:
    """As they are written, or compiled already."""
    registry = Registry([_named("first").compiled])

    registry.add(_named("second"), _named("third").compiled)

    assert registry.names == ["first", "second", "third"]


def test_an_addition_that_is_refused_changes_nothing() -> None:
    """Not even the tools beside the wrong one are added."""
    registry = Registry([_named("first")])

    with pytest.raises(ToolAlreadyRegistered):
        registry.add(_named("second"), _named("first"))

    assert registry.names == ["first"]
