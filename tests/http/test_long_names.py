"""What a caller has made up is repeated in part, however long it is, no matter how it comes."""

from typing import Any

import pytest

from sidecall import tool
from tests.kit.clients import MakeClient

LONG = "q" * 20_000
# What is repeated at most: of an address or path, and in two places of one answer.
MOST = 600


@tool
def ping() -> str:
    """Ping."""
    return "pong"


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", f"/tools/{LONG}"),
        ("POST", f"/tools/{LONG}/call"),
        ("POST", f"/tools/{LONG}"),
        ("GET", f"/{LONG}"),
        ("DELETE", f"/{LONG}/{LONG}"),
        ("GET", f"/tool_calls/{LONG}"),
        ("POST", f"/tool_calls/{LONG}/cancel"),
        ("GET", f"/tool_calls/{LONG}/events"),
        ("GET", f"/approvals/{LONG}"),
        ("POST", f"/approvals/{LONG}"),
        ("DELETE", f"/approvals/rules/{LONG}"),
        ("GET", f"/contents/{LONG}"),
        ("GET", f"/workspaces/{LONG}/files"),
        ("GET", f"/files/{LONG}"),
        ("GET", f"/vector_stores/{LONG}"),
        ("PUT", f"/secrets/{LONG}"),
        ("GET", f"/tools?{LONG}=1"),
        ("GET", f"/tools/search?query=x&{LONG}=1"),
        ("GET", f"/tools?toolset={LONG}"),
        ("GET", f"/tools?format={LONG}"),
        ("GET", f"/tools?cursor={LONG}&limit=1"),
        ("GET", f"/tool_calls?status={LONG}"),
    ],
)
async def test_no_way_repeats_a_long_name(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, method: str, target: str
) -> None:
    """Neither an answer nor the log does."""
    client = await make_client(ping)

    response = await client.request(method, target, json=None if method == "GET" else {})

    assert response.status_code in (404, 405, 422)
    assert response.text.count("q") < MOST
    assert sum(record.getMessage().count("q") for record in caplog.records) < MOST


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": LONG, "arguments": {}}),
        ("resources/read", {"uri": LONG}),
        ("resources/read", {"uri": f"sidecall:///contents/{LONG}"}),
        ("prompts/get", {"name": LONG}),
        (LONG, {}),
    ],
)
async def test_nor_does_mcp(make_client: MakeClient, method: str, params: dict[str, Any]) -> None:
    """Its errors have their own form."""
    client = await make_client(ping)
    headers = {"Accept": "application/json, text/event-stream"}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    response = await client.post("/mcp", json=message, headers=headers)

    assert "error" in response.json()
    assert response.text.count("q") < MOST


async def test_what_a_tool_is_called_in_a_sentence_is_cut_as_elsewhere(make_client: MakeClient) -> None:
    """A short name stands there whole."""
    client = await make_client(ping)

    long, short = await client.get(f"/tools/{LONG}"), await client.get("/tools/pong")

    assert f"There is no tool '{'q' * 63}…', or it is not visible to you." in long.json()["detail"]
    assert "There is no tool 'pong', or it is not visible to you. Did you mean ping?" in short.json()["detail"]
