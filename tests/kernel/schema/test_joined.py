"""Schemas that all have to hold become one that says what they say together."""

from typing import Any

import pytest

from sidecall.kernel.schema.all_of import join, join_all
from sidecall.kernel.schema.describe import describe


@pytest.mark.parametrize(
    ("schema", "joined"),
    [
        ({"type": "integer"}, {"type": "integer"}),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, {"type": "integer", "minimum": 3}),
        ({"minimum": 5, "allOf": [{"minimum": 3}]}, {"minimum": 5}),
        ({"allOf": [{"maxLength": 5}, {"allOf": [{"maxLength": 3}]}]}, {"maxLength": 3}),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, {"type": "integer"}),
        (
            {"required": ["a"], "allOf": [{"required": ["b", "a"]}]},
            {"required": ["a", "b"]},
        ),
        (
            {"properties": {"a": {"type": "integer"}}, "allOf": [{"properties": {"a": {"minimum": 1}, "b": {}}}]},
            {"properties": {"a": {"type": "integer", "minimum": 1}, "b": {}}},
        ),
        ({"allOf": [True, {"minimum": 3}]}, {"minimum": 3}),
        ({"type": "string", "allOf": [False]}, {"type": "string", "not": {}}),
    ],
)
def test_what_allof_joins_becomes_one(schema: dict[str, Any], joined: dict[str, Any]) -> None:
    """Of two bounds the one that leaves less counts."""
    assert join_all(schema) == joined


def test_the_first_of_two_that_contradict_each_other_counts() -> None:
    """As words about a rule that is broken want it."""
    assert join({"pattern": "a"}, {"pattern": "b"}) == {"pattern": "a"}
    assert join(False, {"minimum": 1}) == {"not": {}, "minimum": 1}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"allOf": [False]}, "left out, since nothing may be sent here"),
        ({"anyOf": [False]}, "left out, since nothing may be sent here"),
        ({"anyOf": [True, {"type": "integer"}]}, "any value"),
        ({"not": {"not": {"type": "integer"}}}, "integer"),
        ({"not": {"not": False}}, "left out, since nothing may be sent here"),
    ],
)
def test_schemas_of_anything_and_of_nothing_have_words(schema: dict[str, Any], words: str) -> None:
    """Odd as they are."""
    assert describe(schema) == words
