"""Headers that repeat an argument say what the argument says, or the call is refused."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from sidecall import tool
from tests.features.mcp_server.messages import BEFORE, head, write
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient

pytestmark = BOTH_WAYS


def header(name: str) -> Any:
    """Name the header that repeats a parameter."""
    return Field(json_schema_extra={"x-mcp-header": name})


@tool
async def query(
    region: Annotated[str, header("Region")],
    shard: Annotated[int, header("Shard")] = 0,
    dry: Annotated[bool, header("Dry")] = False,
) -> str:
    """Query a region."""
    return f"{region} {shard} {dry}"


@tool(is_enabled=lambda _context: False)
async def hidden(region: Annotated[str, header("Region")]) -> str:
    """Be seen by nobody."""
    return region


async def call(make_client: MakeClient, args: dict[str, Any], *headers: tuple[str, str]) -> tuple[int, Any]:
    """Call the tool with these headers more, and return the status and the answer."""
    client = await make_client(query)
    message = write("tools/call", name="query", arguments=args)
    response = await client.post("/mcp", json=message, headers=[*head(message).items(), *headers])
    return response.status_code, response.json()


@pytest.mark.parametrize(
    ("args", "headers", "text"),
    [
        ({"region": "north"}, {"Mcp-Param-Region": "north"}, "north 0 False"),
        ({"region": "north"}, {"mcp-param-region": "=?base64?bm9ydGg=?="}, "north 0 False"),
        ({"region": " ü"}, {"Mcp-Param-Region": "=?base64?IMO8?="}, " ü 0 False"),
        ({"region": "n", "shard": 42}, {"Mcp-Param-Region": "n", "Mcp-Param-Shard": "42.0"}, "n 42 False"),
        ({"region": "n", "dry": True}, {"Mcp-Param-Region": "n", "Mcp-Param-Dry": "true"}, "n 0 True"),
        ({"region": "n"}, {"Mcp-Param-Region": "n", "Mcp-Param-Other": "x"}, "n 0 False"),
        ({}, {}, "region: Field required (string)"),
    ],
)
async def test_a_header_that_says_the_same_is_taken(
    make_client: MakeClient, args: dict[str, Any], headers: dict[str, str], text: str
) -> None:
    """However it is written; what is named by no parameter is none of ours."""
    status, answer = await call(make_client, args, *headers.items())

    assert (status, answer["result"]["content"][0]["text"]) == (200, text)


@pytest.mark.parametrize(
    ("args", "headers"),
    [
        ({"region": "north"}, []),
        ({"region": "north"}, [("Mcp-Param-Region", "south")]),
        ({"region": "north"}, [("Mcp-Param-Region", "North")]),
        ({"region": "north"}, [("Mcp-Param-Region", "=?base64?bm9ydGg?=")]),
        ({"region": "=?base64?x?="}, [("Mcp-Param-Region", "=?base64?x?=")]),
        ({"region": "north"}, [("Mcp-Param-Region", "north"), ("Mcp-Param-Region", "north")]),
        ({"region": ["north"]}, [("Mcp-Param-Region", "north")]),
        ({}, [("Mcp-Param-Region", "north")]),
        ({"Region": "north"}, []),
        ({"arguments": {"region": "north"}}, []),
        ({"region": None, "Region": "north"}, []),
        ({"region": "n", "Region": "s"}, [("Mcp-Param-Region", "n")]),
        ({"region": "n", "shard": 1}, [("Mcp-Param-Region", "n"), ("Mcp-Param-Shard", "one")]),
        ({"region": "n", "shard": 1}, [("Mcp-Param-Region", "n"), ("Mcp-Param-Shard", "2")]),
        ({"region": "n", "dry": True}, [("Mcp-Param-Region", "n"), ("Mcp-Param-Dry", "True")]),
    ],
)
async def test_a_header_that_says_something_else_is_refused(
    make_client: MakeClient, args: dict[str, Any], headers: list[tuple[str, str]]
) -> None:
    """A gateway that has routed by it would have been misled."""
    status, answer = await call(make_client, args, *headers)

    assert (status, answer["error"]["code"]) == (400, -32020)


async def test_clients_of_before_send_no_such_headers(make_client: MakeClient) -> None:
    """Theirs are not looked at."""
    client = await make_client(query)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": "query", "arguments": {"region": "north"}}
    response = await client.post("/mcp", json={**message, "params": params}, headers={"MCP-Protocol-Version": BEFORE})

    assert response.json()["result"]["content"][0]["text"] == "north 0 False"


async def test_a_hidden_tool_is_not_given_away(make_client: MakeClient) -> None:
    """By the headers that it asks for."""
    client = await make_client(query, hidden)
    message = write("tools/call", name="hidden", arguments={"region": "north"})
    response = await client.post("/mcp", json=message, headers=head(message))

    assert (response.status_code, response.json()["error"]["code"]) == (200, -32602)
