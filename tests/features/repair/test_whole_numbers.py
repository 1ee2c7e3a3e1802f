"""Whole numbers are integers where these are wanted."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, Strict

from sidecall import tool
from tests.kernel.schema.test_whole import ANY_NUMBER, WHOLE
from tests.kit.calls import run

TAGGED = {
    "oneOf": [
        {"properties": {"kind": {"const": "a"}, "n": WHOLE}},
        {"properties": {"kind": {"const": "b"}, "n": ANY_NUMBER}},
    ]
}


async def _take(schema: Any, sent: Any) -> Any:
    @tool(args_schema={"properties": {"p": schema}, "$defs": {"N": WHOLE}})
    def take(**given: Any) -> str:
        """Take."""
        return repr(given["p"])

    return (await run(take, {"p": sent})).content


@pytest.mark.parametrize(
    ("schema", "sent", "taken"),
    [
        (WHOLE, 3.0, "3"),
        (WHOLE, 1e3, "1000"),
        (WHOLE, -0.0, "0"),
        (WHOLE, 1e20, "100000000000000000000"),
        (WHOLE, 1e23, "100000000000000000000000"),  # not the float next to it
        (WHOLE, "3.0", "3"),
        (WHOLE, "1e3", "1000"),
        (WHOLE, "12345678901234567890", "12345678901234567890"),
        ({"anyOf": [WHOLE, {"type": "string"}]}, 3.0, "3"),
        ({"oneOf": [{"type": "string"}, WHOLE]}, 3.0, "3"),
        ({"anyOf": [WHOLE, {"type": "null"}]}, 3.0, "3"),
        ({"type": ["integer", "null"]}, 3.0, "3"),
        ({"$ref": "#/$defs/N"}, 3.0, "3"),
        ({"allOf": [ANY_NUMBER, WHOLE]}, 3.0, "3"),
        ({"if": ANY_NUMBER, "then": WHOLE}, 3.0, "3"),
        ({"enum": [1, 2, 3]}, 3.0, "3"),
        ({"const": 3}, 3.0, "3"),
        ({"type": "number", "multipleOf": 1}, 3.0, "3"),
        ({"type": "array", "items": WHOLE}, [1.0, 2, 3.5e1], "[1, 2, 35]"),
        ({"type": "array", "prefixItems": [WHOLE, ANY_NUMBER]}, [3.0, 4.0], "[3, 4.0]"),
        ({"type": "object", "additionalProperties": WHOLE}, {"a/b~c": 3.0}, "{'a/b~c': 3}"),
        ({"type": "object", "patternProperties": {"^a": WHOLE}}, {"ab": 3.0, "b": 3.0}, "{'ab': 3, 'b': 3.0}"),
        ({"properties": {"x": {"properties": {"y": WHOLE}}}}, {"x": {"y": 3.0}}, "{'x': {'y': 3}}"),
        (TAGGED, {"kind": "a", "n": 3.0}, "{'kind': 'a', 'n': 3}"),
        # what may be another number stays as it was sent
        (TAGGED, {"kind": "b", "n": 3.0}, "{'kind': 'b', 'n': 3.0}"),
        (ANY_NUMBER, 3.0, "3.0"),
        ({"type": ["integer", "number"]}, 3.0, "3.0"),
        ({}, 3.0, "3.0"),
        ({"type": "number", "multipleOf": 0.5}, 3.0, "3.0"),
        # and what is none is refused
        (WHOLE, 3.5, "p: Input should be an integer"),
        (WHOLE, "3.5", "p: Input should be an integer"),
        (WHOLE, "nan", "p: Input should be an integer"),
        (ANY_NUMBER, "inf", "p: Input should be a number"),
        (ANY_NUMBER, "1e400", "p: Input should be a number"),
        ({"type": "array", "items": ANY_NUMBER}, ["NaN"], "p[0]: Input should be a number"),
    ],
)
async def test_a_whole_number_is_an_integer_where_one_is_wanted(schema: Any, sent: Any, taken: str) -> None:
    """At any depth, no matter what the schema chooses from, and exactly."""
    assert await _take(schema, sent) == taken


@pytest.mark.parametrize(
    ("kind", "sent", "taken"),
    [
        (int, 1e20, "100000000000000000000"),
        (int, 1e23, "100000000000000000000000"),
        (int, "1e20", "100000000000000000000"),
        (int, "1e3", "1000"),
        (int | None, 1e20, "100000000000000000000"),
        (int | str, 1e20, "100000000000000000000"),
        (list[int], [1, 1e20], "[1, 100000000000000000000]"),
        (dict[str, int], {"a": 1e20}, "{'a': 100000000000000000000}"),
        (Annotated[int, Strict()], 3.0, "3"),
        (Annotated[int, Strict()], "3", "p: Input should be an integer"),
        (Annotated[int, Field(le=9)], 1e20, "p: Input should be an integer, at most 9"),
        (Literal[1, 2], 2.0, "2"),
        (int | float, 3.0, "3.0"),
        (float, 1e20, "1e+20"),
    ],
)
async def test_a_large_number_is_taken_for_an_integer_of_python(kind: Any, sent: Any, taken: str) -> None:
    """And a whole one in a strict field, since JSON has one kind of numbers."""

    def take(p: Any) -> str:
        """Take."""
        return repr(p)

    take.__annotations__["p"] = kind

    assert (await run(tool(take), {"p": sent})).content == taken
