"""Any schema is listed by the rules of Gemini's API, and what is offered is taken."""

import asyncio
import json
import re
from typing import Any

from hypothesis import given, note
from hypothesis import strategies as st

from sidecall import tool
from sidecall.features.provider_formats.gemini import to_gemini
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.kit.calls import run
from tests.kit.gemini import find_offences
from tests.properties.json_values import Values, any_json
from tests.properties.runs import examples
from tests.properties.signatures import Program, programs, running

_TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]
_VALUES = any_json | st.sampled_from(["", True, 1, None, 10**400])
_NAMES = st.sampled_from("abc")
_SCALAR_RULES: dict[str, Values] = {
    "type": st.sampled_from(_TYPES) | st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True),
    "enum": st.lists(_VALUES, max_size=4),
    "const": _VALUES,
    "default": _VALUES,
    "description": st.sampled_from(["", "It", "It is."]),
    "format": st.sampled_from(["date", "date-time", "int64", "double", "enum"]),
    "required": st.lists(_NAMES, max_size=3, unique=True),
    "nullable": st.just(True),
    "pattern": st.just("^a"),
    "uniqueItems": st.booleans(),
    "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b", "#", "#/nowhere"]),
    **dict.fromkeys("minimum maximum exclusiveMinimum exclusiveMaximum".split(), st.integers(-5, 5) | st.just(1.5)),
    **dict.fromkeys("minLength maxLength minItems maxItems maxProperties".split(), st.integers(0, 3)),
}


def _extend(inner: Values) -> Values:
    named, some = st.dictionaries(_NAMES, inner, max_size=3), st.lists(inner, min_size=1, max_size=3)
    rules = {
        **_SCALAR_RULES,
        "properties": named,
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), some),
        **dict.fromkeys(("items", "additionalProperties", "not", "if", "contains"), inner),
    }
    return st.lists(st.sampled_from(sorted(rules)), max_size=5, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: rules[key] for key in keys})
    )


_schemas = st.recursive(st.booleans() | st.builds(dict) | st.builds(lambda it: {"type": it}, st.sampled_from(_TYPES)),
                        _extend, max_leaves=12)  # fmt: skip


@given(properties=st.dictionaries(_NAMES, _schemas, min_size=1), definitions=st.fixed_dictionaries(
    {"a": _schemas, "b": _schemas}))  # fmt: skip
@examples(200)
def test_any_schema_is_written_by_the_rules(properties: dict[str, Any], definitions: dict[str, Any]) -> None:
    """With keywords that it has for the type, texts in enums, items in arrays, and defaults that fit."""
    written = to_gemini({"type": "object", "properties": properties, "$defs": definitions})

    assert written is None or list(find_offences(written)) == []


@given(program=programs())
@examples(50)
def test_any_function_is_written_by_the_rules(program: Program) -> None:
    """No matter what its parameters are."""
    note(program.source)
    with running(program) as made:
        (listed,) = render_definitions([made.tool.compiled], "gemini")
        (declaration,) = listed["functionDeclarations"]

        assert list(find_offences(declaration.get("parameters", {"type": "object"}))) == []


_NUMBERS: list[dict[str, Any]] = [
    {"enum": [1, 2]},
    {"type": "integer", "enum": [3, 4]},
    {"const": 5},
    {"enum": ["a", 1]},
    {"enum": [1.5, None]},
    {"const": True},
    {"enum": [False, 2]},
    {"enum": ["", "b"]},
    {"type": ["string", "null"], "enum": ["x", None]},
    {"oneOf": [{"const": 1}, {"const": "z"}]},
    {"type": "integer", "exclusiveMinimum": 4},
]


def _hold(inner: Values) -> Values:
    one = {"type": "object", "properties": {"v": {"const": 1}, "p": {}}, "required": ["v", "p"]}
    other = {"type": "object", "properties": {"v": {"const": 2}}, "required": ["v"]}
    return inner.flatmap(
        lambda it: st.sampled_from(
            [
                {"type": "object", "properties": {"p": it, "q": {"enum": [1, 2]}}, "required": ["p", "q"]},
                {"type": "array", "items": it},
                {"type": "array", "prefixItems": [it], "items": False},
                {"anyOf": [it, {"type": "null"}]},
                {"anyOf": [it, {"type": "boolean"}]},
                {"anyOf": [it, {"type": "array", "items": {"type": "boolean"}}]},
                {"oneOf": [{**one, "properties": {"v": {"const": 1}, "p": it}}, other]},
                {"allOf": [it, {"description": "It."}]},
                {"allOf": [{"type": "object", "properties": {"p": it}}, {"required": ["p"]}]},
            ]
        )
    )


def _choose(form: dict[str, Any], turn: int) -> Any:
    """Choose of what is offered, as a model does that reads descriptions."""
    if "anyOf" in form:
        return _choose(form["anyOf"][turn % len(form["anyOf"])], turn)
    if form["type"] == "object":
        return {name: _choose(it, turn) for name, it in form.get("properties", {}).items()}
    if form["type"] == "array":
        return [_choose(form["items"], turn)]
    if form["type"] == "string":
        return form["enum"][turn % len(form["enum"])]
    said = re.search(r"(?:Always|One of) ([^, ]+?)(?:,|\.(?: |$))", form.get("description", ""))
    return json.loads(said[1]) if said else form.get("minimum", True)


@given(schema=st.recursive(st.sampled_from(_NUMBERS), _hold, max_leaves=4), turn=st.integers(0, 2), bare=st.booleans())
@examples(150)
def test_what_is_offered_is_taken(schema: dict[str, Any], turn: int, bare: bool) -> None:
    """Numbers and booleans too, wherever they stand."""
    root = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    repeat = tool("repeat", description="Repeat.", args_schema=root if bare else {"allOf": [root]})(_repeat)
    (listed,) = render_definitions([repeat.compiled], "gemini")
    sent = _choose(listed["functionDeclarations"][0]["parameters"], turn)
    message = asyncio.run(run(repeat, sent))

    assert (message.status, message.content) == ("success", "done"), (sent, message.content)


def _repeat(**given: Any) -> str:
    return "done"
