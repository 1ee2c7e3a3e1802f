"""Go beyond bounds with what MCP servers send whose tools are offered here."""

import asyncio
import json
import logging
from functools import partial
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from sidecall import remote_agent
from sidecall.features.mcp_client.connection_supervisor import EntrySanitizer
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.sdk.processes import ErrorOutput
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.kit.clients import MakeClient
from tests.kit.serving import serving_app
from tests.limits.by_request import Provoke, call, post, say
from tests.limits.offered import echo


async def _connect(make_client: MakeClient, *modes: str, **settings: Any) -> httpx.AsyncClient:
    return await make_client(echo, mcp_servers=write_servers(kit=describe_kit(*modes)), **settings)


async def _wait_for_state(client: httpx.AsyncClient, wanted: str) -> dict[str, Any]:
    """Wait until the server is in a state, and return its status."""
    async with asyncio.timeout(60):
        while True:
            status: dict[str, Any] = (await client.get("/status")).json()["mcp_servers"][0]
            if status["state"] == wanted and bool(status["tools"]) == (wanted == "connected"):
                return status
            await asyncio.sleep(0.02)


async def _message(make_client: MakeClient) -> str:
    client = await _connect(make_client, max_result_bytes=1_000_000)
    await _wait_for_state(client, "connected")
    return say(await post(client, call("kit__flood")))


async def _flood(make_client: MakeClient, what: str, text: str, **args: int) -> str:
    client = await _connect(make_client)
    await _wait_for_state(client, "connected")
    answer = await post(client, call("kit__flood", **args))
    return say(answer) if f"has more than {text} {what}" in answer.text else answer.text


async def _long_agent(make_client: MakeClient) -> str:
    said = {"choices": [{"message": {"role": "assistant", "content": "Hi."}}], "log": [1] * 250_000}
    answer = Response(json.dumps(said), media_type="application/json")
    with serving_app(
        lambda _: Starlette(routes=[Route("/v1/chat/completions", lambda _: answer, methods=["POST"])])
    ) as url:
        agent = remote_agent("agent", f"{url}/v1", "chat", description="Answers.", stream=False)
        return say(await post(await make_client(agent), call("agent", input="hello")))


async def _tools(make_client: MakeClient) -> str:
    status = await _wait_for_state(await _connect(make_client, mcp_max_tools=3), "down")
    return "it is not connected to" if status["trouble"] == "It has more than 3 tools." else str(status)


async def _seconds(make_client: MakeClient) -> str:
    status = await _wait_for_state(await _connect(make_client, "silent", mcp_connect_timeout=0.5), "down")
    return "it is down, and tried again" if status["trouble"] == "It does not answer in time." else str(status)


class _Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def _lines(_: MakeClient) -> str:
    stream, heard = asyncio.StreamReader(), _Heard()
    stream.feed_data(b"x" * 5000 + b"\n" + b"line\n" * 200)
    stream.feed_eof()
    logger = logging.getLogger("sidecall.mcp_server")
    level = logger.level
    logger.addHandler(heard)
    logger.setLevel(logging.INFO)
    try:
        await ErrorOutput("kit", EntrySanitizer(UpstreamEntry(command="kit"))).log(stream)
    finally:
        logger.removeHandler(heard)
        logger.setLevel(level)
    wanted = ["[kit] " + "x" * 2000, *["[kit] line"] * 99, "[kit] 101 more lines were left out"]
    return "left out and counted" if heard.lines == wanted else str(heard.lines)


async def _patterns(make_client: MakeClient) -> str:
    rules = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^[ab]+c$"}}}
    listed = json.dumps([{"name": "patterned", "inputSchema": rules}])
    kit = describe_kit(env={"LISTED": listed})
    client = await make_client(echo, mcp_servers=write_servers(kit=kit))
    await _wait_for_state(client, "connected")
    sent = ({"text": "?", "more": "x" * size} for size in (1, 500_000))
    seen = [(await post(client, call("kit__patterned", **args))).json()["status"] for args in sent]
    return "compared with no pattern" if seen == ["error", "success"] else str(seen)


BY_UPSTREAM: dict[str, Provoke] = {
    "bytes of a message of an MCP server whose tools are offered": _message,
    "values in such a message, at every depth": partial(_flood, what="values", text="100,000", values=100_000),
    "blocks of content in such a message": partial(_flood, what="blocks", text="2,000", blocks=2_001),
    "values of JSON that an agent of another program answers": _long_agent,
    "tools of such an MCP server": _tools,
    "seconds in which such an MCP server starts and lists its tools": _seconds,
    "characters of a call, times [those of the patterns](mcp-servers.md#schemas) in another server's schema": _patterns,
    "lines of an MCP server's stderr in the log": _lines,
}
