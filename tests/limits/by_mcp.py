"""How the bounds of MCP are provoked, by the words of the table."""

from typing import Any

from sidecall import Registry
from sidecall.core.context import ANONYMOUS
from sidecall.mcp.listing import ToolPages
from tests.kit.clients import MakeClient
from tests.kit.pipelines import make_pipeline
from tests.limits.by_request import Provoke, say
from tests.limits.offered import echo, note, wait
from tests.mcp.messages import ask


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


BY_MCP: dict[str, Provoke] = {
    "bytes of a message of MCP": _message,
    "values in a message of MCP, `_meta` with them": _values,
    "pages of MCP's list that are remembered": _pages,
}
