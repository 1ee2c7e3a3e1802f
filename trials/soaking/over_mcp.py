"""Calls over MCP, in its newest revision and in one with a handshake."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from tests.kit.lines import Answer
from trials.soaking.guest import Act, Guest, Odd, expect, read_events

_NEWEST, _EARLIER = "2026-07-28", "2025-06-18"
_META = {
    "io.modelcontextprotocol/protocolVersion": _NEWEST,
    "io.modelcontextprotocol/clientInfo": {"name": "trial", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_ACCEPT = {"Accept": "application/json, text/event-stream"}


async def _send_newest(guest: Guest, method: str, meta: Mapping[str, Any] | None = None, **params: Any) -> list[Any]:
    """Send a request of the newest revision, and return the messages that come."""
    headers = {**_ACCEPT, "MCP-Protocol-Version": _NEWEST, "Mcp-Method": method}
    headers |= {"Mcp-Name": params["name"]} if "name" in params else {}
    said = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": {**_META, **(meta or {})}}}
    return _read(await guest.ask("POST", "/mcp", said, headers=headers))


def _read(answer: Answer) -> list[Any]:
    if answer.headers.get("content-type", "").startswith("text/event-stream"):
        return [said for _, said in read_events(answer) if said is not None]
    return [answer.json]


def _read_text(message: Any) -> tuple[bool, str]:
    return bool(message["result"].get("isError")), message["result"]["content"][0]["text"]


async def _call_newest(guest: Guest) -> None:
    a, b = guest.dice.randrange(1000), guest.dice.randrange(1000)
    (right,) = await _send_newest(guest, "tools/call", name="add", arguments={"a": a, "b": b})
    expect(_read_text(right), (False, str(a + b)))
    (wrong,) = await _send_newest(guest, "tools/call", name="add", arguments={"a": "one", "b": b})
    expect(_read_text(wrong)[0], True)


async def _list(guest: Guest) -> None:
    (listed,) = await _send_newest(guest, "tools/list")
    names = {tool["name"] for tool in listed["result"]["tools"]}
    expect({"add", "pay", "echo"} <= names, True)
    await _send_newest(guest, "server/discover")


async def _hear_newest(guest: Guest) -> None:
    said = await _send_newest(guest, "tools/call", {"progressToken": 7}, name="hold", arguments={"seconds": 0.02})
    expect([one.get("method", "") for one in said], ["notifications/progress"] * 2 + [""])
    expect(_read_text(said[-1]), (False, "held"))


async def _leave_newest(guest: Guest) -> None:
    headers = {**_ACCEPT, "MCP-Protocol-Version": _NEWEST, "Mcp-Method": "tools/call", "Mcp-Name": "pause"}
    params = {"name": "pause", "arguments": {"seconds": 5.0}, "_meta": _META}
    said = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    await guest.leave(guest.write("POST", "/mcp", said, headers=headers))


async def _shake_hands(guest: Guest) -> dict[str, str]:
    """Begin a session, and return the headers of its requests."""
    info = {"protocolVersion": _EARLIER, "capabilities": {}, "clientInfo": {"name": "trial", "version": "1"}}
    said = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": info}
    answer = await guest.ask("POST", "/mcp", said, headers=_ACCEPT)
    expect(_read(answer)[-1]["result"]["protocolVersion"], _EARLIER)
    session = answer.headers.get("mcp-session-id")
    headers = {**_ACCEPT, "MCP-Protocol-Version": _EARLIER, **({"Mcp-Session-Id": session} if session else {})}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await guest.ask("POST", "/mcp", ready, headers=headers, status=202)
    return headers


async def _send_earlier(guest: Guest, headers: Mapping[str, str], call_id: int, name: str, **params: Any) -> list[Any]:
    said = {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": {"name": name, **params}}
    return _read(await guest.ask("POST", "/mcp", said, headers=headers))


async def _call_earlier(guest: Guest) -> None:
    headers = await _shake_hands(guest)
    (right,) = await _send_earlier(guest, headers, 1, "add", arguments={"a": 1, "b": 2})
    expect(_read_text(right), (False, "3"))
    heard = await _send_earlier(
        guest, headers, 2, "hold", arguments={"seconds": 0.02}, _meta={"progressToken": "token"}
    )
    expect([one.get("method", "") for one in heard], ["notifications/progress"] * 2 + [""])
    await _end(guest, headers)


async def _end(guest: Guest, headers: Mapping[str, str]) -> None:
    if "Mcp-Session-Id" in headers:
        await guest.ask("DELETE", "/mcp", headers=headers, status=(200, 202, 204))


async def _cancel_earlier(guest: Guest) -> None:
    """Cancel a call by a notification on another connection, where there are sessions."""
    headers = await _shake_hands(guest)
    if "Mcp-Session-Id" not in headers:
        return
    other = guest.another()
    try:
        call = asyncio.create_task(_send_earlier(other, headers, 7, "pause", arguments={"seconds": 20.0}))
        # A notification may overtake the call that it is about.
        while not call.done():
            await asyncio.sleep(guest.dice.uniform(0.02, 0.1))
            said = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            await guest.ask("POST", "/mcp", said, headers=headers, status=202)
        message = (await call)[-1]
    finally:
        other.close()
    if message.get("error", {}).get("code") != -32800:
        raise Odd(json.dumps(message)[:200])
    await _end(guest, headers)


async def _leave_session(guest: Guest) -> None:
    """Begin a session and never come back."""
    await _shake_hands(guest)


# What is done, and how often in proportion.
ACTS: Mapping[str, tuple[int, Act]] = {
    "MCP": (30, _call_newest),
    "MCP, lists": (10, _list),
    "MCP, progress": (15, _hear_newest),
    "MCP, clients that leave": (5, _leave_newest),
    "MCP with a handshake": (15, _call_earlier),
    "MCP, cancelled": (10, _cancel_earlier),
    "MCP, sessions left": (3, _leave_session),
}
