"""Arguments that a model wrote as text become an object, or the model is told why not."""

from typing import Any

import pytest

from sidecall import tool
from tests.kit.calls import run

CUT_OFF = "the text ends before the JSON does, as if it was cut off"
CANARY = "canary-4711"


@tool
async def echo(a: Any = "default") -> Any:
    """Echo."""
    return a


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ({"a": "x"}, "x"),
        ({}, "default"),
        ('{"a": "x"}', "x"),
        (' \n{"a": {"b": [1, 2.5, true, null]}} ', '{"b": [1, 2.5, true, null]}'),
        # models that call a tool without parameters write these
        ("", "default"),
        (" \n", "default"),
        ("null", "default"),
        ("{}", "default"),
        # big, but a number
        ('{"a": 1e300}', "1e+300"),
        ('{"a": {"b": [1e300, "1e999", null]}}', '{"b": [1e+300, "1e999", null]}'),
        ('{"a": 123456789012345678901234567890}', "123456789012345678901234567890"),
    ],
)
async def test_arguments_are_an_object_or_the_text_of_one(args: Any, expected: str) -> None:
    """Empty text and null are a call without arguments."""
    assert (await run(echo, args)).content == expected


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        ("[1]", "an array"),
        ('"x"', "a string"),
        ("1", "a number"),
        ("1.5", "a number"),
        ("true", "a boolean"),
    ],
)
async def test_any_other_json_is_refused_by_kind(args: str, kind: str) -> None:
    """In the words of JSON, with an example of what to send."""
    message = await run(echo, args)

    assert message.content == f"The arguments must be one JSON object, not {kind}: {{a?}}."
    assert message.response_metadata["error"]["kind"] == "malformed_arguments"
    assert message.response_metadata["error"]["retryable"] is True


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ('{"a":', CUT_OFF),
        (f'{{"a": "{CANARY}', CUT_OFF),
        ("{'a': 1", "key must be a string at line 1 column 2"),
        ('{"a": 1}{}', "trailing characters at line 1 column 9"),
        ('{"a": NaN}', "expected value at line 1 column 7"),
        ('{"a": 1e999}', "number out of range"),
        ('{"a": ["x", 1, -1e999]}', "number out of range"),
        ('{"a": "\\ud800"}', "unexpected end of hex escape at line 1 column 14"),
        ('{"a": ' + "[" * 300, "recursion limit exceeded at line 1 column 207"),
    ],
)
async def test_broken_json_is_refused_with_its_place(args: str, reason: str) -> None:
    """And without repeating it."""
    message = await run(echo, args)

    assert message.content == f"The arguments are not valid JSON: {reason}. Send one JSON object: {{a?}}."
    assert message.status == "error"
    assert CANARY not in message.model_dump_json()
