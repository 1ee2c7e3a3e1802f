"""References are followed, and their targets put in place."""

from typing import Any

import pytest

from sidecall.kernel.schema.references import Targets, inline_references, resolve


def test_references_are_replaced_and_what_stands_beside_them_wins() -> None:
    """Several providers refuse references."""
    flat = inline_references(
        {
            "properties": {"p": {"$ref": "#/$defs/P", "description": "mine"}},
            "$defs": {"P": {"description": "its", "items": {"$ref": "#/$defs/Q"}}, "Q": {"type": "string"}},
        }
    )

    assert flat == {"properties": {"p": {"description": "mine", "items": {"type": "string"}}}}


def test_what_refers_to_itself_keeps_its_definitions_and_nothing_else_does() -> None:
    """A cycle has no end to inline; here two definitions make one."""
    flat = inline_references(
        {
            "properties": {"a": {"$ref": "#/$defs/A"}, "c": {"$ref": "#/$defs/C"}},
            "$defs": {
                "A": {"items": {"$ref": "#/$defs/B"}},
                "B": {"items": {"$ref": "#/$defs/A"}},
                "C": {"type": "string"},
            },
        }
    )

    assert flat == {
        "properties": {"a": {"$ref": "#/$defs/A"}, "c": {"type": "string"}},
        "$defs": {"A": {"items": {"$ref": "#/$defs/B"}}, "B": {"items": {"$ref": "#/$defs/A"}}},
    }


@pytest.mark.parametrize(
    ("schema", "flat"),
    [
        pytest.param(
            {"properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": {"type": "string"}}},
            {"properties": {"a": {"type": "string"}}},
            id="draft 7's word for definitions",
        ),
        pytest.param(
            {"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a", "description": "As a."}}},
            {"properties": {"a": {"type": "string"}, "b": {"type": "string", "description": "As a."}}},
            id="another property",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/%24defs/x~1y"}}, "$defs": {"x/y": {"type": "string"}}},
            {"properties": {"a": {"type": "string"}}},
            id="escaped",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/$defs/A/items"}}, "$defs": {"A": {"items": {"type": "string"}}}},
            {"properties": {"a": {"type": "string"}}},
            id="inside a definition",
        ),
        pytest.param(
            {"properties": {"a": {"$ref": "#/$defs/T"}, "b": {"$ref": "#/$defs/F"}}, "$defs": {"T": True, "F": False}},
            {"properties": {"a": {}, "b": {"not": {}}}},
            id="anything and nothing",
        ),
        pytest.param(
            {"$ref": "#/$defs/A", "type": "object", "required": ["x"], "$defs": {"A": {"required": ["y"]}}},
            {"type": "object", "required": ["x"], "allOf": [{"required": ["y"]}]},
            id="both set rules",
        ),
        pytest.param(
            {"$ref": "#/$defs/A", "required": [], "allOf": [{"minProperties": 1}], "$defs": {"A": {"required": ["y"]}}},
            {"required": [], "allOf": [{"required": ["y"]}, {"minProperties": 1}]},
            id="both set rules, beside others",
        ),
    ],
)
def test_any_reference_into_the_schema_is_replaced(schema: dict[str, Any], flat: dict[str, Any]) -> None:
    """An author's own schema may keep its parts anywhere."""
    assert inline_references(schema) == flat


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"properties": {"a": {"items": {"$ref": "#/properties/a"}}}}, id="a property inside itself"),
        pytest.param({"properties": {"a": {"$ref": "#"}}}, id="the whole schema"),
        pytest.param(
            {
                "properties": {"a": {"$ref": "#/definitions/A"}},
                "definitions": {"A": {"anyOf": [{"$ref": "#/$defs/Gone"}], "not": {"$ref": "#/definitions/A"}}},
            },
            id="draft 7's word for definitions",
        ),
        pytest.param(
            {
                "properties": {"a": {"$ref": "#/definitions/A"}},
                "definitions": {"A": {"not": {"$ref": "#/definitions/A"}, "items": {"$ref": "#/$defs/B"}}},
                "$defs": {"B": {"type": "string"}},
            },
            id="with what it needs under the other word",
        ),
    ],
)
def test_what_refers_to_itself_stays_wherever_it_is_kept(schema: dict[str, Any]) -> None:
    """The reference has to lead somewhere afterwards."""
    assert inline_references(schema) == schema


