"""A schema of arguments that can never work stops the start, with the place of what is wrong."""

import re
from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.core.errors import SchemaInferenceError

AROUND = 'perhaps {"type": "object", "properties": {...}} was forgotten around what it has.'


def double(a: int) -> int:
    """Double it."""
    return 2 * a


def optional(a: int = 1) -> int:
    """Take it."""
    return a


@pytest.mark.parametrize(
    ("function", "schema", "complaint"),
    [
        (double, {"a": {"type": "integer"}}, f"it has no properties, but `a` beside its keywords; {AROUND}"),
        (optional, {"a": {"type": "integer"}}, f"it has no properties, but `a` beside its keywords; {AROUND}"),
        (double, {"type": "object"}, f"the function requires `a`, which is no property of it; {AROUND}"),
        (double, {"properties": {}}, "the function requires `a`, which is no property of it."),
        (double, {"additionalProperties": True, "properties": {}}, "the function requires `a`, which is no property"),
        (double, {"properties": ["a"]}, 'it has to describe an object, as in {"type": "object", "properties": {...}}.'),
    ],
)
def test_a_schema_that_no_call_can_fit_is_refused(function: Any, schema: dict[str, Any], complaint: str) -> None:
    """With what was probably meant."""
    with pytest.raises(SchemaInferenceError, match=re.escape(f"args_schema: {complaint}")):
        assert tool(function, args_schema=schema).compiled


@pytest.mark.parametrize(
    "schema",
    [
        {"oneOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": "null"}}}]},
        {"patternProperties": {"^a$": {"type": "integer"}}},
    ],
)
def test_names_may_come_from_elsewhere_than_from_properties(schema: dict[str, Any]) -> None:
    """As a call shows."""
    assert tool(double, args_schema=schema).invoke({"a": 2}) == 4


def test_a_function_that_takes_any_name_needs_no_properties() -> None:
    """What is sent comes by the names that it has."""

    def collect(a: int, **rest: int) -> int:
        """Collect."""
        return a + sum(rest.values())

    assert tool(collect, args_schema={"type": "object"}).invoke({"a": 1, "b": 2}) == 3


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (
            {"type": "integr"},
            '`properties.a.type` is "integr", and has to be one of array, boolean, integer, null, number, object,'
            " string, or a list of them.",
        ),
        (
            {"anyOf": [{"type": "string"}, {"minLength": "x"}]},
            '`properties.a.anyOf[1].minLength` is "x": Input is not of type "integer".',
        ),
        ({"enum": 3}, '`properties.a.enum` is 3: Input is not of type "array".'),
        ({"required": {"x" * 99: 1}}, f'`properties.a.required` is {{"{"x" * 58}...: Input is not of type "array".'),
    ],
)
def test_a_fault_deep_in_a_schema_is_named_with_its_place(schema: dict[str, Any], fault: str) -> None:
    """And with what stands there."""
    with pytest.raises(SchemaInferenceError, match=re.escape(f"args_schema is no JSON Schema: {fault}")):
        assert tool(double, args_schema={"properties": {"a": schema}}).compiled


def test_a_reference_to_nothing_is_said() -> None:
    """With its place."""
    complaint = re.escape("args_schema: `properties.a.$ref` refers to #/nope, where there is nothing.")
    with pytest.raises(SchemaInferenceError, match=complaint):
        assert tool(double, args_schema={"properties": {"a": {"$ref": "#/nope"}}}).compiled
