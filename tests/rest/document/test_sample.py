"""Examples of arguments are what the schema allows."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sidecall.rest.served_examples import make_sample


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "examples": ["Paris"]}, "Paris"),
        ({"type": "string", "minLength": 6, "maxLength": 8}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "date"}, "2026-03-14"),
        ({"enum": ["EUR", "USD"]}, "EUR"),
        ({"const": 7}, 7),
        ({"type": "integer", "default": 3}, 3),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "integer", "minimum": 10, "multipleOf": 10}, 10),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": ["integer", "null"]}, 1),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        (
            {"type": "object", "properties": {"a": {"type": "boolean"}, "b": {}}, "required": ["a"]},
            {"a": True},
        ),
        ({}, "text"),
    ],
)
def test_the_plainest_value_is_made(schema: dict[str, Any], expected: Any) -> None:
    """What the author shows goes before."""
    assert make_sample(schema) == expected
    assert Draft202012Validator(schema).is_valid(expected)


def test_a_schema_without_end_makes_an_example_with_one() -> None:
    """Deep in it, nothing more is made."""
    schema: dict[str, Any] = {"type": "object", "required": ["a"], "properties": {}}
    schema["properties"]["a"] = schema

    assert make_sample(schema) == {"a": {"a": {"a": {"a": {}}}}}
