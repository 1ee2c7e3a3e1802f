"""The tools are listed in the form each provider takes, in the order of registration."""

import pytest

from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem
from tests.kit.tools import ping
from tests.rest.routes.listed import ask, convert, search


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
