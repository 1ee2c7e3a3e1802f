"""Results as values that fit their schema."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from sidecall import tool
from sidecall.kernel.core.errors import ToolOutputError

INTEGER = {"type": "integer"}


class Place(BaseModel):
    """A place."""

    city: str


class Node(BaseModel):
    """A node."""

    children: list["Node"] = []


def make(returns: Any) -> Any:
    """Make a tool that returns this."""

    def take(place: Place) -> Any:
        """Take a place."""

    take.__annotations__["return"] = returns
    return tool(take).compiled


def wrap(schema: Any) -> dict[str, Any]:
    """Wrap the schema of what is no object."""
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        (str, None),
        (None, None),
        (Any, None),
        (int, wrap(INTEGER)),
        (int | None, wrap({"anyOf": [INTEGER, {"type": "null"}]})),
        (list[int], wrap({"type": "array", "items": INTEGER})),
        (Literal["a", "b"], wrap({"type": "string", "enum": ["a", "b"]})),
        (dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    ],
)
def test_results_are_described_as_objects(returns: Any, expected: Any) -> None:
    """Where there is more to be said than that they are a text."""
    results = make(returns).results

    assert (None if results is None else results.schema) == expected


@pytest.mark.parametrize(
    ("returns", "value", "expected"),
    [
        (int, 3, 3),
        (int, True, 1),
        (int, "12", 12),
        (int | str, "12", "12"),
        (str | None, "null", "null"),
        (bool, 1, True),
        (bool, 0, False),
        (float, "1.5", 1.5),
        (float, 1, 1),
        (Literal["1", "2"], "1", "1"),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (dict[str, int], {1: 1}, {1: 1}),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (list[str], ["a", "b"], ["a", "b"]),
        (list[Node], [{"children": [{"children": []}]}], [{"children": [{"children": []}]}]),
        (Place, {"city": "Ghent", "more": 1}, {"city": "Ghent", "more": 1}),
    ],
)
def test_a_value_is_settled_as_it_is_or_as_pydantic_converts_it(returns: Any, value: Any, expected: Any) -> None:
    """What fits stays what it is."""
    settled = make(returns).results.settle("take", value)

    assert (settled, type(settled)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("returns", "value", "reason"),
    [
        (int, "three", '"three" is not of type "integer"'),
        (bool, 2, '2 is not of type "boolean"'),
        (dict[str, int], {"a": "x"}, '"x" is not of type "integer"'),
        (Place, {}, '"city" is a required property'),
        (float, None, "NaN as the content, which JSON has not"),
    ],
)
def test_what_does_not_fit_is_an_output_error(returns: Any, value: Any, reason: str) -> None:
    """That says what is wrong with it, and of a number that JSON does not have where it was."""
    lost = ["NaN as the content was sent as null"] if reason.startswith("NaN") else []

    with pytest.raises(ToolOutputError) as raised:
        make(returns).results.settle("take", value, lost)

    assert str(raised.value) == f"Error: take returned something else than its output schema says: {reason}."


class _Sum(BaseModel):
    left: "_Sum | _Product | int"


class _Product(BaseModel):
    left: "_Sum | _Product | int"


@pytest.mark.parametrize("levels", [2, 60])
def test_a_result_of_choices_within_each_other_is_refused_at_once(levels: int) -> None:
    """Its errors, of each member at each level, would never be listed to the end."""

    async def nest() -> _Sum | _Product:
        """Nest."""
        raise NotImplementedError

    results = tool(nest).compiled.results
    assert results is not None
    value: Any = "x"
    for _ in range(levels):
        value = {"left": value}

    with pytest.raises(ToolOutputError, match="something else than its output schema says"):
        results.settle("nest", value)
