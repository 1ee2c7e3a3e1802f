"""What stands at a path can be found and left out."""

from typing import Any

import pytest

from sidecall.kernel.schema.whole_numbers import drop_member, reduce_to_data


@pytest.mark.parametrize(
    ("loc", "path"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "int"), ("a",)),  # the member of a union that was tried
        (("pet", "cat", "lives"), ("pet", "lives")),  # the tag of a discriminated one
        (("list", 1, "x"), ("list", 1, "x")),
        (("list", 7), ("list",)),
    ],
)
def test_locations_are_reduced_to_paths_in_the_data(loc: tuple[str | int, ...], path: tuple[str | int, ...]) -> None:
    """Pydantic's have the names of union members in between."""
    data = {"a": {"b": 1}, "pet": {"lives": None}, "list": [0, {"x": None}]}

    assert reduce_to_data(data, loc) == path


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (("a",), {"l": [None, {"x": None}]}),
        (("l", 1, "x"), {"a": None, "l": [None, {}]}),
        (("l", 0), {"a": None, "l": [None, {"x": None}]}),  # an item of an array stays
        ((), {"a": None, "l": [None, {"x": None}]}),
    ],
)
def test_a_member_can_be_left_out(path: tuple[str | int, ...], left: Any) -> None:
    """Of a copy; the data stay as they are."""
    data = {"a": None, "l": [None, {"x": None}]}

    assert drop_member(data, path) == left
    assert data == {"a": None, "l": [None, {"x": None}]}
