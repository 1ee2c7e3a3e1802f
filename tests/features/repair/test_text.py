"""The JSON text of arguments is read however a model writes it, and never guessed."""

from functools import partial
from typing import Any

import pytest

from sidecall.features.repair.text import parse_arguments, read_container
from tests.kit.costs.steps import count_steps

FENCED = "arguments: taken out of a Markdown fence"
TWICE = "arguments: JSON text inside JSON text"
RELAXED = "arguments: read as JSON, though not written strictly"


@pytest.mark.parametrize(
    ("text", "value", "repaired"),
    [
        ('{"a": 1}', {"a": 1}, []),
        ('```json\n{"a": 1}\n```', {"a": 1}, [FENCED]),
        ('  ```\n{"a": 1}```\n', {"a": 1}, [FENCED]),
        ('```{"a": 1}```', {"a": 1}, [FENCED]),
        ('```json {"a": 1} ```', {"a": 1}, [FENCED]),
        ('"{\\"a\\": 1}"', {"a": 1}, [TWICE]),
        ('```\n"{\\"a\\": 1}"\n```', {"a": 1}, [FENCED, TWICE]),
        ('"\\"{\\\\\\"a\\\\\\": 1}\\""', '"{\\"a\\": 1}"', []),  # a text of a text of an object
        ("{'a': 'it\\'s', 'b': [True, None,],}", {"a": "it's", "b": [True, None]}, [RELAXED]),
        ("{a: 'say \"x\"'}", {"a": 'say "x"'}, [RELAXED]),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, [RELAXED]),
        ('{"a": "None, True,}"}', {"a": "None, True,}"}, []),
        ("{'a': 'None, True,}'}", {"a": "None, True,}"}, [RELAXED]),
        ('"plain"', "plain", []),  # a text that is no object stays one
        ('"{broken"', "{broken", []),
        ("[1]", [1], []),
        ("{,}", {}, [RELAXED]),
        (
            "{'a': [{}, [], -1.5, 'b', {c: null,},], \"d\": {},}",
            {"a": [{}, [], -1.5, "b", {"c": None}], "d": {}},
            [RELAXED],
        ),
    ],
)
def test_the_text_of_arguments_is_parsed(text: str, value: Any, repaired: list[str]) -> None:
    """Out of a fence, a second encoding or Python's spelling if need be, and that is noted."""
    noted: list[str] = []

    assert parse_arguments(text, noted)[0] == value
    assert noted == repaired


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + "\n" * 1_000_000,
        "```\n" + " " * 1_000_000,
        "```json" * 200_000,
        "{'a': " * 700_000,
        "'" * 4_000_000,
        "{" + "\\'" * 50_000,
        "[" * 99_000,
        "{'" + " " * 99_000,
        "," * 99_000 + "]",
        "a" * 99_000 + " " * 900,
    ],
)
def test_large_texts_are_parsed_at_once(text: str) -> None:
    """No text makes us look at a letter more than a few times."""
    with pytest.raises(ValueError):
        parse_arguments(text, [])


@pytest.mark.parametrize(
    "piece", [",", "[", "}{", "{", "{text:", "{'text': [", "{'a': ", '{"a": 1, ', "a: ", "1 ", "'a' ", '""', ",]", "[]"]
)
def test_a_text_that_is_no_value_is_given_up_early(piece: str) -> None:
    """At its first wrong token, or the one that is too deep, no matter what it ends with."""
    for text in (f"{{{piece * 10_000}}}", f"[{piece * 10_000}]"):
        steps, read = count_steps(partial(read_container, text))

        assert read is text
        assert steps < 12_000


def test_a_value_that_is_deep_is_read_all_the_same() -> None:
    """As deep as the parser goes."""
    value, _ = parse_arguments("[" * 199 + "True" + "]" * 199, [])

    assert str(value) == "[" * 199 + "True" + "]" * 199


def test_a_text_that_was_cut_off_is_given_up_at_once() -> None:
    """It ends with no bracket like that with which it begins."""
    text = "{'a': [" + "True, " * 5000
    steps, read = count_steps(partial(read_container, text))

    assert read is text
    assert steps < 500


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "```json\n{\n```",
        "```json {} ``` and more",
        "{'a': 1",
        "{'a': [1, 2",
        "{'a': 'tex",
        '{"a": "it\'s" "b"}',
        "{'a': 'it's'}",
        "{'a': 1}{'b': 2}",
        "{'a': NaN}",
        "{'a': 1e999}",
        "{'a': __import__('os')}",
        "{'a': 1 + 1}",
        "{'a': undefined}",
    ],
)
def test_what_is_not_json_even_so_is_refused(text: str) -> None:
    """What was cut off is never completed, and nothing is evaluated."""
    with pytest.raises(ValueError):
        parse_arguments(text, [])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"b": 1}', {"b": 1}),
        (" [1]", [1]),
        ("{'b': None}", {"b": None}),
        ("text", "text"),
        ("[broken", "[broken"),
        ("3", "3"),
        (1, 1),
    ],
)
def test_an_object_or_an_array_is_read_out_of_a_text(text: Any, value: Any) -> None:
    """Anything else stays what it is."""
    assert read_container(text) == value
