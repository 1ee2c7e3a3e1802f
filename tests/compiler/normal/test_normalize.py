"""A schema of any draft becomes a plain one of 2020-12 that takes the same values."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from sidecall.compiler.normalize import normalize_schema
from sidecall.compiler.schema_documents import SchemaUnfit
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import list_schemas
from tests.compiler.normal.table import DRAFT_4, DRAFT_7, DRAFT_2019, DRAFT_2020, INT, REFUSED, STR, TABLE, take
from tests.properties.runs import examples


def refuse(address: str) -> Any:
    """Fetch nothing."""
    raise AssertionError(address)


def compile_original(schema: Any) -> Any:
    """Compile a schema as its own draft has it."""
    return jsonschema_rs.validator_for(schema, retriever=refuse)


@pytest.mark.parametrize("name", TABLE)
def test_it_takes_what_the_original_takes(name: str) -> None:
    """Judged by the original's own draft, where that is one that the validator reads."""
    schema, fitting, unfit = TABLE[name]
    made = jsonschema_rs.Draft202012Validator(normalize_schema(schema), retriever=refuse)
    original = compile_original(schema)

    assert [made.is_valid(it) for it in (*fitting, *unfit)] == [True] * len(fitting) + [False] * len(unfit)
    assert [original.is_valid(it) for it in (*fitting, *unfit)] == [True] * len(fitting) + [False] * len(unfit)


_GONE = frozenset(
    "$dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef additionalItems definitions dependencies".split()
)


