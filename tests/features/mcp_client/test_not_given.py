"""What a model does not give is not sent: defaults are the server's business, and null may mean "not given"."""

from collections.abc import Mapping
from typing import Any

import pytest

from sidecall.features.mcp_client.link import ListedTool, RemoteAnswer
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.tools import make_remote_tool
from sidecall.kernel.core.context import ToolContext
from tests.kit.clients import MakeClient

TEXT = {"type": "string"}
NUMBER = {"type": "integer", "default": 3}
OPTIONAL = {"anyOf": [TEXT, {"type": "null"}], "default": None}
UNSAID = {"type": "string", "default": None}


def describe(*required: str, **properties: Any) -> dict[str, Any]:
    """Describe an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


def tagged(tag: str, **properties: Any) -> dict[str, Any]:
    """Describe a member of a union that says which one it is."""
    return describe("kind", kind={"const": tag}, **properties)


TREE = describe(size=NUMBER, next={"$ref": "#/$defs/Tree"})
CASES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    # Defaults, no matter what they are and where they stand.
    (describe(a=UNSAID), {}, {}),
    (describe(a=OPTIONAL), {}, {}),
    (describe(a=NUMBER), {}, {}),
    (describe(a={"default": [1]}), {}, {}),
    (describe(a={"enum": ["x", "y"], "default": "x"}), {}, {}),
    (describe(a={**describe(b=NUMBER), "default": {"b": 1}}), {}, {}),
    (describe(a=describe(b=NUMBER, c=UNSAID)), {"a": {}}, {"a": {}}),
    (describe(a={"type": "array", "items": describe(b=NUMBER)}), {"a": [{}]}, {"a": [{}]}),
    (describe(a={"type": "array", "prefixItems": [describe(b=NUMBER)]}), {"a": [{}]}, {"a": [{}]}),
    (describe(a={"type": "object", "additionalProperties": describe(b=NUMBER)}), {"a": {"k": {}}}, {"a": {"k": {}}}),
    (describe(a={"anyOf": [describe(b=NUMBER), {"type": "null"}]}), {"a": {}}, {"a": {}}),
    (describe(a={"allOf": [describe(b=NUMBER)]}), {"a": {}}, {"a": {}}),
    ({**describe(a={"$ref": "#/$defs/Tree"}), "$defs": {"Tree": TREE}}, {"a": {"next": {}}}, {"a": {"next": {}}}),
    # Null that the schema takes is what was said.
    (describe(a=OPTIONAL), {"a": None}, {"a": None}),
    (describe(a={"type": ["string", "null"]}), {"a": None}, {"a": None}),
    (describe(a={"enum": ["x", None]}), {"a": None}, {"a": None}),
    (describe(a={}), {"a": None}, {"a": None}),
    (describe("a", a={"type": "null"}), {"a": None}, {"a": None}),
    (describe(a=describe(b=OPTIONAL)), {"a": {"b": None}}, {"a": {"b": None}}),
    # Null that it does not take is not given.
    (describe(a=UNSAID), {"a": None}, {}),
    (describe(a={"const": "x"}), {"a": None}, {}),
    (describe(a={"type": "string", "minLength": 1}), {"a": None}, {}),
    (describe(a=describe(b=NUMBER)), {"a": None}, {}),
    (describe(a=describe(b=NUMBER, c=TEXT)), {"a": {"b": None, "c": None}}, {"a": {}}),
    (describe(a={"type": "array", "items": describe(b=NUMBER)}), {"a": [{"b": None}, {"b": 1}]}, {"a": [{}, {"b": 1}]}),
    (
        {**describe(a={"$ref": "#/$defs/Tree"}), "$defs": {"Tree": TREE}},
        {"a": {"size": None, "next": {"size": None, "next": None}}},
        {"a": {"next": {}}},
    ),
    (describe(a={"allOf": [describe(b=NUMBER), describe(c=TEXT)]}), {"a": {"b": None, "c": None}}, {"a": {}}),
    (
        describe(a={"type": "object", "additionalProperties": describe(b=NUMBER)}),
        {"a": {"k": {"b": None}}},
        {"a": {"k": {}}},
    ),
    # In unions too, of which the member is known.
    (
        describe(a={"anyOf": [describe(b=NUMBER, c=OPTIONAL), {"type": "null"}]}),
        {"a": {"b": None, "c": None}},
        {"a": {"c": None}},
    ),
    (
        describe(a={"oneOf": [tagged("x", b=NUMBER), tagged("y", c=TEXT)]}),
        {"a": {"kind": "y", "c": None}},
        {"a": {"kind": "y"}},
    ),
    (
        describe(a={"anyOf": [tagged("x", b=NUMBER), tagged("y", c=TEXT)]}),
        {"a": {"kind": "x", "b": None}},
        {"a": {"kind": "x"}},
    ),
    (
        describe(a={"type": "array", "items": {"anyOf": [describe(b=describe(c=NUMBER)), TEXT]}}),
        {"a": [{"b": {"c": None}}, "x"]},
        {"a": [{"b": {}}, "x"]},
    ),
    (
        describe(a={"anyOf": [describe(b=NUMBER, c=TEXT), describe(d=TEXT)]}),
        {"a": {"b": 1, "c": None}},
        {"a": {"b": 1}},
    ),
    # Of free keys nothing is known.
    (
        describe(a={"anyOf": [describe(b=NUMBER), {"type": "object", "additionalProperties": True}]}),
        {"a": {"k": None}},
        {"a": {"k": None}},
    ),
]


async def answer(_: str, args: Mapping[str, Any], __: ToolContext, ___: Mapping[str, str]) -> RemoteAnswer:
    """Answer with what was sent."""
    return RemoteAnswer([{"type": "text", "text": "sent"}], has_value=True, value=dict(args))


def make(schema: dict[str, Any]) -> Any:
    """Make a tool of a server."""
    entry = UpstreamEntry.model_validate({"url": "http://a/mcp"})
    return make_remote_tool("a", entry, ListedTool(name="see", input_schema=schema), "see", answer)


@pytest.mark.parametrize(("schema", "args", "sent"), CASES)
async def test_what_is_not_given_is_not_sent(
    make_client: MakeClient, schema: dict[str, Any], args: dict[str, Any], sent: dict[str, Any]
) -> None:
    """At any depth."""
    client = await make_client(make(schema))

    message = (await client.post("/tool_calls", json={"name": "see", "args": args, "id": "1"})).json()

    assert message["artifact"] == {"structured_content": sent}


@pytest.mark.parametrize(
    ("schema", "args", "place"),
    [
        (describe("a", a=UNSAID), {"a": None}, ["a"]),
        (describe(a={"type": "array", "items": TEXT}), {"a": [None]}, ["a", 0]),
        (describe(a={"type": "object", "additionalProperties": TEXT}), {"a": {"k": None}}, ["a", "k"]),
        (describe(a={"anyOf": [describe("b", b=TEXT), {"type": "null"}]}), {"a": {"b": None}}, ["a", "b"]),
    ],
)
async def test_null_for_what_has_to_be_there_is_refused(
    make_client: MakeClient, schema: dict[str, Any], args: dict[str, Any], place: list[Any]
) -> None:
    """It is named as what is wrong."""
    client = await make_client(make(schema))

    message = (await client.post("/tool_calls", json={"name": "see", "args": args, "id": "1"})).json()
    entry = message["response_metadata"]["error"]["errors"][0]

    assert (entry["loc"], entry["msg"]) == (place, "Input should be a string")
