"""Examples name tools that are served."""

import json
from typing import Annotated, Any, Literal

import pytest
from httpx import AsyncClient
from pydantic import Field

from sidecall import Caller, tool
from tests.kit.clients import MakeClient


def only_for_ada(caller: Caller) -> bool:
    """Decide by the caller."""
    return caller.subject == "ada"


@tool(is_enabled=only_for_ada)
def hidden(text: str) -> str:
    """Be shown to few."""
    return text


@tool
def book_room(
    guests: Annotated[int, Field(ge=2)],
    view: Literal["sea", "street"],
    city: Annotated[str, Field(examples=["Lisbon"])],
    note: str = "",
) -> str:
    """Book a room."""
    return f"{guests} {view} {city}"


ARGS = {"guests": 2, "view": "sea", "city": "Lisbon"}


@pytest.fixture
async def client(make_client: MakeClient) -> AsyncClient:
    """A server of other tools than those that ship."""
    return await make_client(hidden, book_room)


async def test_the_page_shows_a_tool_that_is_there(client: AsyncClient) -> None:
    """Its requests run as they are shown; tools that are not for all are not named."""
    document = (await client.get("/openapi.json")).json()
    operation = document["paths"]["/tool_calls"]["post"]
    examples = operation["requestBody"]["content"]["application/json"]["examples"]

    answers = [(await client.post("/tool_calls?format=openai", json=it["value"])).json() for it in examples.values()]

    assert list(examples) == ["langchain", "openai", "openai-responses", "anthropic", "gemini"]
    assert {answer["content"] for answer in answers} == {"2 sea Lisbon"}
    text = json.dumps({path: it for path, it in document["paths"].items() if path != "/metrics"})
    assert [name for name in ("calculator", "delete_order", '"hidden"', "expresion", "6 * 7") if name in text] == []


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/tool_calls", {}, {"name": "book_room", "args": ARGS, "id": "call_1", "type": "tool_call"}),
        (
            "/tool_calls",
            {"type": "function"},
            {"id": "call_1", "type": "function", "function": {"name": "book_room", "arguments": json.dumps(ARGS)}},
        ),
        (
            "/tool_calls?dry_run=true",
            {"type": "tool_use"},
            {"type": "tool_use", "id": "call_1", "name": "book_room", "input": ARGS},
        ),
        ("/tool_calls/batch", [{}], [{"name": "book_room", "args": ARGS, "id": "call_1", "type": "tool_call"}]),
        ("/tool_calls/batch", 7, [{"name": "book_room", "args": ARGS, "id": "call_1", "type": "tool_call"}]),
    ],
)
async def test_a_refusal_shows_a_call_of_a_tool_that_is_there(
    client: AsyncClient, path: str, body: Any, expected: Any
) -> None:
    """On the short way and the long one."""
    refused = await client.post(path, json=body)
    accepted = await client.post(path, json=refused.json()["example"])

    assert refused.status_code == 422
    assert refused.json()["example"] == expected
    assert accepted.status_code == 200


async def test_a_server_without_tools_shows_one_that_ships(make_client: MakeClient) -> None:
    """There is nothing better."""
    client = await make_client()

    assert (await client.post("/tool_calls", json={})).json()["example"]["name"] == "calculator"
