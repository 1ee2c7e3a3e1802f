"""Operations of a document become tools: their names, arguments, options, and why some do not."""

import logging
from typing import Any

import pytest

from sidecall import Registry, Secret, from_openapi
from sidecall.kernel.core.errors import DefinitionError, InvalidToolOption
from sidecall.kernel.core.tool import CompiledTool

URL = "https://api.example.com/v1"


def document(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    """Write a document."""
    return {
        "openapi": version,
        "info": {"title": "T", "version": "1"},
        "servers": [{"url": URL}],
        "paths": paths,
    } | more


def compile_all(written: dict[str, Any], **options: Any) -> dict[str, CompiledTool]:
    """Return the tools of a document by their names."""
    return {tool.name: tool.compiled for tool in from_openapi(written, **options).get_tools()}


def flat(written: dict[str, Any]) -> Any:
    """Return the arguments of the only tool of a document."""
    (tool,) = compile_all(written).values()
    return tool.args_schema.flat


GET = {"operationId": "get", "summary": "Get it.", "responses": {}}


def test_names_are_such_as_every_provider_takes() -> None:
    """Cleaned, at most 64 long, each its own; the document's name stands before them."""
    long = "o" * 80
    paths = {
        "/a": {"get": {"operationId": "repos/get-all"}, "post": {"operationId": "repos.get-all"}},
        "/b/{id}": {"parameters": [{"name": "id", "in": "path", "schema": {}}], "get": {}},
        "/c": {"get": {"operationId": long}, "put": {"operationId": long}},
    }

    names = list(compile_all(document(paths), name="hub"))

    assert (names[0], names[2]) == ("hub__repos_get-all", "hub__get_b_id")
    assert names[1].startswith("hub__repos_get-all_")
    assert len(set(names)) == 5
    assert all(len(name) <= 64 for name in names)
    assert all(name.startswith("hub__") for name in names)


BODY = {
    "type": "object",
    "required": ["id", "name", "made"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "made": {"type": "string", "readOnly": True},
    },
}


def test_parameters_and_body_become_one_object() -> None:
    """Two of one name both have a place; what only answers have is left out."""
    operation = {
        "operationId": "put",
        "parameters": [
            {"name": "id", "in": "query", "schema": {"type": "string"}, "description": "Which."},
            {"name": "$filter[x]", "in": "query", "schema": {"type": "boolean"}},
            {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": BODY}}},
    }
    paths = {"/{id}": {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}], "put": operation}}

    assert flat(document(paths)) == {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "id_query": {"type": "string", "description": "Which."},
            "filter_x": {"type": "boolean"},
            "id_body": {"type": "integer"},
            "name": {"type": "string"},
        },
        "required": ["id", "id_body", "name"],
    }


TREES = document(
    {
        "/trees": {
            "post": {
                "operationId": "grow",
                "parameters": [{"$ref": "#/components/parameters/Page"}],
                "requestBody": {"$ref": "#/components/requestBodies/Tree"},
            }
        }
    },
    components={
        "parameters": {"Page": {"name": "page", "in": "query", "schema": {"$ref": "#/components/schemas/Number"}}},
        "requestBodies": {"Tree": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}},
        "schemas": {
            "Number": {"type": "integer", "minimum": 1},
            "Tree": {
                "type": "object",
                "properties": {"sort": {"type": "string"}, "branches": {"$ref": "#/components/schemas/Trees"}},
            },
            "Trees": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
        },
    },
)


def test_references_are_followed_also_in_circles() -> None:
    """To parameters, bodies, and schemas that hold themselves."""
    arguments = flat(TREES)

    assert arguments["properties"]["page"] == {"type": "integer", "minimum": 1}
    assert arguments["properties"]["sort"] == {"type": "string"}
    assert "Tree" in str(arguments["$defs"])


