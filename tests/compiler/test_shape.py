"""What pydantic renders becomes the schema of a tool's arguments."""

from sidecall.compiler.json_args_schema import shape_arguments, strip_titles


def test_titles_go_and_properties_called_title_stay() -> None:
    """Pydantic adds the one, the author the other."""
    stripped = strip_titles(
        {"title": "T", "properties": {"title": {"title": "Title", "type": "string"}}, "items": {"title": "I"}}
    )

    assert stripped == {"properties": {"title": {"type": "string"}}, "items": {}}


def test_a_models_schema_becomes_that_of_arguments() -> None:
    """Without what is hidden, and without the model's own description."""
    schema = {
        "description": "A model.",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": ["a", "b"],
        "additionalProperties": False,
        "type": "object",
    }

    assert shape_arguments(schema, frozenset({"b"})) == {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert shape_arguments({}, frozenset()) == {"type": "object", "properties": {}}


def test_a_model_that_contains_itself_becomes_an_object_too() -> None:
    """Every provider wants one at the root."""
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}

    assert shape_arguments({"$ref": "#/$defs/Node", "$defs": {"Node": node}}, frozenset()) == {
        **node,
        "$defs": {"Node": node},
    }
