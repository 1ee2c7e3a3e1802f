"""A slash behind a path changes nothing: it is answered there, and leads nowhere."""

import re
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from sidecall import Registry
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.mcp_server.messages import BEFORE, head, write
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

pytestmark = BOTH_WAYS
CALL = {"name": "echo", "args": {"text": "hello"}, "id": "call_1"}
ASKED: list[tuple[str, str, Any]] = [
    ("GET", "/tools", None),
    ("GET", "/tools?format=mcp", None),
    ("GET", "/tools?formt=mcp", None),
    ("GET", "/tools/echo", None),
    ("GET", "/tools/nothing", None),
    ("GET", "/tools/search?q=echo", None),
    ("GET", "/openapi/tools.json", None),
    ("POST", "/tools/echo/call", {"text": "hello"}),
    ("POST", "/tool_calls", CALL),
    ("POST", "/tool_calls?dry_run=true", CALL),
    ("POST", "/tool_calls/batch", [CALL]),
    ("POST", "/tool_calls", {}),
    ("PUT", "/tool_calls", CALL),
    ("GET", "/tool_calls/batch", None),
    ("HEAD", "/tools", None),
    ("HEAD", "/healthz", None),
    ("HEAD", "/tool_calls/batch", None),
    ("OPTIONS", "/tools", None),
    ("GET", "/healthz", None),
    ("GET", "/approvals", None),
    ("GET", "/openapi.json", None),
    ("GET", "/nowhere", None),
    ("GET", "/mcp", None),
    ("DELETE", "/mcp", None),
    ("GET", "/.well-known/oauth-protected-resource/mcp", None),
]


def _add(path: str, behind: str) -> str:
    path, sign, query = path.partition("?")
    return f"{path}{behind}{sign}{query}"


def _tidy(answer: httpx.Response) -> tuple[int, str, Any, str]:
    """Return of an answer what the slash does not change: problems name the path as it is understood."""
    text = re.sub(r'"(duration_ms|id|instance)":("[^"]*"|[0-9.]+)', "", answer.text)
    return answer.status_code, answer.headers.get("Content-Type", ""), answer.headers.get("Allow"), text


@pytest.mark.parametrize("behind", ["/", "//"])
@pytest.mark.parametrize(("method", "path", "body"), ASKED)
async def test_it_is_answered_as_without(
    make_client: MakeClient, method: str, path: str, body: Any, behind: str
) -> None:
    """Status, body and what is allowed."""
    client = await make_client(echo)

    wanted = await client.request(method, path, json=body)
    answer = await client.request(method, _add(path, behind), json=body)

    assert "Location" not in answer.headers
    assert _tidy(answer) == _tidy(wanted)


async def test_mcp_is_spoken_there(make_client: MakeClient) -> None:
    """In both ways of its revisions."""
    client = await make_client(echo)
    modern = write("tools/call", name="echo", arguments={"text": "hello"})
    before = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": BEFORE}}

    called = await client.post("/mcp/", json=modern, headers=head(modern))
    begun = await client.post("/mcp/", json=before)

    assert called.json()["result"]["content"] == [{"type": "text", "text": "hello"}]
    assert begun.json()["result"]["protocolVersion"] == BEFORE


@pytest.mark.parametrize("path", ["/tools/echo%2F", "/tools%2F", "/tool_calls%2f"])
async def test_a_slash_in_a_name_is_none_behind_a_path(make_client: MakeClient, path: str) -> None:
    """There is no tool of such a name."""
    assert (await (await make_client(echo)).get(path)).status_code == 404


async def test_the_bare_address_leads_to_the_console_by_a_relative_one(make_client: MakeClient) -> None:
    """As its own address with a slash does, since its page has relative addresses."""
    client = await make_client(echo)

    answers = [await client.get(path) for path in ("/", "/docs/")]

    assert [(it.status_code, it.headers["Location"]) for it in answers] == [(307, "console"), (307, "../docs")]


async def test_so_behind_the_prefix_of_another_application(is_door_open: bool) -> None:
    """It is mounted there; the prefix alone stays its root."""
    app, outer = create_app(Settings(), Registry([echo])), FastAPI()
    outer.mount("/sub", app)
    transport = httpx.ASGITransport(outer)
    async with app.router.lifespan_context(app), httpx.AsyncClient(transport=transport, base_url="http://h") as client:
        listed = [await client.get(path) for path in ("/sub/tools/", "/sub/tools")]
        called = await client.post("/sub/tool_calls/", json=CALL)
        root = await client.get("/sub/")

    assert [it.status_code for it in listed] == [200, 200]
    assert listed[0].content == listed[1].content
    assert called.json()["content"] == "hello"
    assert (root.status_code, root.headers["Location"]) == (307, "console")