def test_a_reference_to_nothing_stays() -> None:
    """And a property called $ref is no reference."""
    schema: dict[str, Any] = {"properties": {"$ref": {"type": "string"}}, "items": {"$ref": "#/$defs/None"}}

    assert inline_references(schema) == schema


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ({"$ref": "#/$defs/A"}, {"type": "string"}),
        ({"$ref": "#/$defs/B"}, {"$ref": "#/$defs/B"}),
        ({"$ref": "#/$defs/C"}, {"type": "string"}),  # in two steps
        ({"$ref": "#/$defs/D"}, {"$ref": "#/$defs/D"}),  # in circles
        ({"$ref": "#/$defs/E"}, {"$ref": "#/$defs/E"}),  # to no object
        ({"type": "null"}, {"type": "null"}),
    ],
)
def test_a_reference_is_followed_to_its_definition(node: dict[str, str], expected: dict[str, str]) -> None:
    """Anything else is itself."""
    definitions = {
        "A": {"type": "string"},
        "C": {"$ref": "#/$defs/A"},
        "D": {"$ref": "#/$defs/D"},
        "E": True,
    }

    assert resolve(node, {"$defs": definitions}) == expected


def test_schemas_that_share_definitions_keep_those_that_each_refers_to() -> None:
    """What is known of the one is right for the other."""
    loop = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Loop"}}}
    shared: dict[str, Any] = {
        "Loop": loop,
        "Holder": {"type": "object", "properties": {"it": {"$ref": "#/$defs/Loop"}}},
    }
    known = Targets({"$defs": shared})
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/Holder", "description": "A."}}, "$defs": shared}

    flat = [inline_references(schema, known) for _ in range(2)]

    inlined = {"type": "object", "properties": {"it": {"$ref": "#/$defs/Loop"}}, "description": "A."}
    expected = {"type": "object", "properties": {"a": inlined}, "$defs": {"Loop": loop}}
    assert flat == [expected, expected]


def fan(levels: int) -> dict[str, Any]:
    """Make definitions of which each uses the next one twice."""
    definitions: dict[str, Any] = {
        f"D{i}": {"type": "object", "properties": {side: {"$ref": f"#/$defs/D{i + 1}"} for side in ("left", "right")}}
        for i in range(levels)
    }
    definitions[f"D{levels}"] = {"type": "string"}
    return {"type": "object", "properties": {"top": {"$ref": "#/$defs/D0"}}, "$defs": definitions}


def test_a_few_levels_of_references_are_put_in_place() -> None:
    """Though the schema grows."""
    assert "$ref" not in str(inline_references(fan(6)))


def test_references_that_would_explode_stay() -> None:
    """Sixty levels would make more schemas than there are atoms in a glass of water."""
    schema = fan(60)

    assert inline_references(schema) == schema


def test_a_chain_that_is_too_long_says_nothing_of_its_parts() -> None:
    """Where it could not be measured, a part of it that would explode stays as well."""
    schema = fan(60)
    links = {f"L{i}": {"items": {"$ref": f"#/$defs/L{i + 1}"}} for i in range(2000)}
    definitions = {**schema["$defs"], **links, "L2000": {"$ref": "#/$defs/D0"}}
    known = Targets({"$defs": definitions})

    early = {"properties": {"a": {"$ref": "#/$defs/L0"}}, "$defs": definitions}
    assert inline_references(early, known) is early

    late = {"properties": {"a": {"$ref": "#/$defs/L1999"}}, "$defs": definitions}
    assert inline_references(late, known) is late


def test_what_stands_beside_a_recursive_reference_is_put_in_place_too() -> None:
    """Its own references would lead to definitions that are no longer there."""
    node = {"type": "object", "properties": {"below": {"$ref": "#/$defs/Node"}}}
    text = {"type": "string"}
    beside = {"$ref": "#/$defs/Node", "properties": {"name": {"$ref": "#/$defs/Text"}}}

    flat = inline_references({"properties": {"x": beside}, "$defs": {"Node": node, "Text": text}})

    assert flat == {
        "properties": {"x": {"$ref": "#/$defs/Node", "properties": {"name": text}}},
        "$defs": {"Node": node},
    }
