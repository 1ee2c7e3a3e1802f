"""Browsers take no answer for anything but what it says that it is."""

import pytest

from tests.features.mcp_server.messages import ask
from tests.kit.callers.requests import REQUESTS
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

HEADER = "X-Content-Type-Options"
OTHERS = [("GET", path, None) for path in ("/", "/docs", "/openapi.json", "/healthz", "/readyz", "/nowhere", "/mcp")]


@pytest.mark.parametrize("shape", ["plain", "events"])
async def test_a_calls_answer_says_so(make_client: MakeClient, shape: str) -> None:
    """In front of the framework and behind it, once."""
    client = await make_client(echo)
    headers = {"Accept": "text/event-stream"} if shape == "events" else {}

    answer = await client.post("/tool_calls", json=write_call("echo", text="<script>"), headers=headers)

    assert (answer.status_code, answer.headers.get_list(HEADER)) == (200, ["nosniff"])


async def test_every_route_says_so_once(make_client: MakeClient) -> None:
    """No matter what it answers: pages, problems and redirections too."""
    client = await make_client(echo)
    asked = [(method, path) for method, path, _ in [*REQUESTS, *OTHERS]]

    said = {it: (await client.request(*it)).headers.get_list(HEADER) for it in asked}

    assert said == {it: ["nosniff"] for it in asked}


async def test_answers_before_any_route_say_so(make_client: MakeClient) -> None:
    """To pages of others, to those who prove nothing, and over MCP."""
    client = await make_client(echo, auth=("gateway",), caller_header="X-Caller", gateways=("10.0.0.0/8",))
    open_client = await make_client(echo)

    answers = [
        await client.get("/tools"),
        await client.get("/tools", headers={"Origin": "https://evil.example.com"}),
        await open_client.options("/tools", headers={"Origin": "https://evil.example.com"}),
        await ask(open_client, "tools/list"),
        await ask(open_client, "nothing"),
    ]

    assert [answer.headers.get_list(HEADER) for answer in answers] == [["nosniff"]] * 5
    assert [answer.status_code for answer in answers[:3]] == [401, 403, 403]
