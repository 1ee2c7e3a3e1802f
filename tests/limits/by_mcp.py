"""How the bounds of MCP are provoked, by the words of the table."""

from typing import Any

import pytest

from sidecall import Registry
from sidecall.features.mcp_server.listing import ToolPages
from sidecall.features.mcp_server.revisions import RpcError
from sidecall.features.mcp_server.sessions import Sessions
from sidecall.kernel.core.context import ANONYMOUS, Caller
from tests.features.mcp_server.messages import BEFORE, ask, ask_as_before
from tests.kit.clients import MakeClient
from tests.kit.pipelines import make_pipeline
from tests.limits.by_request import Provoke, say
from tests.limits.offered import echo, note, wait


async def _message(make_client: MakeClient) -> str:
    client = await make_client(echo, max_body_bytes=1024)
    return say(await ask(client, "tools/call", name="echo", arguments={"text": "x" * 1024}))


async def _values(make_client: MakeClient) -> str:
    client = await make_client(echo, max_json_values=100)
    more: dict[str, Any] = {"example.com/more": [{}] * 200}
    return say(await ask(client, "tools/call", more, name="echo", arguments={}))


async def _pages(_: MakeClient) -> str:
    registry = Registry([echo, wait, note])
    pages = ToolPages(registry, make_pipeline(registry), page=2)
    twice = [[await pages.find(ANONYMOUS, cursor) for _ in range(2)] for cursor in (None, "wait", "echo")]
    are_kept = [first is second for first, second in twice]
    return "made anew" if are_kept == [True, True, False] else str(are_kept)


async def _sessions(_: MakeClient) -> str:
    sessions = Sessions()
    for number in range(11):
        first = sessions.begin(Caller(str(number)))
        assert first is not None
        [sessions.begin(Caller(str(number))) for _ in range(1000)]
        with pytest.raises(RpcError):
            sessions.find(first.encode(), Caller(str(number)))
    assert len(sessions) == 10_000
    return "the one longest unused ends; where all are in use, none is given"


async def _old_session(make_client: MakeClient) -> str:
    client = await make_client()
    began = await ask_as_before(client, "initialize", protocolVersion=BEFORE)
    mcp = client._transport.app.state.mcp.parts  # type: ignore[attr-defined]
    [session] = mcp.sessions._sessions.values()
    session.used -= 3601
    named = {"Mcp-Session-Id": began.headers["Mcp-Session-Id"]}
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = await client.post("/mcp", json=message, headers=named)
    assert "initialize anew" in answer.json()["error"]["message"]
    return f"{answer.status_code}, to begin anew"


BY_MCP: dict[str, Provoke] = {
    "bytes of a message of MCP": _message,
    "values in a message of MCP, `_meta` with them": _values,
    "sessions of MCP's earlier revisions": _sessions,
    "seconds that such a session is kept unused": _old_session,
    "pages of MCP's list that are remembered": _pages,
}
