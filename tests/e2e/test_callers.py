"""Behind a gateway one caller's flood is its own affair, on a real server."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.servers import CLIENT, Server

TOOLS = '''
from sidecall import ToolContext, tool



@tool
def who(context: ToolContext) -> str:
    """Say who calls, from a thread."""
    return context.caller.subject


@tool(is_enabled=lambda caller: caller.subject == "ann")
async def for_ann() -> str:
    """Be there for one."""
    return "ann's"
'''


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Let each caller make 10 calls an hour."""
    file = tmp_path_factory.mktemp("tools") / "caller_tools.py"
    Path(file).write_text(TOOLS)
    return start_server("--tools", str(file), SIDECALL_CALLER_HEADER="X-Forwarded-User", SIDECALL_RATE_LIMIT="10/hour")


def _calls(server: Server, caller: str, count: int) -> list[httpx.Response]:
    with httpx.Client(headers={"X-Forwarded-User": caller}) as client:
        url, call = f"{server.url}/tool_calls", {"name": "who", "args": {}, "id": "call_1"}
        return [client.post(url, json=call) for _ in range(count)]


def test_one_floods_and_another_is_served(server: Server) -> None:
    """The one is told what the quota is and when to come again; the other notices nothing."""
    with ThreadPoolExecutor(2) as threads:
        flood = threads.submit(_calls, server, "mallory", 100)
        other = threads.submit(_calls, server, "bob", 10)
        flooded, served = flood.result(), other.result()
    refused = flooded[10:]

    assert Counter(answer.status_code for answer in flooded) == {200: 10, 429: 90}
    assert {answer.json()["content"] for answer in flooded[:10]} == {"mallory"}
    assert [answer.json().get("content") for answer in served] == ["bob"] * 10
    assert [answer.headers["RateLimit"].partition(";t=")[0] for answer in served] == [
        f'"calls";r={left}' for left in (9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
    ]
    assert {answer.headers["RateLimit-Policy"] for answer in (*flooded, *served)} == {'"calls";q=10;w=3600'}
    assert {answer.headers["RateLimit"].partition(";t=")[0] for answer in refused} == {'"calls";r=0'}
    assert {1 <= int(answer.headers["Retry-After"]) <= 360 for answer in refused} == {True}
    assert {answer.json()["type"] for answer in refused} == {"urn:sidecall:problem:quota-exceeded"}


def test_callers_see_their_own_tools(server: Server) -> None:
    """Over the same connection, too."""
    with httpx.Client() as client:
        names = [
            [offered["function"]["name"] for offered in client.get(f"{server.url}/tools", headers=headers).json()]
            for headers in ({"X-Forwarded-User": "ann"}, {"X-Forwarded-User": "bob"}, {}, {"X-Forwarded-User": "ann"})
        ]

    assert names == [["who", "for_ann"], ["who"], ["who"], ["who", "for_ann"]]


def test_a_name_that_comes_twice_is_refused(server: Server) -> None:
    """One of them may be the client's own."""
    headers = [("X-Forwarded-User", "ann"), ("X-Forwarded-User", "bob")]

    refused = CLIENT.post(f"{server.url}/tool_calls", json={"name": "who", "args": {}}, headers=headers)

    assert (refused.status_code, refused.json()["type"]) == (400, "urn:sidecall:problem:invalid-caller")
