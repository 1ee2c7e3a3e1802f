"""References inside a document lead to what they name, or nowhere."""

from typing import Any

import pytest

from sidecall.kernel.json_data.pointer import follow, format_path, split_reference

DOCUMENT: dict[str, Any] = {
    "$defs": {"A": 1, "a/b": 2, "m~n": 3, "c%d": 4, "ä": 5, "": 6, "~1": 7},
    "anyOf": [{"const": 8}, True],
    "definitions": {"B": {"properties": {"x": 9}}},
}


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("#", DOCUMENT),
        ("#/$defs/A", 1),
        ("#/%24defs/A", 1),  # percent-encoded
        ("#/$defs/a~1b", 2),  # a slash in a name
        ("#/$defs/m~0n", 3),  # a tilde
        ("#/$defs/c%25d", 4),
        ("#/$defs/%C3%A4", 5),
        ("#/$defs/", 6),  # the empty name
        ("#/$defs/~01", 7),  # a tilde, then a one
        ("#/anyOf/0/const", 8),  # into an array
        ("#/anyOf/1", True),
        ("#/definitions/B/properties/x", 9),
        ("#/anyOf/2", None),
        ("#/anyOf/-1", None),
        ("#/anyOf/x", None),
        ("#/$defs/Gone", None),
        ("#/$defs/A/deeper", None),
        ("#A", None),  # an anchor
        ("other.json#/$defs/A", None),
        ("/$defs/A", None),
    ],
)
def test_a_reference_is_followed_step_by_step(reference: str, found: Any) -> None:
    """As RFC 6901 says of JSON pointers in URI fragments."""
    assert follow(reference, DOCUMENT) == found


@pytest.mark.parametrize(("reference", "steps"), [("#", []), ("#/a/b~1c", ["a", "b/c"]), ("x", None), ("#x", None)])
def test_a_reference_is_split_into_its_steps(reference: str, steps: list[str] | None) -> None:
    """One that leads out of the document has none."""
    assert split_reference(reference) == steps


@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        # nothing: the arguments as a whole
        ((), "arguments"),
        (("a",), "a"),
        (("a", "b"), "a.b"),
        (("a", 0, 1, "b"), "a[0][1].b"),
        # a list at the root
        ((2, "b"), "[2].b"),
    ],
)
def test_a_path_is_written_as_in_python(loc: tuple[str | int, ...], expected: str) -> None:
    """Names are joined by dots, indexes stand in brackets."""
    assert format_path(loc) == expected
