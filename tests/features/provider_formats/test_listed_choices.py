"""Tools whose arguments are a choice of objects are listed as each provider takes them, and called as they are."""

import json
from typing import Any

import pytest
from anthropic.types import ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import BaseModel, ConfigDict, TypeAdapter

from sidecall import BaseTool, tool
from sidecall.kernel.core.tool import Schema
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.schemas import CHOICES

TEXT = {"type": "string"}
ROUTE: Schema = {
    "type": "object",
    "properties": {"route": TEXT, "file": TEXT},
    "anyOf": [{"required": ["route"]}, {"required": ["file"]}],
}
SAID = "Send route or file."
ONE = {"type": "object", "properties": {"route": TEXT, "file": TEXT}, "description": SAID}
OR_NULL = {"anyOf": [TEXT, {"type": "null"}]}
STRICT = {
    "type": "object",
    "properties": {"route": OR_NULL, "file": OR_NULL},
    "description": SAID,
    "required": ["route", "file"],
    "additionalProperties": False,
}
NAMED = {"name": "open", "description": f"Open.\n\n{SAID}"}


def make_opening(schema: Any, name: str = "open") -> BaseTool:
    """Make a tool that answers with its arguments."""

    @tool(name, args_schema=schema)
    async def opened(**given: Any) -> str:
        """Open."""
        return json.dumps(given)

    return opened


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("format=openai", {"type": "function", "function": {**NAMED, "parameters": ONE}}),
        (
            "format=openai&strict=true",
            {"type": "function", "function": {**NAMED, "parameters": STRICT, "strict": True}},
        ),
        ("format=openai-responses", {"type": "function", **NAMED, "parameters": ONE, "strict": False}),
        ("format=openai-responses&strict=true", {"type": "function", **NAMED, "parameters": STRICT, "strict": True}),
        ("format=anthropic", {**NAMED, "input_schema": ONE}),
        (
            "format=anthropic&strict=true",
            {**NAMED, "input_schema": {**ONE, "additionalProperties": False}, "strict": True},
        ),
        ("format=json_schema", {"title": "open", "description": "Open.", **ROUTE}),
        ("format=json_schema&strict=true", {"title": "open", "description": "Open.", **ROUTE}),
    ],
)
async def test_a_choice_is_listed_as_the_form_has_it(make_client: MakeClient, query: str, expected: Any) -> None:
    """OpenAI and Anthropic refuse a request with a choice at a root; the others take it as it is."""
    client = await make_client(make_opening(ROUTE))

    assert (await client.get(f"/tools?{query}")).json() == [expected]


@pytest.mark.parametrize("strict", ["true", "false"])
async def test_mcp_has_the_choice_itself(make_client: MakeClient, strict: str) -> None:
    """Its clients check arguments by the schema themselves."""
    client = await make_client(make_opening(ROUTE))

    [listed] = (await client.get("/tools", params={"format": "mcp", "strict": strict})).json()

    assert (listed["description"], listed["inputSchema"]) == ("Open.", ROUTE)


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize(
    ("form", "path", "accepted"),
    [
        ("openai", ("function", "parameters"), ChatCompletionFunctionToolParam),
        ("openai-responses", ("parameters",), FunctionToolParam),
        ("anthropic", ("input_schema",), ToolParam),
    ],
)
async def test_no_listing_has_a_choice_at_a_root(
    make_client: MakeClient, form: str, path: tuple[str, ...], accepted: Any, strict: str
) -> None:
    """No matter what the choice is made of."""
    client = await make_client(*(make_opening(schema, f"t{number}") for number, schema in enumerate(CHOICES.values())))

    listing = (await client.get("/tools", params={"format": form, "strict": strict})).json()

    assert len(listing) == len(CHOICES)
    assert TypeAdapter(list[accepted]).validate_python(listing) == listing
    for listed in listing:
        schema = listed
        for step in path:
            schema = schema[step]
        assert schema["type"] == "object"
        refused = {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref", "dependentRequired"}
        assert refused.isdisjoint(schema), schema


async def test_a_model_of_pydantic_may_say_a_choice(make_client: MakeClient) -> None:
    """In the words of JSON Schema, beside its fields."""

    class Opened(BaseModel):
        """What to open."""

        model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["route"]}, {"required": ["file"]}]})
        route: str | None = None
        file: str | None = None

    client = await make_client(make_opening(Opened))

    [listed] = (await client.get("/tools")).json()

    assert "anyOf" not in listed["function"]["parameters"]
    assert listed["function"]["parameters"]["description"] == SAID


@pytest.mark.parametrize(
    ("schema", "args", "expected"),
    [
        ("any of what is required", {"route": "a"}, {"route": "a"}),
        ("any of what is required", {"route": "a", "file": None}, {"route": "a"}),
        ("any of what is required", {"route": "a", "file": "b"}, {"route": "a", "file": "b"}),
        ("any of what is required", {}, None),
        ("any of what is required", {"route": None, "file": None}, None),
        ("one of what is required", {"file": "b", "route": None}, {"file": "b"}),
        ("one of what is required", {"route": "a", "file": "b"}, None),
        ("one of objects", {"kind": "cat", "lives": 3, "tail": None}, {"kind": "cat", "lives": 3}),
        ("one of objects", {"kind": "dog", "lives": None, "tail": True}, {"kind": "dog", "tail": True}),
        ("one of objects", {"kind": "cow", "lives": None, "tail": None}, None),
        ("one of references", {"kind": "cat", "lives": None, "tail": None}, {"kind": "cat"}),
        ("all of", {"x": "a", "y": 1}, {"x": "a", "y": 1}),
        ("all of", {"x": "a"}, None),
        ("a condition", {"kind": "b", "x": None}, {"kind": "b"}),
        ("a condition", {"kind": "a", "x": None}, None),
        ("what goes with another", {"a": None, "b": None, "c": None}, {}),
        ("what goes with another", {"a": "1", "b": None, "c": None}, None),
        ("not both", {"a": "1", "b": None}, {"a": "1"}),
        ("not both", {"a": "1", "b": "2"}, None),
        ("whole objects", {"a": 1, "b": None}, {"a": 1}),
        ("whole objects", {"a": 3}, None),
        ("one whole object", {"a": 2}, None),
    ],
)
async def test_a_call_is_held_to_the_choice(
    make_client: MakeClient, schema: str, args: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """Null for what may be left out is not sent on; what the listed object takes and the choice does not is refused."""
    client = await make_client(make_opening(CHOICES[schema]))

    message = (await client.post("/tool_calls", json=write_call("open", **args))).json()

    if expected is None:
        assert message["response_metadata"]["error"]["kind"] == "invalid_arguments"
    else:
        assert (message["status"], json.loads(message["content"])) == ("success", expected)


@pytest.mark.parametrize("kind", [["object", "null"], ["object"]])
async def test_a_list_of_types_at_the_root_is_an_object(make_client: MakeClient, kind: list[str]) -> None:
    """In each form."""
    client = await make_client(make_opening({"type": kind, "properties": {"route": TEXT}, "required": ["route"]}))
    expected = {"type": "object", "properties": {"route": TEXT}, "required": ["route"]}

    [chat] = (await client.get("/tools")).json()
    [mcp] = (await client.get("/tools?format=mcp")).json()
    message = (await client.post("/tool_calls", json=write_call("open", route="a"))).json()

    assert (chat["function"]["parameters"], mcp["inputSchema"]) == (expected, expected)
    assert message["status"] == "success"
