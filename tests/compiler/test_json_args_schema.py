"""A JSON Schema as args_schema is enforced, and its defaults are applied."""

from typing import Annotated, Any

import pytest

from sidecall import InjectedToolCallId, ToolMessage, tool
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from tests.kit.calls import run

SCHEMA: dict[str, Any] = {
    "title": "search",
    "type": "object",
    "description": "Search something.",
    "properties": {
        "query": {"type": "string", "title": "Query", "minLength": 2},
        "limit": {"type": "integer", "default": 5, "maximum": 10},
        "box": {"$ref": "#/$defs/Box"},
        "sorted": {"type": "array", "items": {"enum": ["up", "down"]}, "default": []},
    },
    "required": ["query"],
    "$defs": {
        "Box": {
            "type": "object",
            "properties": {"w": {"type": "number"}, "unit": {"type": "string", "default": "cm"}},
            "required": ["w"],
            "additionalProperties": False,
        }
    },
}


@tool(args_schema=SCHEMA)
def search(query: str, limit: int, sorted: list[str], box: Any = None, *, call_id: Annotated[str, InjectedToolCallId]):
    """Search."""
    return [query, limit, sorted, box, call_id]


async def call(**args: Any) -> ToolMessage:
    """Call the tool."""
    return await run(search, args)


def test_the_schema_is_advertised_as_it_is() -> None:
    """Without titles, and flat for models."""
    assert search.compiled.args_schema.flat == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 2},
            "limit": {"type": "integer", "default": 5, "maximum": 10},
            "box": {
                "type": "object",
                "properties": {"w": {"type": "number"}, "unit": {"type": "string", "default": "cm"}},
                "required": ["w"],
                "additionalProperties": False,
            },
            "sorted": {"type": "array", "items": {"enum": ["up", "down"]}, "default": []},
        },
        "required": ["query"],
    }


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"query": "tea"}, '["tea", 5, [], null, "call_1"]'),
        ({"query": "tea", "limit": 3, "sorted": ["up"]}, '["tea", 3, ["up"], null, "call_1"]'),
        ({"query": "tea", "box": {"w": 1.5}}, '["tea", 5, [], {"w": 1.5, "unit": "cm"}, "call_1"]'),  # at every depth
        ({"query": "tea", "call_id": "forged"}, '["tea", 5, [], null, "call_1"]'),
    ],
)
async def test_what_fits_is_passed_on_with_defaults(args: dict[str, Any], content: str) -> None:
    """As JSON has it."""
    assert (await call(**args)).content == content


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({}, "query: Field required (string, at least 2 characters)"),
        ({"query": "canary", "limit": "canary"}, "limit: Input should be an integer, at most 10"),
        ({"query": "canary", "limit": 11}, "limit: Input should be an integer, at most 10"),
        ({"query": "c"}, "query: Input should be a string, at least 2 characters"),
        ({"query": "tea", "sorted": ["up", "canary"]}, 'sorted[1]: Input should be one of "up", "down"'),
        ({"query": "tea", "box": {}}, "box.w: Field required (number)"),
        ({"query": "tea", "box": {"w": 1, "h": 2}}, "box.h: There is no such argument; the arguments are: unit, w"),
    ],
)
async def test_what_does_not_fit_is_refused(args: dict[str, Any], content: str) -> None:
    """One line per place, without what was sent."""
    message = await call(**args)

    assert message.content == content
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"
    assert "canary" not in message.model_dump_json()


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"query": object()}, "arguments: Input should be JSON: Unsupported type: 'object'"),
        (
            {"query": "tea", "box": {1: 2}},
            "arguments: Input should be JSON: Dict key must be str or str enum. Got 'int'",
        ),
    ],
)
async def test_what_is_not_json_is_refused(args: dict[str, Any], content: str) -> None:
    """Only this process can send it."""
    assert (await call(**args)).content == content


async def test_a_function_that_takes_any_name_gets_them_all() -> None:
    """Nothing is ignored."""

    @tool(args_schema={"properties": {"a": {"type": "integer"}}})
    def collect(**values: Any) -> Any:
        """Collect."""
        return values

    assert await collect.ainvoke({"a": 1, "zz": 2}) == {"a": 1, "zz": 2}


