"""What a schema allows is said in a few words."""

from typing import Any

import pytest

from sidecall.kernel.schema.describe import describe


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "any value"),
        ({"type": "integer", "minimum": 1, "maximum": 9}, "integer, at least 1, at most 9"),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 2}, "number, greater than 0, less than 2"),
        ({"type": "string", "minLength": 2, "pattern": "^a"}, "string, at least 2 characters, matching ^a"),
        ({"type": "string", "format": "date"}, "a date as YYYY-MM-DD, such as 2026-03-14"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"enum": ["a", 1, None, True]}, 'one of "a", 1, null, true'),
        ({"const": "a"}, '"a"'),
        ({"const": None}, "null"),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "integer"}]}, "integer or string"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 1}, "array of string, at least 1 item"),
        ({"type": "array", "items": False}, "array"),
        ({"$ref": "#/$defs/Node"}, "object"),
        (
            {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 3},
            "array of integer, at most 3 items, each at least 0 and at most 9",
        ),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2}, 'array of one of "a", "b", at most 2 items'),
        ({"type": "array", "prefixItems": [{"type": "integer"}], "items": False}, "array of integer, at most 1 item"),
        (
            {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "integer"}},
            "JSON text of integer",
        ),
        ({"type": "object", "propertyNames": {"pattern": "^a"}}, "object, each key matching ^a"),
        ({"allOf": [{"type": "number", "minimum": 1}, {"type": "integer", "minimum": 3}]}, "integer, at least 3"),
        (
            {"type": "object", "properties": {"a": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            "object {a?}, with a or b",
        ),
        (
            {"type": "string", "anyOf": [{"pattern": "a"}, {"minLength": 5}]},
            "string, matching a or string, at least 5 characters",
        ),
        ({"not": {}}, "left out, since nothing may be sent here"),
    ],
)
def test_a_schema_is_said_in_a_few_words(schema: dict[str, Any], expected: str) -> None:
    """Models read this where an argument is missing."""
    assert describe(schema) == expected
