"""Schemas are arranged for the strict forms without a change of what fits them."""

from typing import Any

import pytest

from sidecall.kernel.schema.forms.strict import arrange, to_strict

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def _take(x: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": x}}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"enum": ["a", "b"]}, {"enum": ["a", "b"], "type": "string"}, id="texts"),
        pytest.param({"enum": [1, 2]}, {"enum": [1, 2], "type": "integer"}, id="whole numbers"),
        pytest.param({"enum": [1, 2.5]}, {"enum": [1, 2.5], "type": "number"}, id="numbers"),
        pytest.param({"enum": [True, False]}, {"enum": [True, False], "type": "boolean"}, id="booleans"),
        pytest.param({"enum": ["a", None]}, {"enum": ["a", None], "type": ["string", "null"]}, id="texts or null"),
        pytest.param({"enum": [1, True]}, {"enum": [1, True], "type": ["integer", "boolean"]}, id="1 is not true"),
        pytest.param({"const": None}, {"const": None, "type": "null"}, id="null"),
        pytest.param({"const": "a"}, {"const": "a", "type": "string"}, id="one text"),
        pytest.param({"type": "string", "enum": ["a", 1]}, {"type": "string", "enum": ["a"]}, id="of another type"),
        pytest.param({"type": "number", "enum": [1, 2.5]}, {"type": "number", "enum": [1, 2.5]}, id="of a wider type"),
        pytest.param({"type": "integer", "enum": [1.0]}, {"type": "integer", "enum": [1.0]}, id="a whole number"),
        pytest.param({"enum": [{"a": 1}]}, {"enum": [{"a": 1}]}, id="objects"),
        pytest.param({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}, id="one of"),
        pytest.param(
            {"description": "D.", "type": "string", "anyOf": [{"minLength": 1}, {"pattern": "a"}]},
            {
                "description": "D.",
                "anyOf": [{"minLength": 1, "type": "string"}, {"pattern": "a", "type": "string"}],
            },
            id="what stands beside holds in each option",
        ),
        pytest.param(
            {"anyOf": [TEXT, NUMBER], "oneOf": [{"const": "a"}, {"const": 1}]},
            {"anyOf": [{"const": "a", "type": "string"}, {"const": 1, "type": "integer"}]},
            id="both hold",
        ),
        pytest.param({"anyOf": [TEXT], "oneOf": [NUMBER]}, {"anyOf": []}, id="nothing fits"),
        pytest.param(
            {"type": "object", "anyOf": [{"$ref": "#"}, {"type": "null"}]}, {"anyOf": [{"$ref": "#"}]}, id="a reference"
        ),
    ],
)
def test_a_parameter_is_arranged(given: dict[str, Any], expected: dict[str, Any]) -> None:
    """Fixed values have a type, and choices are `anyOf` with nothing beside it."""
    assert arrange(_take(given))["properties"]["x"] == expected


@pytest.mark.parametrize("nothing", [False, {"not": {}}])
def test_a_parameter_that_nothing_fits_is_not_there(nothing: Any) -> None:
    """It could only be left out."""
    assert arrange({"type": "object", "properties": {"x": nothing, "y": TEXT}})["properties"] == {"y": TEXT}


def test_a_reference_into_a_choice_still_leads_somewhere() -> None:
    """`oneOf` is `anyOf` now, so its target moves."""
    tree = {"type": "object", "properties": {"below": {"$ref": "#/properties/x/oneOf/0"}}}

    strict = to_strict(_take({"oneOf": [tree, {"type": "null"}]}))

    assert strict["$defs"]["joined_0"]["properties"] == {
        "below": {"anyOf": [{"$ref": "#/$defs/joined_0"}, {"type": "null"}]}
    }