def test_the_schemas_description_serves_where_there_is_no_docstring() -> None:
    """A docstring beats it."""

    @tool(args_schema={"description": "From the schema.", "properties": {}})
    def plain() -> None:
        pass

    assert plain.compiled.description == "From the schema."
    assert search.compiled.description == "Search."


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "array"}, "args_schema: it has to describe an object, as in "),
        ({"properties": {"a": {"type": "whole"}}}, "args_schema is no JSON Schema"),
        ({"properties": {"b": {}}}, "args_schema: the function does not take b."),
    ],
)
def test_a_schema_that_cannot_be_used_stops_the_start(schema: dict[str, Any], complaint: str) -> None:
    """The tool and its file are named."""

    @tool(args_schema=schema)
    def take(a: int = 1) -> int:
        """Take."""
        return a

    with pytest.raises(SchemaInferenceError, match=complaint) as caught:
        assert take.compiled

    assert "test_json_args_schema.py" in caught.value.message


REFERRING = {
    "properties": {"box": {"$ref": "#/definitions/Box"}, "other": {"$ref": "#/properties/box"}},
    "definitions": {"Box": {"type": "object", "properties": {"w": {"type": "number", "default": 1}}}},
}


@tool(args_schema=REFERRING)
def refer(box: Any = None, other: Any = None) -> Any:
    """Refer."""
    return [box, other]


async def test_references_of_every_kind_are_put_in_place() -> None:
    """For models, and where defaults are filled in and refusals worded."""
    box = {"type": "object", "properties": {"w": {"type": "number", "default": 1}}}

    assert refer.compiled.args_schema.flat == {"type": "object", "properties": {"box": box, "other": box}}
    assert await refer.ainvoke({"box": {}, "other": {"w": 2}}) == [{"w": 1}, {"w": 2}]


def test_a_schema_may_be_a_reference_to_one_of_its_definitions() -> None:
    """As generators for other languages write it."""

    @tool(
        args_schema={"$ref": "#/definitions/Args", "definitions": {"Args": {"properties": {"a": {"type": "integer"}}}}}
    )
    def take(a: int = 1) -> int:
        """Take."""
        return a

    assert take.compiled.args_schema.flat == {"type": "object", "properties": {"a": {"type": "integer"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"type": "integer"}}},
        {"properties": {"a": {"type": "integer"}}, "additionalProperties": False, "anyOf": [{"required": ["a"]}, {}]},
    ],
)
async def test_unknown_arguments_can_be_forbidden(schema: dict[str, Any]) -> None:
    """The option closes a schema that leaves it open, and says so."""

    @tool(args_schema=schema, unknown_args="forbid")
    def take(**given: Any) -> Any:
        """Take."""
        return given

    message = await run(take, {"a": 1, "zz": 2})

    assert take.compiled.args_schema.flat["additionalProperties"] is False
    assert message.content == "zz: There is no such argument; the arguments are: a"


@pytest.mark.parametrize(
    ("keyword", "schema"),
    [
        ("additionalProperties", {"additionalProperties": {"type": "integer"}}),
        ("additionalProperties", {"additionalProperties": True}),
        ("allOf", {"allOf": [{"properties": {"b": {}}}]}),
        ("$ref", {"$ref": "#"}),
    ],
)
def test_a_schema_that_may_want_more_cannot_be_closed_by_an_option(keyword: str, schema: dict[str, Any]) -> None:
    """It can say for itself what it refuses."""

    def take(**given: Any) -> Any:
        """Take."""

    with pytest.raises(InvalidToolOption) as caught:
        _ = tool(args_schema=schema, unknown_args="forbid")(take).compiled

    assert caught.value.message.endswith(
        f"tool 'take': unknown_args='forbid' and args_schema, which has `{keyword}`, may contradict each other; say in"
        " the schema itself which arguments are refused, and leave unknown_args out."
    )
