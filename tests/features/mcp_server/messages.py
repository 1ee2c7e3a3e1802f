"""Messages as clients of MCP write them."""

from typing import Any

import httpx

MODERN = "2026-07-28"
BEFORE = "2025-11-25"
PREFIX = "io.modelcontextprotocol/"
# What every modern request says of its client.
META: dict[str, Any] = {f"{PREFIX}protocolVersion": MODERN, f"{PREFIX}clientCapabilities": {}}
# What a program asks for with a call that wants to know all of its answer.
TOLD = {"sidecall/call": True, "sidecall/artifact": True}
CAN_ASK = {f"{PREFIX}clientCapabilities": {"elicitation": {}}}
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def write(method: str, meta: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    """Write a modern request."""
    meta = {**META, **_ask_for(method), **(meta or {})}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}


def _ask_for(method: str) -> dict[str, Any]:
    return TOLD if method == "tools/call" else {}


def head(message: dict[str, Any]) -> dict[str, str]:
    """Write the headers that a modern request comes with."""
    params = message.get("params", {})
    named = {"Mcp-Name": params[_NAMED[message["method"]]]} if message.get("method") in _NAMED else {}
    accept = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN}
    return {**accept, "Mcp-Method": message["method"], **named}


async def ask(
    client: httpx.AsyncClient, method: str, meta: dict[str, Any] | None = None, **params: Any
) -> httpx.Response:
    """Send a modern request."""
    message = write(method, meta, **params)
    return await client.post("/mcp", json=message, headers=head(message))


async def ask_as_before(client: httpx.AsyncClient, method: str, **params: Any) -> httpx.Response:
    """Send a request of the revision before."""
    meta = {**_ask_for(method), **params.pop("_meta", {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, **({"_meta": meta} if meta else {})}}
    return await client.post("/mcp", json=message, headers={"MCP-Protocol-Version": BEFORE})


def answer(asked: dict[str, Any], action: str, **content: Any) -> dict[str, Any]:
    """Write what a person has done with the form in a result, for the call that is sent again."""
    said = {"action": action, "content": content} if content else {"action": action}
    return {"requestState": asked["requestState"], "inputResponses": dict.fromkeys(asked["inputRequests"], said)}