@pytest.mark.parametrize(
    ("written", "converted"),
    [
        ({"type": "string", "nullable": True, "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
            {"type": "integer", "exclusiveMinimum": 0, "maximum": 9},
        ),
        ({"type": "string", "example": "a", "x-a": 1, "xml": {}}, {"type": "string", "examples": ["a"]}),
        (
            {"allOf": [{"type": "string"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
    ],
)
def test_schemas_of_openapi_3_0_are_written_as_json_schema(written: dict[str, Any], converted: dict[str, Any]) -> None:
    """Null, exclusive bounds and examples are said otherwise there."""
    parameter = {"name": "v", "in": "query", "schema": written}
    paths = {"/": {"get": {"operationId": "get", "parameters": [parameter]}}}

    assert flat(document(paths, "3.0.3"))["properties"]["v"] == converted


@pytest.mark.parametrize(
    ("content", "arguments"),
    [
        ({"application/json": {"schema": {"type": "array", "items": {"type": "integer"}}}}, ["body"]),
        ({"application/json": {"schema": {"oneOf": [{"type": "object"}]}}}, ["body"]),
        ({"application/merge-patch+json": {"schema": {"properties": {"a": {}, "b": {}}}}}, ["a", "b"]),
        ({"text/plain": {"schema": {"type": "string"}}}, ["body"]),
        ({"application/octet-stream": {}}, ["body"]),
        (
            {
                "application/xml": {},
                "application/json": {"schema": {"allOf": [{"properties": {"a": {}}}, {"required": ["a"]}]}},
            },
            ["a"],
        ),
    ],
)
def test_a_body_that_has_no_members_is_one_argument(content: dict[str, Any], arguments: list[str]) -> None:
    """JSON goes before all else that a service takes."""
    paths = {"/": {"post": {"operationId": "post", "requestBody": {"required": True, "content": content}}}}

    assert list(flat(document(paths))["properties"]) == arguments


def test_what_reads_is_told_from_what_writes() -> None:
    """In annotations, by tags, and by who has to approve it."""
    paths = {"/": {"get": {**GET, "tags": ["x"]}, "delete": {"operationId": "remove"}, "put": {"operationId": "put"}}}

    tools = compile_all(document(paths), name="api", requires_approval="writing", timeout=3)

    hints = {name: tool.options.annotations.mcp for name, tool in tools.items()}
    assert hints == {
        "api__get": {"readOnlyHint": True, "idempotentHint": True},
        "api__put": {"readOnlyHint": False, "idempotentHint": True},
        "api__remove": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
    }
    assert [tool.options.requires_approval for tool in tools.values()] == [False, True, True]
    assert [tool.options.tags for tool in tools.values()] == [("api", "x"), ("api",), ("api",)]
    assert {tool.options.timeout for tool in tools.values()} == {3}
    assert tools["api__get"].source == "the OpenAPI document, GET /"
    assert tools["api__get"].description == "Get it."


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({"operations": ["pets_*"]}, ["pets_get", "pets_add"]),
        ({"tags": ["shop"]}, ["buy"]),
        ({"paths": ["/pets*"]}, ["pets_get", "pets_add"]),
        ({"methods": ["GET"]}, ["pets_get"]),
        ({"without": ["pets_*"]}, ["buy"]),
        ({"paths": ["/pets"], "methods": ["post"]}, ["pets_add"]),
    ],
)
def test_filters_choose_operations(filters: dict[str, Any], names: list[str]) -> None:
    """By id, tag, path and method; all that are given have to fit."""
    paths = {
        "/pets": {"get": {"operationId": "pets_get"}, "post": {"operationId": "pets_add"}},
        "/orders": {"post": {"operationId": "buy", "tags": ["shop"]}},
    }

    assert list(compile_all(document(paths), **filters)) == names


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ({"parameters": [{"$ref": "other.json#/x"}]}, "it refers to another document: other.json#/x"),
        (
            {"parameters": [{"$ref": "#/components/parameters/None"}]},
            "there is nothing at #/components/parameters/None",
        ),
        ({"parameters": [{"name": "a", "in": "trailer"}]}, "its parameter 'a' stands in 'trailer'"),
        (
            {"requestBody": {"content": {"multipart/mixed": {}}}},
            "its body is of none of the types that can be sent: multipart/mixed",
        ),
        ({"parameters": [{"name": "a", "in": "query", "schema": {"type": "strnig"}}]}, "args_schema is no JSON Schema"),
    ],
)
def test_what_cannot_be_a_tool_is_named(operation: dict[str, Any], reason: str) -> None:
    """With its reason; the others are offered all the same."""
    kit = from_openapi(document({"/": {"get": GET, "post": {"operationId": "bad", **operation}}}))

    assert [tool.name for tool in kit.get_tools()] == ["get"]
    assert list(kit.skipped) == ["POST / (bad)"]
    assert reason in kit.skipped["POST / (bad)"]


def test_a_pattern_in_another_language_harms_nothing() -> None:
    """It is left out, since nothing here can read it."""
    parameter = {"name": "v", "in": "query", "schema": {"type": "string", "pattern": "[unclosed"}}

    arguments = flat(document({"/": {"get": {"operationId": "get", "parameters": [parameter]}}}))

    assert arguments["properties"]["v"] == {"type": "string"}


def test_a_pattern_that_would_take_long_is_left_to_the_service(caplog: pytest.LogCaptureFixture) -> None:
    """It is shown, and the log names it."""
    caplog.set_level(logging.INFO, "sidecall")
    parameter = {"name": "v", "in": "query", "schema": {"type": "string", "pattern": "(?=.*a)b"}}

    arguments = flat(document({"/": {"get": {"operationId": "get", "parameters": [parameter]}}}))

    assert arguments["properties"]["v"] == parameter["schema"]
    assert caplog.messages == ["the OpenAPI document, GET /: compared by the service alone: the patterns '(?=.*a)b'"]


@pytest.mark.parametrize("options", [{"auth": "text"}, {"requires_approval": "reading"}])
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    """A secret's text is none of the code's."""
    with pytest.raises(InvalidToolOption):
        from_openapi(document({"/": {"get": GET}}), **options)


def test_a_credential_is_no_argument() -> None:
    """It is filled in, and no model can set it."""
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}}
    written = document({"/": {"get": {**GET, "security": [{"key": []}]}}}, components=schemes)

    (tool,) = compile_all(written, auth=Secret("KEY")).values()

    assert [(it.source, it.field) for it in tool.injections if it.source == "secret"] == [("secret", "KEY")]
    assert tool.args_schema.flat["properties"] == {}


def test_they_stand_in_a_registry_like_others() -> None:
    """And do not go beside another tool of their name."""
    kit = from_openapi(document({"/": {"get": GET}}))

    assert Registry(kit.get_tools()).names == ["get"]
    with pytest.raises(DefinitionError):
        Registry([*kit.get_tools(), *from_openapi(document({"/": {"get": GET}})).get_tools()])
