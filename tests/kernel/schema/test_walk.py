"""Schemas can be walked and changed."""

from sidecall.kernel.schema.references import list_schemas, map_children, walk

EVERY_PLACE = {
    "properties": {"a": {"type": "string"}, "odd": True},
    "items": {"type": "integer"},
    "additionalProperties": {"type": "number"},
    "not": {"type": "null"},
    "anyOf": [{"const": 1}, True],
    "prefixItems": [{"const": 2}],
    "$defs": {"D": {"const": 3}},
    "contains": False,
    "enum": [{"type": "not a schema"}],
}


def test_every_schema_inside_a_schema_is_found_with_its_path() -> None:
    """Booleans and examples of values are none."""
    found = [(path, node) for path, node in walk(EVERY_PLACE)][1:]

    assert found == [
        ("a", {"type": "string"}),
        ("[]", {"type": "integer"}),
        ("*", {"type": "number"}),
        ("", {"type": "null"}),
        ("", {"const": 1}),
        ("[]", {"const": 2}),
        ("D", {"const": 3}),
    ]


def test_schemas_are_listed_without_their_paths() -> None:
    """The same ones, outer ones first."""
    nested = {"items": EVERY_PLACE}

    listed, walked = list_schemas(nested), [node for _, node in walk(nested)]

    assert listed[:2] == [nested, EVERY_PLACE]
    assert sorted(map(id, listed)) == sorted(map(id, walked))


def test_children_are_changed_in_a_copy() -> None:
    """What is no schema is left as it is."""
    changed = map_children(EVERY_PLACE, lambda child: sorted(child))

    assert changed == {
        "properties": {"a": ["type"], "odd": True},
        "items": ["type"],
        "additionalProperties": ["type"],
        "not": ["type"],
        "anyOf": [["const"], True],
        "prefixItems": [["const"]],
        "$defs": {"D": ["const"]},
        "contains": False,
        "enum": [{"type": "not a schema"}],
    }
    assert EVERY_PLACE["items"] == {"type": "integer"}
