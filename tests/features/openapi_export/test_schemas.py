"""Schemas of several tools stand side by side in one document."""

from typing import Any

import pytest

from sidecall.features.openapi_export.document import SchemaComponents

TOOL = {
    "type": "object",
    "properties": {
        "a": {"$ref": "#/$defs/A~1B"},
        "whole": {"$ref": "#"},
        "deep": {"$ref": "#/$defs/A~1B/properties/x"},
        "elsewhere": {"$ref": "https://example.com/schema"},
        "either": {
            "oneOf": [{"$ref": "#/$defs/A~1B"}],
            "discriminator": {"propertyName": "x", "mapping": {"a": "#/$defs/A~1B"}},
        },
    },
    "$defs": {"A/B": {"properties": {"x": True, "again": {"$ref": "#/$defs/A~1B"}}}},
}


def test_definitions_become_components_and_references_lead_to_them() -> None:
    """Also those to the whole schema, deep into another, and of a tag's mapping."""
    components = SchemaComponents()

    reference = components.add("tool", TOOL)

    here = "#/components/schemas/"
    assert reference == {"$ref": f"{here}tool"}
    assert components.schemas == {
        "tool": {
            "type": "object",
            "properties": {
                "a": {"$ref": f"{here}tool_A_B"},
                "whole": {"$ref": f"{here}tool"},
                "deep": {"$ref": f"{here}tool_A_B/properties/x"},
                "elsewhere": {"$ref": "https://example.com/schema"},
                "either": {
                    "oneOf": [{"$ref": f"{here}tool_A_B"}],
                    "discriminator": {"propertyName": "x", "mapping": {"a": f"{here}tool_A_B"}},
                },
            },
        },
        "tool_A_B": {"properties": {"x": True, "again": {"$ref": f"{here}tool_A_B"}}},
    }


def test_names_that_are_taken_get_a_number() -> None:
    """A definition is not mistaken for another tool's."""
    components = SchemaComponents()

    components.add("a", {"$defs": {"b_c": {}, "b c": {}}})
    components.add("a_b_c", {})

    assert sorted(components.schemas) == ["a", "a_b_c", "a_b_c_2", "a_b_c_3"]


@pytest.mark.parametrize(
    ("schema", "placed", "named"),
    [
        pytest.param({"type": "object", "properties": {"a": {"type": "string"}}}, True, set(), id="plain"),
        pytest.param(
            {
                "properties": {"a": {"$ref": "#/$defs/A"}},
                "$defs": {"A": {"properties": {"again": {"$ref": "#/$defs/A"}}}},
            },
            True,
            {"tool_A"},
            id="a definition that refers to itself",
        ),
        pytest.param({"properties": {"a": {"$ref": "#"}}}, False, {"tool"}, id="the whole refers to itself"),
        pytest.param(
            {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}},
            False,
            {"tool"},
            id="a place in it",
        ),
    ],
)
def test_without_references_schemas_stand_in_their_places(schema: Any, placed: bool, named: set[str]) -> None:
    """Unless the whole is referred to."""
    components = SchemaComponents(refs=False)

    found = components.add("tool", schema)

    assert (("properties" in found), components.schemas.keys()) == (placed, named)