@pytest.mark.parametrize("name", TABLE)
def test_it_is_plain(name: str) -> None:
    """Pointers into itself, and objects alone; once more, it stays as it is."""
    made = normalize_schema(TABLE[name].schema)
    nodes = list_schemas(made)

    assert all(node["$ref"].startswith("#") for node in nodes if "$ref" in node)
    assert not _GONE & {key for node in nodes for key in node}
    assert not any(isinstance(it, bool) for node in nodes for it in node.get("properties", {}).values())
    assert normalize_schema(made) == made


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_in_it_is_named(name: str) -> None:
    """With its place, what it says, and why that cannot be."""
    schema, words = REFUSED[name]

    with pytest.raises(SchemaUnfit) as caught:
        normalize_schema(take({"a": INT, "p": schema}))

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        (take({"a": True, "b": False}, additionalProperties=False), take({"a": {}}, additionalProperties=False)),
        ({"properties": {"b": False}}, {"properties": {}, "propertyNames": {"not": {"enum": ["b"]}}}),
        ({"items": [INT, STR]}, {"prefixItems": [INT, STR], "items": {}}),
        ({"items": [INT], "additionalItems": False, "maxItems": 0}, {"prefixItems": [INT], "items": {}, "maxItems": 0}),
        ({"items": [INT], "additionalItems": True}, {"prefixItems": [INT], "items": {}}),
        ({"items": INT, "additionalItems": False}, {"items": INT}),
        ({"items": []}, {"items": {}}),
        ({"items": False}, {"items": {}, "maxItems": 0}),
        ({"if": STR, "then": False}, {"allOf": [{"not": STR}]}),
        ({"if": STR, "then": False, "else": INT}, {"allOf": [{"not": STR}, INT]}),
        ({"if": STR, "else": False, "allOf": [INT]}, {"allOf": [INT, STR]}),
        ({"if": STR, "then": True, "else": False}, {"allOf": [STR, {}]}),
        (
            {"if": STR, "then": False, "not": {"$ref": "#/if"}},
            {"allOf": [{"not": STR}], "not": {"$ref": "#/$defs/if"}, "$defs": {"if": STR}},
        ),
        (
            {"properties": {"a": INT, "b": {"$ref": "#/properties/a"}}, "dependencies": {"a": False}},
            {
                "properties": {"b": {"$ref": "#/$defs/a"}},
                "propertyNames": {"not": {"enum": ["a"]}},
                "$defs": {"a": INT},
            },
        ),
        (
            {"properties": {"a": INT}, "dependentSchemas": {"a": False, "b": STR}, "additionalProperties": False},
            {"properties": {}, "dependentSchemas": {"b": STR}, "additionalProperties": False},
        ),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"dependentSchemas": {"a": {"required": ["b"]}}}),
        (
            {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#/definitions/A"}}, "definitions": {"A": INT}},
            {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": INT}},
        ),
        ({"$schema": DRAFT_2020, **INT}, {"$schema": DRAFT_2020, **INT}),
        ({"$schema": "https://a.example/dialect", **INT}, INT),
        ({"$schema": 7, **INT}, INT),
        ({"$id": "http://a.example/x", "$vocabulary": {"a": True}, **INT}, INT),
        ({"$schema": DRAFT_4, "id": "http://a.example/x", **INT}, INT),
        (
            {"$schema": DRAFT_2019, "$ref": "#/$defs/A", "maximum": 3, "$defs": {"A": INT}},
            {"$ref": "#/$defs/A", "maximum": 3, "$defs": {"A": INT}},
        ),
        ({"contentSchema": {"$ref": "#/$defs/A"}, **STR, "$defs": {"A": INT}}, {**STR, "$defs": {"A": INT}}),
        (
            {"$schema": DRAFT_2020, **take({"a": {"$ref": "#"}})},
            {
                "$schema": DRAFT_2020,
                **take({"a": {"$ref": "#/$defs/root"}}),
                "$defs": {"root": take({"a": {"$ref": "#/$defs/root"}})},
            },
        ),
        ({"contentSchema": {"items": [INT]}, **STR}, {"contentSchema": {"prefixItems": [INT], "items": {}}, **STR}),
        (
            {"$ref": "#/$defs/Page%3CItem%3E", "$defs": {"Page<Item>": {"items": {"$ref": "#/$defs/~0"}}, "~": INT}},
            {"$ref": "#/$defs/Page_Item_", "$defs": {"Page_Item_": {"items": {"$ref": "#/$defs/_"}}, "_": INT}},
        ),
        (
            {"properties": {"a b": INT, "c": {"$ref": "#/properties/a%20b"}}},
            {"properties": {"a b": INT, "c": {"$ref": "#/$defs/a_b"}}, "$defs": {"a_b": INT}},
        ),
        (
            {"$id": "a", "items": {"$ref": DRAFT_4}, "not": {"$ref": DRAFT_2020}},
            {
                "items": {"$ref": "#/$defs/schema"},
                "not": {"$ref": "#/$defs/schema"},
                "$defs": {"schema": {"type": ["object", "boolean"]}},
            },
        ),
        (
            {"items": {"$ref": "#/%24defs/a"}, "$defs": {"a": INT}},
            {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": INT}},
        ),
        (True, {}),
        (False, {"not": {}}),
        ({"properties": []}, {"properties": []}),
        ({"properties": {"a": 7}}, {"properties": {"a": 7}}),
        ({"anyOf": {}, "items": 7, "dependencies": 7, "$defs": []}, {"anyOf": {}, "items": 7, "$defs": []}),
    ],
)
def test_each_form_has_one_word(schema: Any, made: Schema) -> None:
    """What is no schema stays, for the validator to name."""
    assert normalize_schema(schema) == made


def test_a_name_that_nobody_needs_stays_where_it_is_the_documents() -> None:
    """Programs that know the server's schema find it there."""
    schema = {"$schema": DRAFT_2020, "$defs": {"a": {"$anchor": "A", **INT}, "b": {"$id": "b", "$anchor": "B", **STR}}}

    assert normalize_schema(schema)["$defs"] == {"a": {"$anchor": "A", **INT}, "b": STR}


def test_what_is_shared_stays_shared() -> None:
    """Sixty definitions that use each other twice are sixty."""
    chain = {f"D{i}": {"properties": {"a": {"$ref": f"#D{i + 1}"}, "b": {"$ref": f"#D{i + 1}"}}} for i in range(60)}
    named = {name: {"$anchor": name, **it} for name, it in {**chain, "D60": INT}.items()}

    made = normalize_schema({"$ref": "#D0", "$defs": named})

    assert made["$ref"] == "#/$defs/D0"
    assert len(list_schemas(made)) == 1 + 61 + 120


def test_what_stands_inside_each_other_is_written_once() -> None:
    """However many references lead into it."""
    place: dict[str, Any] = INT
    for _ in range(50):
        place = {"properties": {"a": place}}
    pointers = [f"#/own{'/properties/a' * depth}" for depth in range(50, -1, -1)]

    made = normalize_schema({"anyOf": [{"$ref": pointer} for pointer in pointers], "own": place})

    assert len(list_schemas(made)) < 250


def _nest(depth: int) -> Schema:
    schema: Schema = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def _hold_itself() -> Schema:
    schema: Schema = {"properties": {}}
    schema["properties"]["a"] = schema
    return schema


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (_nest(101), "more than 100 schemas in it stand inside each other"),
        (_nest(5000), "more than 100 schemas in it stand inside each other"),
        ({"own": _nest(5000), "$ref": "#/own"}, "more than 100 schemas in it stand inside each other"),
        (_hold_itself(), "more than 100 schemas in it stand inside each other"),
        ({"anyOf": [{}] * 20_000}, "there are more than 20000 schemas in it"),
    ],
    ids=["deep", "deeper", "apart", "endless", "wide"],
)
def test_what_is_too_large_is_refused(schema: Schema, words: str) -> None:
    """Before anything walks it."""
    with pytest.raises(SchemaUnfit, match=words):
        normalize_schema(schema)


