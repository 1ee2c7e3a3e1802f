"""The schemas of a document are read in each draft's words, and nothing that they name is fetched."""

import json
import socket
from typing import Any

import pytest

from sidecall import from_openapi
from tests.compiler.normal.table import DRAFT_7, ELSEWHERE, INT, STR, take
from tests.features.openapi_import.test_from_openapi import compile_all, document

REF = "#/components/schemas/"


def post(schema: Any, version: str = "3.1.0", **schemas: Any) -> dict[str, Any]:
    """Write a document with an operation of this body, and one without."""
    body = {"content": {"application/json": {"schema": take({"p": schema})}}}
    paths = {"/a": {"post": {"operationId": "give", "requestBody": body}}, "/b": {"get": {"operationId": "get"}}}
    return document(paths, version, components={"schemas": schemas})


@pytest.mark.parametrize(
    ("version", "schema", "read"),
    [
        ("3.1.0", True, {}),
        ("3.1.0", {"anyOf": [True, STR]}, {"anyOf": [{}, STR]}),
        ("3.1.0", {"type": "array", "items": True}, {"type": "array", "items": {}}),
        (
            "3.1.0",
            {"type": "array", "prefixItems": [INT], "items": False},
            {"type": "array", "prefixItems": [INT], "items": {}, "maxItems": 1},
        ),
        (
            "3.1.0",
            {"type": "array", "items": [INT, {"$ref": f"{REF}S"}]},
            {"type": "array", "prefixItems": [INT, STR], "items": {}},
        ),
        ("3.1.0", take({"a": True, "b": False}), take({"a": {}})),
        ("3.1.0", take({}, dependencies={"a": ["b"]}), take({}, dependentRequired={"a": ["b"]})),
        ("3.1.0", {"$ref": "#Named"}, INT),
        ("3.1.0", {"$dynamicRef": "#Named"}, INT),
        ("3.1.0", {"$ref": "https://a.example/own.json"}, {"$defs": {"x": INT}, **STR}),
        ("3.1.0", {"$ref": "own.json#/$defs/x"}, INT),
        ("3.1.0", {"$schema": "https://a.example/dialect", "$id": "https://a.example/x", **INT}, INT),
        ("3.1.0", {"contentSchema": {"$ref": f"{REF}S"}, **STR}, STR),
        ("3.0.3", {**INT, "minimum": 0, "exclusiveMinimum": True}, {**INT, "exclusiveMinimum": 0}),
        ("3.0.3", {**INT, "maximum": 9, "exclusiveMaximum": False}, {**INT, "maximum": 9}),
        ("3.1.0", {"$ref": DRAFT_7}, {"type": ["object", "boolean"]}),
        ("3.0.3", {**STR, "nullable": True}, {"type": ["string", "null"]}),
        ("3.0.3", {"$ref": f"{REF}S", "type": "integer"}, STR),
    ],
)
def test_each_form_has_one_word(version: str, schema: Any, read: Any) -> None:
    """That of draft 2020-12, with references in place."""
    own = {"$id": "https://a.example/own.json", "$defs": {"x": INT}, **STR}
    written = post(schema, version, S=STR, N={"$anchor": "Named", **INT}, Own=own)

    made = compile_all(written)["give"].args_schema

    assert made.flat["properties"]["p"] == read


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": f"http:{ELSEWHERE}/x.json"}, "it refers to another document: http:"),
        ({"$ref": f"{ELSEWHERE}/x.json"}, "it refers to another document: //"),
        ({"$ref": "file:///etc/passwd"}, "it refers to another document: file:///etc/passwd"),
        ({"$dynamicRef": f"http:{ELSEWHERE}/x.json#a"}, "it refers to another document: http:"),
        ({"$id": f"http:{ELSEWHERE}/", "items": {"$ref": "x.json"}}, "it refers to another document: x.json"),
        ({"dependencies": {"a": {"$ref": f"http:{ELSEWHERE}/x.json"}}}, "it refers to another document: http:"),
        ({"items": [{"$ref": f"http:{ELSEWHERE}/x.json"}]}, "it refers to another document: http:"),
        ({"contentSchema": {"$ref": f"http:{ELSEWHERE}/x.json"}}, "it refers to another document: http:"),
        ({"$ref": "#Nobody"}, "there is nothing at #Nobody"),
        ({"$ref": f"{REF}Nobody"}, "there is nothing at #/components/schemas/Nobody"),
        ({"$ref": "#Twice"}, "several schemas are called #Twice"),
    ],
)
def test_an_operation_that_names_another_document_is_left_out_unfetched(schema: Any, reason: str) -> None:
    """With its reason; the others are there."""
    twice = {"A": {"$id": "a", "$anchor": "Twice"}, "B": {"$id": "b", "$anchor": "Twice"}}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = f"//127.0.0.1:{listener.getsockname()[1]}"
        kit = from_openapi(json.loads(json.dumps(post(schema, **twice)).replace(ELSEWHERE, here)))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()

    assert [tool.name for tool in kit.get_tools()] == ["get"]
    assert reason in kit.skipped["POST /a (give)"]
