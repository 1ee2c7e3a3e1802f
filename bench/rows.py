"""The rows that are measured over HTTP: which server, which question."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench.environments import version_of
from bench.helpers.callers import AUDIENCE
from bench.load import Request
from bench.servers import Server, floor, peer, sidecall

FLOOR = "Starlette route"
FASTAPI = "FastAPI route, typed"
ASYNC = "Sidecall, async tool"
IN_FILE = "Sidecall, async tool, history in a file"
IN_MEMORY = "Sidecall, async tool, history in memory"
FORGETFUL = "Sidecall, async tool, without a history"
WITH_KEY = "Sidecall, async tool, callers with keys"
WITH_TOKEN = "Sidecall, async tool, callers with tokens"
THREAD = "Sidecall, sync tool in a thread"
BATCH = 20

_ECHO = {"text": "hi"}
_ADD = {"a": 1, "b": 2}


@dataclass(frozen=True)
class Row:
    """One question to one server; rows of the same `server` share a process."""

    server: str
    request: Request


def call_of(name: str, args: Mapping[str, Any]) -> dict[str, Any]:
    """Write a call as LangChain does."""
    return {"name": name, "args": args, "id": "call_1", "type": "tool_call"}


def tool_call(name: str, args: Mapping[str, Any], content: str) -> Request:
    """Ask Sidecall, or a floor, to run a tool."""
    return Request("/tool_calls", json.dumps(call_of(name, args)), ("content",), content)


def as_caller(credential: str) -> Request:
    """Send as an authenticated caller; braces are filled in when the row is measured."""
    asked = tool_call("echo", _ECHO, "hi")
    return replace(asked, headers={**asked.headers, "authorization": f"Bearer {{{credential}}}"})


def _batch() -> Request:
    body = json.dumps([call_of("echo", _ECHO)] * BATCH)
    return Request("/tool_calls/batch", body, (BATCH - 1, "content"), "hi", calls=BATCH)


def _universal(tool: str, args: Mapping[str, Any], expected: Any) -> Request:
    return Request("/tools/call", json.dumps({"request": {"tool_id": tool, "input": args}}), ("value",), expected)


def _arcade(tool: str, args: Mapping[str, Any], expected: Any) -> Request:
    body = json.dumps({"tool": {"name": tool.title(), "toolkit": "Bench", "version": None}, "inputs": args})
    return Request("/worker/tools/invoke", body, ("output", "value"), expected)


def fastmcp_call(tool: str, args: Mapping[str, Any], expected: Any) -> Request:
    """Ask a server of MCP to run a tool, in a stateless request of the protocol of 2026-07-28."""
    version = "2026-07-28"
    prefix = "io.modelcontextprotocol"
    meta = {f"{prefix}/protocolVersion": version, f"{prefix}/clientCapabilities": {}}
    params = {"name": tool, "arguments": args, "_meta": meta}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return Request("/mcp", body, ("result", "structuredContent", "result"), expected, headers)


def _langserve(tool: str, args: Mapping[str, Any], expected: Any) -> Request:
    return Request(f"/{tool}/invoke", json.dumps({"input": args}), ("output",), expected)


def _mcpo(tool: str, args: Mapping[str, Any], expected: Any) -> Request:
    return Request(f"/{tool}", json.dumps(args), (), expected)


_PEERS = {
    "arcade-serve": ("arcade", _arcade),
    "universal-tool-server": ("universal_tool_server", _universal),
    "langserve": ("langserve", _langserve),
    "fastmcp": ("fastmcp", fastmcp_call),
    "mcp": ("mcp_sdk", fastmcp_call),
    "mcpo": ("mcpo", _mcpo),
}

_TOKENS = {
    "SIDECALL_AUTH": "jwt",
    "SIDECALL_JWT_ISSUER": "{issuer}",
    "SIDECALL_JWT_KEYS_URL": "{issuer}/keys",
    "SIDECALL_JWT_AUDIENCE": AUDIENCE,
}

SERVERS: Mapping[str, Server] = {
    "raw": floor("raw"),
    "starlette": floor("starlette"),
    "fastapi": floor("fastapi"),
    "sidecall": sidecall("--tools", "bench/tools.py"),
    "keys": sidecall("--tools", "bench/tools.py", SIDECALL_AUTH="api_key", SIDECALL_KEYS_FILE="{keys_file}"),
    "tokens": sidecall("--tools", "bench/tools.py", **_TOKENS),
    "in file": sidecall("--tools", "bench/tools.py", SIDECALL_STORE="sqlite:///{folder}/ledger.db"),
    "in memory": sidecall("--tools", "bench/tools.py", SIDECALL_STORE="memory://"),
    "forgetful": sidecall("--tools", "bench/tools.py", SIDECALL_STORE="memory://", SIDECALL_HISTORY="off"),
    **{package: peer(module, package) for package, (module, _) in _PEERS.items()},
}

ROWS: Mapping[str, Row] = {
    "raw ASGI application": Row("raw", tool_call("echo", _ECHO, "hi")),
    FLOOR: Row("starlette", tool_call("echo", _ECHO, "hi")),
    FASTAPI: Row("fastapi", tool_call("echo", _ECHO, "hi")),
    ASYNC: Row("sidecall", tool_call("echo", _ECHO, "hi")),
    WITH_KEY: Row("keys", as_caller("key")),
    WITH_TOKEN: Row("tokens", as_caller("token")),
    IN_FILE: Row("in file", tool_call("echo", _ECHO, "hi")),
    IN_MEMORY: Row("in memory", tool_call("echo", _ECHO, "hi")),
    FORGETFUL: Row("forgetful", tool_call("echo", _ECHO, "hi")),
    "Sidecall, batch of 20": Row("sidecall", _batch()),
    "Sidecall, sync tool inline": Row("sidecall", tool_call("add_inline", _ADD, "3")),
    THREAD: Row("sidecall", tool_call("add", _ADD, "3")),
    **{f"{package}, echo": Row(package, ask("echo", _ECHO, "hi")) for package, (_, ask) in _PEERS.items()},
    **{f"{package}, add": Row(package, ask("add", _ADD, 3)) for package, (_, ask) in _PEERS.items()},
}


def peer_versions() -> dict[str, str]:
    """Return the versions of the peers that are measured."""
    return {package: version_of(package) for package in _PEERS}