def test_the_deepest_is_taken() -> None:
    """There is one place for each bound."""
    assert normalize_schema(_nest(100)) == _nest(100)


_LEAVES = st.sampled_from(
    [True, False, INT, STR, {"type": "null"}, {"enum": ["a", 1]}, {"minimum": 1}, {"const": {"$ref": "x"}}]
)
_REFERENCES = st.sampled_from(
    [{"$ref": it} for it in ("#", "#/definitions/A", "#/definitions/B", "#/definitions/A/items")]
)
_NAMES = st.sampled_from(["a", "b"])


def _combine(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Make schemas of draft 7 of others."""
    named = st.dictionaries(_NAMES, inner, max_size=2)
    some = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.fixed_dictionaries(
            {"properties": named}, optional={"additionalProperties": inner, "required": st.just(["a"])}
        ),
        st.fixed_dictionaries({"items": st.one_of(inner, some)}, optional={"additionalItems": inner}),
        st.fixed_dictionaries({}, optional={"anyOf": some, "not": inner, "contains": inner}),
        st.fixed_dictionaries({"if": inner}, optional={"then": inner, "else": inner}),
        st.fixed_dictionaries({"dependencies": st.dictionaries(_NAMES, st.one_of(inner, st.just(["b"])), max_size=2)}),
        st.fixed_dictionaries({"patternProperties": named, "properties": named}, optional={"propertyNames": inner}),
    )


_SCHEMAS = st.recursive(_LEAVES, _combine, max_leaves=8)
_VALUES = st.recursive(
    st.sampled_from([None, True, 0, 1, "a", "b"]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=2)),
    max_leaves=6,
)


@examples(150)
@given(
    st.fixed_dictionaries({"A": _SCHEMAS, "B": st.one_of(_SCHEMAS, st.fixed_dictionaries({"items": _REFERENCES}))}),
    st.one_of(_SCHEMAS, st.fixed_dictionaries({"properties": st.dictionaries(_NAMES, _REFERENCES)})),
    st.lists(_VALUES, min_size=8, max_size=8),
)
def test_any_schema_of_draft_7_means_the_same(definitions: dict[str, Any], root: Any, values: list[Any]) -> None:
    """For any value."""
    schema = {"$schema": DRAFT_7, **(root if isinstance(root, dict) else {"not": {}}), "definitions": definitions}
    try:
        original, made = compile_original(schema), normalize_schema(schema)
    except ValueError:  # A pointer to what this one has not.
        return
    note(made)

    assert [jsonschema_rs.Draft202012Validator(made).is_valid(it) for it in values] == [
        original.is_valid(it) for it in values
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("keyword", ["default", "const", "enum", "examples", "maximum"])
def test_numbers_that_json_has_not_are_refused(keyword: str, value: float) -> None:
    """They would make every list that holds them no JSON."""
    held = [1, value] if keyword in ("enum", "examples") else value

    with pytest.raises(SchemaUnfit, match="holds NaN or Infinity"):
        normalize_schema({"type": "object", "properties": {"a": {"type": "number", keyword: held}}})
