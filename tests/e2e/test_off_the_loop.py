"""What takes long where there are many tools is done in threads, no matter who asks for it first."""

from collections.abc import Callable
from typing import Any

import pytest

from sidecall import StructuredTool
from sidecall.features.mcp_server.listing import ToolPages
from sidecall.features.openapi_export import routes as openapi_tools
from sidecall.features.search import routes as search
from sidecall.features.search.index import ToolIndex
from sidecall.kernel.suggest.fuzzy_match import NameIndex
from sidecall.rest.app import ServedDocument
from sidecall.rest.routes import tools
from tests.kit.clients import MakeClient
from tests.kit.on_loop import listing_calls_on_loop

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def make_tools(count: int) -> list[StructuredTool]:
    """Make many tools."""

    def work(text: str) -> str:
        return text

    return [StructuredTool.from_function(work, name=f"work_{number}", description="Work.") for number in range(count)]


def get(path: str) -> Callable[[Any], Any]:
    """Ask for a path."""
    return lambda client: client.get(path)


def list_over_mcp(client: Any) -> Any:
    """List tools over MCP."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": _META}}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    return client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream", **headers})


def call_unknown(client: Any) -> Any:
    """Call a tool that there is not."""
    return client.post("/tool_calls", json={"name": "wurk_17", "args": {}})


@pytest.mark.parametrize(
    ("ask", "owner", "name"),
    [
        (get("/tools"), tools, "write_page"),
        (get("/tools?strict=true&format=openai-responses"), tools, "write_page"),
        (get("/tools?format=anthropic&search=bm25"), tools, "write_page"),
        (get("/openapi/tools.json"), openapi_tools, "write_document"),
        (get("/openapi/tools.json?refs=false&for=gpt-actions"), openapi_tools, "write_document"),
        (get("/openapi.json"), ServedDocument, "_write"),
        (get("/tools/search?q=work&limit=100"), search, "render_definitions"),
        (get("/tools/search?q=work&limit=100"), ToolIndex, "rank"),
        (get("/tools/search?q=work&limit=100&mode=regex"), ToolIndex, "match"),
        (list_over_mcp, ToolPages, "_write"),
        (call_unknown, NameIndex, "make_ready"),
        (get("/tools/wurk_17"), NameIndex, "make_ready"),
    ],
)
async def test_what_many_tools_make_long_is_done_beside_the_event_loop(
    make_client: MakeClient, ask: Callable[[Any], Any], owner: Any, name: str
) -> None:
    """And is answered as ever."""
    client = await make_client(*make_tools(150))
    with listing_calls_on_loop(owner, name) as called:
        response = await ask(client)

    assert response.status_code in (200, 404)
    assert called == []
