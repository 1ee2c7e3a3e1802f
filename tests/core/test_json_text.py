"""JSON text from outside is parsed strictly, with a bound on everything."""

from typing import Any

import pytest

from app.core.json_text import json_kind, parse_json


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
