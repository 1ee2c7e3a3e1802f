"""Listings have the form that was asked for."""

import re
from typing import Any

import pytest
from anthropic.types import ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from tests.kit.clients import MakeClient
from tests.kit.tools import ping
from tests.rest.document.test_served import book_room
from tests.rest.routes.listed import NAMED, PARAMETERS, ask, convert, search


async def test_the_page_shows_the_definition_of_a_tool_that_is_there(make_client: MakeClient) -> None:
    """In each form as the listing has it."""
    client = await make_client(book_room)
    listed = (await client.get("/openapi.json")).json()["paths"]["/tools"]["get"]["responses"]["200"]
    shown = listed["content"]["application/json"]["examples"]

    for form in ("openai", "anthropic", "gemini"):
        assert shown[form]["value"] == (await client.get("/tools", params={"format": form, "name": "book_room"})).json()


async def test_a_tool_shows_why_it_cannot_be_strict(make_client: MakeClient) -> None:
    """The reason is the one that `sidecall check` gives."""
    client = await make_client(ask)

    detail = (await client.get("/tools/ask")).json()

    assert detail["strict"] is False
    assert detail["strict_obstacles"] == ["options: strict mode has no objects with free keys (dict, **kwargs)"]
    assert detail["notes"] == [
        "warning: `options` is an object with free keys, so models guess them; use a pydantic model",
        "note: cannot be strict: options: strict mode has no objects with free keys (dict, **kwargs)",
    ]


STRICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"description": "What to look for.", "type": "string"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many results. Default: 5."},
    },
    "required": ["query", "limit"],
    "additionalProperties": False,
}


# What is no object is wrapped in one, which is all that many clients take.
RESULTS = {
    "type": "object",
    "properties": {"result": {"items": {"type": "string"}, "type": "array"}},
    "required": ["result"],
}


CLOSED = {
    "type": "object",
    "properties": {
        "query": {"description": "What to look for.", "type": "string"},
        "limit": {"description": "How many results. Default: 5.", "type": "integer"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


TITLED = {"title": "search", "description": "Search the web."}


@pytest.mark.parametrize(
    ("form", "listing"),
    [
        ("openai", [{"type": "function", "function": {**NAMED, "parameters": PARAMETERS}}]),
        ("openai-responses", [{"type": "function", **NAMED, "parameters": PARAMETERS, "strict": False}]),
        ("anthropic", [{**NAMED, "input_schema": PARAMETERS}]),
        ("gemini", [{"functionDeclarations": [{**NAMED, "parameters": PARAMETERS}]}]),
        ("mcp", [{**NAMED, "inputSchema": PARAMETERS, "outputSchema": RESULTS}]),
        ("json_schema", [{**TITLED, **PARAMETERS}]),
    ],
)
async def test_the_listing_has_the_providers_form(make_client: MakeClient, form: str, listing: list[Any]) -> None:
    """It is a bare array, to be passed on as `tools`."""
    client = await make_client(search)

    response = await client.get("/tools", params={"format": form})

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.json() == listing


@pytest.mark.parametrize(
    ("form", "listing"),
    [
        ("openai", [{"type": "function", "function": {**NAMED, "parameters": STRICT, "strict": True}}]),
        ("openai-responses", [{"type": "function", **NAMED, "parameters": STRICT, "strict": True}]),
        ("anthropic", [{**NAMED, "input_schema": CLOSED, "strict": True}]),
        ("mcp", [{**NAMED, "inputSchema": STRICT, "outputSchema": RESULTS}]),
        ("json_schema", [{**TITLED, **STRICT}]),
    ],
)
async def test_the_listing_can_be_strict(make_client: MakeClient, form: str, listing: list[Any]) -> None:
    """Every property is required, optional ones are nullable, objects are closed; Anthropic's may be left out."""
    client = await make_client(search)

    response = await client.get("/tools", params={"format": form, "strict": "true"})

    assert response.json() == listing


@pytest.mark.parametrize("strict", ["true", "false"])
@pytest.mark.parametrize(
    ("form", "accepted"),
    [
        ("openai", ChatCompletionToolParam),
        ("openai", ChatCompletionFunctionToolParam),
        ("openai-responses", FunctionToolParam),
        ("anthropic", ToolParam),
    ],
)
async def test_the_providers_client_accepts_the_listing(
    make_client: MakeClient, form: str, accepted: Any, strict: str
) -> None:
    """Each element fits the type that the provider's package has for it."""
    client = await make_client(search, convert, ask, ping)

    listing = (await client.get("/tools", params={"format": form, "strict": strict})).json()

    assert TypeAdapter(list[accepted]).validate_python(listing) == listing


async def test_a_server_without_tools_lists_none(make_client: MakeClient) -> None:
    """In Gemini's form too, which would otherwise hold an empty declaration."""
    client = await make_client()

    assert (await client.get("/tools")).json() == []
    assert (await client.get("/tools", params={"format": "gemini"})).json() == []


async def test_the_tag_is_strong_and_changes_with_the_listing(make_client: MakeClient) -> None:
    """Another form, filter or tool has another tag; another process has the same."""
    one, other = await make_client(search, ping), await make_client(search, ping)

    etag = (await one.get("/tools")).headers["ETag"]

    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    assert (await other.get("/tools")).headers["ETag"] == etag
    assert (await one.get("/tools?format=mcp")).headers["ETag"] != etag
    assert (await one.get("/tools?name=ping")).headers["ETag"] != etag
    assert (await one.get("/tools?strict=true")).headers["ETag"] != etag
