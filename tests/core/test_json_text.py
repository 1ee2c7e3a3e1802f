"""JSON text from outside is parsed strictly, with a bound on everything."""

import math
from typing import Any

import pytest
from pydantic_core import from_json

from app.core.json_text import is_finite, json_kind, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, -2.5, true, null, "\\u00fc"]}', {"a": [1, -2.5, True, None, "ü"]}),
        (b"1e308", 1e308),  # large, and still a number
        (b"1E-400", 0.0),  # too small is zero, not infinity
        (b'"1e999"', "1e999"),  # looks like a number, is a text
        (b'{"a": 1, "a": 2}', {"a": 2}),  # the last one counts
        (b"9" * 400, int("9" * 400)),  # an integer has no largest value
    ],
)
def test_json_is_read(text: bytes, value: Any) -> None:
    """As Python's own parser would."""
    assert parse_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b'{"a": Infinity}',
        b"[-Infinity]",
        b"1e309",  # rounds to infinity
        b'{"a": [{"b": -1e999}]}',
        b"9" * 400 + b".0",
        b"9" * 5000,
        b"[" * 250 + b"]" * 250,
        b"[" * 100_000,
        b'"\xff"',
        b'"\\ud800"',
        b"\xef\xbb\xbf{}",  # a byte order mark
        "{}".encode("utf-16"),
        b"{} {}",
    ],
)
def test_what_is_not_strictly_json_is_refused(text: bytes) -> None:
    """With a ValueError and nothing else."""
    with pytest.raises(ValueError):
        parse_json(text)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "an object"),
        ([], "an array"),
        ("", "a string"),
        (True, "a boolean"),
        (None, "null"),
        (1, "a number"),
        (1.5, "a number"),
    ],
)
def test_kinds_are_named_as_json_names_them(value: Any, kind: str) -> None:
    """Not as Python does."""
    assert json_kind(value) == kind


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        1e308,
        -1,
        9**400,  # larger than any float
        "NaN",  # looks like it, is a text
        None,
        True,
        [],
        {},
        [1.5, [2.5, {"a": [3.5]}], "x"],
        {"a": {"b": [None, 1.5]}, "c": "inf"},
    ],
)
def test_values_of_json_are_finite(value: Any) -> None:
    """All the way down."""
    assert is_finite(value) is True


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        [math.nan],
        {"a": math.inf},
        [1.5, [2.5, [-math.inf]]],
        [{}, {"a": 1}, {"a": [], "b": {"c": math.nan}}],
        {"a": 1.5, "b": [1, "x", {"c": [math.inf]}]},
    ],
)
def test_values_that_json_lacks_are_not(value: Any) -> None:
    """Wherever they hide."""
    assert is_finite(value) is False


def test_deep_values_are_looked_through() -> None:
    """As deep as parsed JSON can be."""
    text = b"[" * 199 + b"%b" + b"]" * 199

    assert is_finite(parse_json(text % b"1.5")) is True
    assert is_finite(from_json(text % b"NaN")) is False
