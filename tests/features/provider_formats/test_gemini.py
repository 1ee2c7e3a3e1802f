"""Schemas in the subset that Gemini takes, and in words what that cannot say."""

from typing import Any

import pytest

from sidecall.features.provider_formats.gemini import to_gemini
from tests.kit.gemini import find_offences

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
ANY = [
    TEXT,
    {"type": "number"},
    {"type": "boolean"},
    {"type": "array", "items": TEXT},
    {"type": "object"},
]


def _is_text(*values: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "enum": [*values], **more}


def _says(kind: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "description": text, **more}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # Null, and several types.
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["null", "string"], "default": None, "minLength": 1}, {**TEXT, "nullable": True, "minLength": 1}),
        ({"type": ["string"]}, TEXT),
        ({"type": ["string", "integer"]}, {"anyOf": [TEXT, WHOLE]}),
        (
            {"type": ["string", "integer", "null"], "minLength": 2, "minimum": 1, "description": "It."},
            {"anyOf": [{**TEXT, "minLength": 2}, {**WHOLE, "minimum": 1}], "nullable": True, "description": "It."},
        ),
        ({"type": "string", "nullable": True}, {"type": "string", "nullable": True}),
        ({"type": "null"}, _says("string", "Always null.", nullable=True)),
        ({"const": None}, _says("string", "Always null.", nullable=True)),
        ({"anyOf": [TEXT, {"type": ["integer", "null"]}]}, {"anyOf": [TEXT, WHOLE], "nullable": True}),
        ({"anyOf": [{"anyOf": [TEXT, {"type": "null"}]}, WHOLE]}, {"anyOf": [TEXT, WHOLE], "nullable": True}),
        ({"oneOf": [TEXT, {"const": None}]}, {**TEXT, "nullable": True}),
        ({"anyOf": [TEXT, TEXT]}, TEXT),
        (
            {"anyOf": [{**TEXT, "description": "A name"}, {"type": "null"}], "description": "Who"},
            _says("string", "Who", nullable=True),
        ),
        (
            {"anyOf": [_says("string", "A name"), {**WHOLE, "title": "Id"}], "description": "Who", "title": "W"},
            {"anyOf": [_says("string", "A name"), {**WHOLE, "title": "Id"}], "description": "Who", "title": "W"},
        ),
        ({"type": "object", "properties": {"a": TEXT}, "anyOf": [TEXT, {"type": "object"}]},
         {"type": "object", "properties": {"a": TEXT}}),
        # What may be anything, or nothing.
        ({}, {"anyOf": ANY, "nullable": True}),
        (True, {"anyOf": ANY, "nullable": True}),
        ({"description": "Any."}, {"anyOf": ANY, "nullable": True, "description": "Any."}),
        ({"anyOf": [False, TEXT, {"not": {}}]}, TEXT),
        ({"minLength": 1}, {**TEXT, "minLength": 1}),
        ({"properties": {"a": TEXT}}, {"type": "object", "properties": {"a": TEXT}}),
        # Fixed values.
        ({"const": "a"}, _is_text("a")),
        ({"enum": ["a", "b", "a"], "type": "string", "default": "b"}, _is_text("a", "b", default="b")),
        ({"const": True}, _says("boolean", "Always true.")),
        ({"const": False, "description": "Off"}, _says("boolean", "Off. Always false.")),
        ({"enum": [True, False], "default": True}, {"type": "boolean", "default": True}),
        ({"enum": [True, None]}, _says("boolean", "Always true.", nullable=True)),
        ({"enum": [True, "auto"]}, {"anyOf": [_says("boolean", "Always true."), _is_text("auto")]}),
        ({"enum": ["a", None]}, _is_text("a", nullable=True)),
        ({"type": ["string", "null"], "enum": ["a", None], "default": None}, _is_text("a", nullable=True)),
        ({"type": "string", "enum": ["a", None]}, _is_text("a")),
        ({"enum": ["", "a"], "default": ""}, _is_text("a", description='May be "" too. Default: "".')),
        ({"const": ""}, _says("string", 'Always "".')),
        ({"enum": [1, 2], "type": "integer", "default": 1}, _is_text("1", "2", default="1")),
        ({"enum": [1, 2, None], "type": ["integer", "null"]}, _is_text("1", "2", nullable=True)),
        ({"enum": [0.5, 1, 1e30]}, _is_text("0.5", "1", "1e+30")),
        ({"enum": ["a", 1], "default": 3}, _is_text("a", "1", description="Default: 3.")),
        ({"const": 7}, _is_text("7")),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, _is_text("1", "2")),
        (
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "description": "B."}]},
            {"anyOf": [_is_text("a", title="A"), _is_text("b", description="B.")]},
        ),
        # A text would be read as one, or is not read as a number.
        ({"anyOf": [{"enum": [1, 2]}, TEXT]}, {"anyOf": [_says("integer", "One of 1, 2."), TEXT]}),
        ({"allOf": [{"enum": [1, 2]}]}, _says("integer", "One of 1, 2.")),
        (
            {"oneOf": [{"properties": {"v": {"const": 1}}}, {"properties": {"v": {"const": 2.5}}}]},
            {
                "anyOf": [
                    {"type": "object", "properties": {"v": _says("integer", "Always 1.")}},
                    {"type": "object", "properties": {"v": _says("number", "Always 2.5.")}},
                ]
            },
        ),
        (
            {"anyOf": [{"type": "array", "items": {"enum": [1, 2]}}, {"type": "null"}], "default": [1]},
            {"type": "array", "items": _says("integer", "One of 1, 2."), "nullable": True, "default": [1]},
        ),
        ({"enum": [1, True]}, {"anyOf": [_says("integer", "Always 1."), _says("boolean", "Always true.")]}),
        ({"enum": [[1], {"a": None}]},
         {"anyOf": [_says("array", "Always [1].", items=TEXT), _says("object", 'Always {"a": null}.')]}),
        # Defaults.
        ({"type": "integer", "default": "1"}, _says("integer", 'Default: "1".')),
        ({"type": "integer", "default": True}, _says("integer", "Default: true.")),
        ({"type": "integer", "default": 3.0}, {**WHOLE, "default": 3.0}),
        ({"type": "integer", "default": 2.5}, _says("integer", "Default: 2.5.")),
        ({"type": "integer", "default": 10**400}, {**WHOLE, "default": 10**400}),
        ({"type": ["string", "integer"], "default": 3}, {"anyOf": [TEXT, WHOLE], "default": 3}),
        ({"type": "array", "items": TEXT, "default": []}, {"type": "array", "items": TEXT, "default": []}),
        # Formats.
        ({**TEXT, "format": "date-time"}, {**TEXT, "format": "date-time"}),
        ({**TEXT, "format": "date"}, _says("string", "Format: date.")),
        ({**TEXT, "format": "time-delta", "description": "How long"}, _says("string", "How long. Format: time-delta.")),
        ({**TEXT, "format": "uuid", "description": "Which one?"}, _says("string", "Which one? Format: uuid.")),
        ({**TEXT, "format": "enum"}, TEXT),
        ({**TEXT, "format": "int64"}, _says("string", "Format: int64.")),
        ({**WHOLE, "format": "int64"}, {**WHOLE, "format": "int64"}),
        ({**WHOLE, "format": "double"}, _says("integer", "Format: double.")),
        ({"type": "number", "format": "double"}, {"type": "number", "format": "double"}),
        (
            {"type": ["string", "integer"], "format": "date-time"},
            {"anyOf": [{**TEXT, "format": "date-time"}, _says("integer", "Format: date-time.")]},
        ),
        ({**TEXT, "contentEncoding": "base64"}, _says("string", "Encoding: base64.")),
        # Bounds.
        ({**WHOLE, "exclusiveMinimum": 0, "exclusiveMaximum": 10}, {**WHOLE, "minimum": 1, "maximum": 9}),
        ({**WHOLE, "exclusiveMinimum": 0, "minimum": 5}, {**WHOLE, "minimum": 5}),
        ({**WHOLE, "exclusiveMinimum": 0.5, "maximum": 2.5}, {**WHOLE, "minimum": 1, "maximum": 2}),
        ({**WHOLE, "exclusiveMaximum": 2.5, "minimum": -1.5}, {**WHOLE, "minimum": -1, "maximum": 2}),
        ({"type": "number", "exclusiveMinimum": 0}, _says("number", "More than 0.", minimum=0)),
        ({"type": "number", "exclusiveMaximum": 2, "maximum": 1}, {"type": "number", "maximum": 1}),
        ({**WHOLE, "multipleOf": 5}, _says("integer", "A multiple of 5.")),
        ({**WHOLE, "minimum": 10**400}, WHOLE),
        (
            {"type": ["integer", "number"], "minimum": 1},
            {"anyOf": [{**WHOLE, "minimum": 1}, {"type": "number", "minimum": 1}]},
        ),
        # Arrays.
        ({"type": "array"}, {"type": "array", "items": TEXT}),
        ({"type": "array", "items": True}, {"type": "array", "items": TEXT}),
        ({"type": "array", "items": {}}, {"type": "array", "items": TEXT}),
        ({"type": "array", "items": False}, _says("array", "Always empty.", items=TEXT, maxItems=0)),
        (
            {"type": "array", "items": {"type": ["string", "null"]}, "uniqueItems": True},
            _says("array", "Items are unique.", items={**TEXT, "nullable": True}),
        ),
        ({"type": "array", "prefixItems": [WHOLE, WHOLE], "items": False},
         {"type": "array", "items": WHOLE, "maxItems": 2}),
        (
            {"type": "array", "prefixItems": [TEXT, WHOLE], "minItems": 2, "maxItems": 2},
            _says("array", "In this order: string, integer.", items={"anyOf": [TEXT, WHOLE]}, minItems=2, maxItems=2),
        ),
        (
            {"type": "array", "prefixItems": [{**WHOLE, "description": "Width."}, {**WHOLE, "description": "Height"}]},
            _says("array", "In this order: integer (Width), integer (Height).", items=WHOLE),
        ),
        (
            {"type": "array", "prefixItems": [TEXT], "items": WHOLE},
            {"type": "array", "items": {"anyOf": [TEXT, WHOLE]}},
        ),
        ({"type": "array", "items": [TEXT, WHOLE], "additionalItems": False},
         _says("array", "In this order: string, integer.", items={"anyOf": [TEXT, WHOLE]}, maxItems=2)),
        (
            {"type": "array", "items": TEXT, "contains": {"const": "a"}},
            _says("array", 'Has to fit this JSON Schema, too: {"contains": {"const": "a"}}.', items=TEXT),
        ),
        # Objects.
        ({"type": "object"}, {"type": "object"}),
        (
            {"type": "object", "properties": {"a": TEXT, "no": False}, "required": ["a", "no", "b", "a"]},
            _says("object", "Send `b` too.", properties={"a": TEXT}, required=["a"]),
        ),
        ({"type": "object", "additionalProperties": True}, _says("object", "Keys as needed.")),
        ({"type": "object", "additionalProperties": WHOLE}, _says("object", "Keys as needed, each value an integer.")),
        (
            {"type": "object", "additionalProperties": {"type": ["string", "null"]}, "properties": {"a": TEXT}},
            _says(
                "object",
                'Other keys are taken too, each value of this form: {"type": "string", "nullable": true}.',
                properties={"a": TEXT},
            ),
        ),
        (
            {"type": "object", "patternProperties": {"^x": TEXT}, "additionalProperties": False},
            _says("object", 'Has to fit this JSON Schema, too: {"patternProperties": {"^x": {"type": "string"}}}.'),
        ),
        # Combinations.
        (
            {"allOf": [{"properties": {"a": TEXT}, "required": ["a"]}, {"properties": {"b": WHOLE}, "required": ["b"]}]}
            | {"title": "T"},
            {"type": "object", "properties": {"a": TEXT, "b": WHOLE}, "required": ["a", "b"], "title": "T"},
        ),
        ({"allOf": [{**WHOLE, "minimum": 1, "description": "One"}, {"maximum": 5}, {"minimum": 3}]},
         _says("integer", "One", minimum=3, maximum=5)),
        ({"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, WHOLE),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}, _is_text("b")),
        (
            {"allOf": [{"anyOf": [TEXT, WHOLE]}], "anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            WHOLE,
        ),
        (
            {
                "type": "object",
                "properties": {"a": TEXT},
                "oneOf": [{"properties": {"b": TEXT}, "required": ["b"]}, {"properties": {"c": TEXT}}],
            },
            {
                "anyOf": [
                    {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["b"]},
                    {"type": "object", "properties": {"a": TEXT, "c": TEXT}},
                ]
            },
        ),
        (
            {"properties": {"a": TEXT, "b": TEXT}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            _says("object", "Send a or b.", properties={"a": TEXT, "b": TEXT}),
        ),
        ({**TEXT, "not": {"const": 1}}, _says("string", 'Has to fit this JSON Schema, too: {"not": {"const": 1}}.')),
        ({**TEXT, "not": {"enum": ["a" * 300]}}, TEXT),
    ],
)  # fmt: skip
def test_a_schema_is_written_as_the_api_takes_it(schema: Any, expected: dict[str, Any]) -> None:
    """One type at each place, and in words what its keywords cannot say."""
    written = to_gemini({"type": "object", "properties": {"x": schema}})

    assert written == {"type": "object", "properties": {"x": expected}}
    assert list(find_offences(written)) == []


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"not": {}},
        {"enum": []},
        {"type": "integer", "enum": ["a"]},
        {"allOf": [TEXT, WHOLE]},
        {"anyOf": [False]},
    ],
)
def test_what_no_value_fits_is_no_argument(schema: Any) -> None:
    """Nothing that a model sent for it would be taken."""
    properties = {"x": schema, "a": TEXT}

    assert to_gemini({"type": "object", "properties": properties, "required": ["a"]}) == {
        "type": "object",
        "properties": {"a": TEXT},
        "required": ["a"],
    }


