"""The tools are listed in the form each provider takes, in the order of registration."""

import re
from typing import Any

import pytest
from anthropic.types import ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from tests.kernel.rest.routes.listed import NAMED, PARAMETERS, ask, convert, search
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.tools import ping

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


async def test_a_tool_that_cannot_be_strict_is_listed_plainly(make_client: MakeClient) -> None:
    """The others are strict all the same."""
    client = await make_client(search, ask)

    listing = (await client.get("/tools", params={"strict": "true"})).json()

    assert [definition["function"].get("strict") for definition in listing] == [True, None]


async def test_openai_is_the_form_when_none_is_asked_for(make_client: MakeClient) -> None:
    """`tools=httpx.get(url).json()` works as it stands."""
    client = await make_client(search)

    plain = await client.get("/tools")
    named = await client.get("/tools", params={"format": "openai", "strict": "false"})

    assert plain.json() == named.json()
    assert plain.headers["ETag"] == named.headers["ETag"]


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


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["search", "convert", "ask", "ping"]),
        ("tag=math", ["convert", "ask"]),
        ("tag=web&tag=math", ["search", "convert", "ask"]),
        ("name=ping", ["ping"]),
        ("name=ping&name=search", ["search", "ping"]),  # the order of registration, not of the question
        ("tag=slow&name=ask&name=convert", ["ask"]),
        ("tag=web&name=ping", []),
        ("tag=none", []),
        ("name=none", []),
        ("name=Search", []),  # names are exact
        ("tag=web,math", []),  # a comma is part of a tag
    ],
)
async def test_the_listing_can_be_narrowed(make_client: MakeClient, query: str, names: list[str]) -> None:
    """Both filters repeat; together they both have to hold."""
    client = await make_client(search, convert, ask, ping)

    listing = (await client.get(f"/tools?{query}")).json()

    assert [definition["function"]["name"] for definition in listing] == names


async def test_the_order_is_that_of_registration(make_client: MakeClient) -> None:
    """Prompts that hold the listing can be cached."""
    client = await make_client(ping, search, ask)

    listing = (await client.get("/tools")).json()

    assert [definition["function"]["name"] for definition in listing] == ["ping", "search", "ask"]


@pytest.mark.parametrize(
    ("query", "parameter", "complaint"),
    [
        (
            "format=langchain",
            "format",
            "Input should be 'openai', 'openai-responses', 'anthropic', 'gemini', 'mcp' or 'json_schema'",
        ),
        ("strict=maybe", "strict", "Input should be a valid boolean, unable to interpret input"),
    ],
)
async def test_a_bad_parameter_is_a_problem(
    make_client: MakeClient, query: str, parameter: str, complaint: str
) -> None:
    """422 says what would be right."""
    client = await make_client(search)

    response = await client.get(f"/tools?{query}")

    assert response.status_code == 422
    assert read_problem(response) == ("invalid-parameter", f"{parameter}: {complaint}")


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("{etag}", 304),
        ("W/{etag}", 304),  # a proxy that compresses makes tags weak
        ('"other", {etag}', 304),
        ('W/"other",{etag} , "third"', 304),
        ("*", 304),
        ('"other"', 200),
        ('"other", W/"third"', 200),
        ("", 200),
        ("nonsense", 200),
    ],
)
async def test_an_unchanged_listing_is_not_sent_again(make_client: MakeClient, header: str, status: int) -> None:
    """If-None-Match is compared as RFC 9110 says."""
    client = await make_client(search)
    etag = (await client.get("/tools")).headers["ETag"]

    response = await client.get("/tools", headers={"If-None-Match": header.format(etag=etag)})

    assert response.status_code == status
    assert response.headers["ETag"] == etag
    assert response.headers["Cache-Control"] == "no-cache"


async def test_304_has_no_body(make_client: MakeClient) -> None:
    """That is the point of it."""
    client = await make_client(search)
    etag = (await client.get("/tools")).headers["ETag"]

    response = await client.get("/tools", headers={"If-None-Match": etag})

    assert response.content == b""
    assert "Content-Type" not in response.headers


async def test_the_tag_is_strong_and_changes_with_the_listing(make_client: MakeClient) -> None:
    """Another form, filter or tool has another tag; another process has the same."""
    one, other = await make_client(search, ping), await make_client(search, ping)

    etag = (await one.get("/tools")).headers["ETag"]

    assert re.fullmatch(r'"[0-9a-f]{32}"', etag)
    assert (await other.get("/tools")).headers["ETag"] == etag
    assert (await one.get("/tools?format=mcp")).headers["ETag"] != etag
    assert (await one.get("/tools?name=ping")).headers["ETag"] != etag
    assert (await one.get("/tools?strict=true")).headers["ETag"] != etag
