"""One thing that is done at its bound, and how requests of it are written."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx

HERE = {"Sidecall-Conversation": "one"}
STREAM = {"Accept": "text/event-stream"}
NEWEST = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientInfo": {"name": "trial", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}

Client = httpx.Client
Ask = Callable[[Client], httpx.Response]


@dataclass(frozen=True, slots=True)
class Case:
    """What is done, at which bound, and how."""

    what: str
    bound: str
    ask: Ask


def get(path: str, **headers: str) -> Ask:
    """Read something."""
    return lambda client: client.get(path, headers=headers)


def call(name: str, args: Any, /, **headers: str) -> Ask:
    """Make a call in LangChain's form."""
    return send({"name": name, "args": args, "id": "call_1"}, **headers)


def send(said: Any, path: str = "/tool_calls", **headers: str) -> Ask:
    """Send JSON; bytes are sent unchanged."""
    wanted = {"Content-Type": "application/json", **headers}
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return lambda client: client.post(path, content=body, headers=wanted)


def send_form(path: str, body: bytes, kind: str = "multipart/form-data; boundary=edge") -> Ask:
    """Send a form unchanged."""
    return lambda client: client.post(path, content=body, headers={"Content-Type": kind})


def call_for_openai(name: str, arguments: str) -> Ask:
    """Make a Chat Completions call, whose arguments are a text."""
    return send({"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}})


def ask_over_mcp(method: str, **params: Any) -> Ask:
    """Send a request of MCP's newest revision."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    more = {"MCP-Protocol-Version": NEWEST, "Mcp-Method": method}
    more |= {"Mcp-Name": params["name"]} if "name" in params else {}
    more |= {"Mcp-Name": params["uri"]} if "uri" in params else {}
    return send(message, "/mcp", Accept="application/json, text/event-stream", **more)


def nest(levels: int) -> Any:
    """Return lists within lists."""
    return [nest(levels - 1)] if levels else 1


def after(*steps: Ask) -> Ask:
    """Do several things, and return the answer to the last."""

    def ask(client: Client) -> httpx.Response:
        *_, last = [step(client) for step in steps]
        return last

    return ask


def at_once(ask: Ask, times: int) -> Ask:
    """Do something so many times at once, and return the first answer."""

    def ask_all(client: Client) -> httpx.Response:
        with ThreadPoolExecutor(times) as threads:
            asked = [threads.submit(ask, client) for _ in range(times)]
        return asked[0].result()

    return ask_all


def send_batch(calls: list[Any]) -> Ask:
    """Send calls of any dialect at once."""
    return send(calls, "/tool_calls/batch")
