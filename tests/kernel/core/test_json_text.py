"""JSON text from outside is parsed strictly, with a bound on everything."""

import json
import math
from typing import Any

import pytest
from pydantic_core import from_json

from sidecall.kernel.json_data.text import (
    LARGE,
    MOST_VALUES,
    holds_more,
    is_finite,
    name_json_type,
    parse_json,
    quote_text,
)

_LONG = b" " * LARGE


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, -2.5, true, null, "\\u00fc"]}', {"a": [1, -2.5, True, None, "ü"]}),
        (b"1e308", 1e308),  # large, and still a number
        (b"1E-400", 0.0),  # too small is zero, not infinity
        (b'"1e999"', "1e999"),  # looks like a number, is a text
        (b'{"a": 1, "a": 2}', {"a": 2}),  # the last one counts
        (b"9" * 400, int("9" * 400)),  # an integer has no largest value
        (b"-0", 0),
        (b"-0.0", -0.0),
        (b"9007199254740993.0", 9007199254740992.0),
        (b'"\\u0000\x7f\\/\\ud83d\\ude00"', "\0\x7f/\U0001f600"),
        (b" \n[] ", []),
    ],
)
def test_json_is_read(text: bytes, value: Any) -> None:
    """As Python's own parser would; short texts by another parser than long ones."""
    assert [repr(parse_json(text)), repr(parse_json(text + _LONG))] == [repr(value)] * 2


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
        b"01",
        b"1.",
        b"+1",
        b"[1,]",
        b'"\x01"',
        b'"\xed\xa0\x80"',
        b'{"\\ud800": 1}',
    ],
)
def test_what_is_not_strictly_json_is_refused(text: bytes) -> None:
    """With a ValueError and nothing else, however long the text is."""
    for blanks in (b"", _LONG):
        with pytest.raises(ValueError):
            parse_json(text + blanks)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"[1,2,3,4]", 5),  # the array is one, too
        (b'{"a": 1, "b": {"c": 2}}', 4),  # a member is one value, whose name is none
        (b'[[], {}, [ ], {\n}, ""]', 6),  # nothing is inside these
        (b"[[[[[[1]]]]]]", 7),
        (b'["1,2,[3,{4", 5, "\\",", "\\\\", 6]', 6),  # what stands in a text does not count
        (b'[1, 2, "a, b, c, d, e, f', 4),  # nor in one that does not end
    ],
)
def test_values_are_counted(text: bytes, count: int) -> None:
    """At every depth, and before anything is parsed."""
    assert holds_more(text, count) is False
    assert holds_more(text, count - 1) is True


@pytest.mark.parametrize("form", ["[%s]", '{"a": {"b": [[%s]]}}', '{"a": 1, "b": "1", "c": [true, %s]}'])
@pytest.mark.parametrize(("digits", "count", "is_taken"), [(4000, 25, True), (4000, 26, False), (301, 400, False)])
def test_long_numbers_have_so_many_digits_together(form: str, digits: int, count: int, is_taken: bool) -> None:
    """Wherever they stand; they take long to read and to write."""
    text = (form % ",".join(["-" + "7" * digits] * count)).encode()

    if is_taken:
        assert parse_json(text)
    else:
        with pytest.raises(ValueError, match="numbers of more than 300 digits with more than 100,000 together"):
            parse_json(text)


@pytest.mark.parametrize("value", ["1" * 4_000_000, ["9" * 4000] * 100, [10**299] * 5000, list(range(40_000))])
def test_digits_of_texts_and_of_short_numbers_do_not_count(value: object) -> None:
    """There may be any number of them."""
    assert parse_json(json.dumps(value).encode()) == value


def test_a_text_may_hold_so_many_values() -> None:
    """And one more is refused."""
    at_most = b"[" + b"0," * (MOST_VALUES - 2) + b"0]"

    assert len(parse_json(at_most)) == 49_999
    with pytest.raises(ValueError, match=r"^more than 50,000 values$"):
        parse_json(b"[" + at_most + b",0" * 2 + b"]")
    assert len(parse_json(b"[" + b"0," * 60_000 + b"0]", most=None)) == 60_001


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
    assert name_json_type(value) == kind


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


@pytest.mark.parametrize("text", ["", "call_1", 'a "quote"', "a\\b", "ü", "\x7f", "\n", "/", "\ud800", "😀"])
def test_a_text_is_quoted_as_pythons_own_module_does(text: str) -> None:
    """What was hashed or kept once is found again."""
    assert quote_text(text) == json.dumps(text)