@pytest.mark.parametrize(
    "schema", [{}, {"properties": {}}, {"additionalProperties": TEXT}, {"properties": {"x": False}}]
)
def test_without_arguments_there_are_no_parameters(schema: Any) -> None:
    """The API refuses an object without properties there."""
    assert to_gemini({"type": "object", **schema}) is None


def test_what_refers_to_itself_is_described_once() -> None:
    """There is no room for references."""
    node = {"type": "object", "properties": {"name": TEXT, "next": {"$ref": "#/$defs/Node"}}, "required": ["name"]}
    value = {"anyOf": [TEXT, {"type": "array", "items": {"$ref": "#/$defs/Value"}}]}
    schema = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/Node"}, "y": {"$ref": "#/$defs/Value", "description": "Why."}},
        "$defs": {"Node": node, "Value": value},
    }

    note = "Another Value, of the same form."
    again = {"anyOf": [_says("string", note), _says("array", note, items=TEXT)]}
    assert to_gemini(schema) == {
        "type": "object",
        "properties": {
            "x": {
                "type": "object",
                "properties": {"name": TEXT, "next": _says("object", "Another Node, of the same form.")},
                "required": ["name"],
            },
            "y": {"anyOf": [TEXT, {"type": "array", "items": again}], "description": "Why."},
        },
    }


def test_what_is_nested_very_deeply_keeps_its_type() -> None:
    """Its JSON would be deeper than the API reads."""
    schema: dict[str, Any] = {"type": "boolean"}
    for _ in range(40):
        schema = {"type": "array", "prefixItems": [{"type": "object", "properties": {"x": schema}}, TEXT]}

    written = to_gemini({"type": "object", "properties": {"x": schema}})

    assert list(find_offences(written)) == []
    assert 10 < str(written).count("anyOf") < 16


def test_references_that_lead_to_each_other_have_a_bound() -> None:
    """A few definitions would make more than any model reads."""
    names = [f"N{index}" for index in range(12)]
    node = {"type": "object", "properties": {name: {"$ref": f"#/$defs/{name}"} for name in names}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/N0"}}, "$defs": dict.fromkeys(names, node)}

    assert len(str(to_gemini(schema))) < 200_000
