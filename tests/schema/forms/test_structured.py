"""Results as values that fit their schema."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from sidecall import tool
from sidecall.schema.forms.definitions import render_definitions
from sidecall.schema.forms.structured import Misfit, describe_results, make_structure

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
    assert describe_results(make(returns)) == expected


@pytest.mark.parametrize(
    ("returns", "content", "expected"),
    [
        (int, "3", {"result": 3}),
        (int | str, "three", {"result": "three"}),
        (Literal["1", "2"], "1", {"result": "1"}),
        (dict[str, int], '{"a":1}', {"a": 1}),
        (list[str], ["a", "b"], {"result": ["a", "b"]}),
        (list[Node], '[{"children":[{"children":[]}]}]', {"result": [{"children": [{"children": []}]}]}),
        (int, "three", None),
        (int, "NaN", None),
        (dict[str, int], '{"a":"x"}', None),
    ],
)
def test_a_content_is_read_as_its_schema_says(returns: Any, content: Any, expected: Any) -> None:
    """As JSON, or as the text that it is; what fits in neither way is refused."""
    structure = make_structure(make(returns))
    assert structure is not None

    if expected is None:
        with pytest.raises(Misfit):
            structure.read(content)
    else:
        assert structure.read(content) == expected


def test_mcp_gets_references_and_the_schema_of_results() -> None:
    """All its clients follow references; a result that is no object is wrapped in one."""
    definition = render_definitions([make(int)], "mcp")[0]

    assert definition == {
        "name": "take",
        "description": "Take a place.",
        "inputSchema": {
            "type": "object",
            "properties": {"place": {"$ref": "#/$defs/Place"}},
            "required": ["place"],
            "$defs": {
                "Place": {
                    "description": "A place.",
                    "type": "object",
                    "properties": {"city": {"type": "string"}},
                    "required": ["city"],
                }
            },
        },
        "outputSchema": wrap(INTEGER),
    }
