"""The cost of a call by the form in which it is sent and the door at which it comes, compared with LangChain's form."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from bench.load import CONNECTIONS, Pace, Request, count_processor
from bench.machine import Cores
from bench.over_http import take_paces
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread
from bench.rows import FLOOR, Row, call_of, fastmcp_call, tool_call
from bench.rows import ROWS as ALL
from bench.rows import SERVERS as ALL_SERVERS
from bench.servers import Server, sidecall

_ECHO = {"text": "hi"}
_TEXT = json.dumps(_ECHO)
# Where the text stands in the result of a tool without an output schema.
_IN_MCP = ("result", "content", 0, "text")
_EVENTS = {"content-type": "application/json", "accept": "text/event-stream"}

PLAIN = "LangChain's form"
LISTING = "GET /tools"
MCP = "MCP 2026-07-28"
OLD_MCP = "MCP 2025-11-25"
WAIT, WAIT_ON_SQLITE = "Prefer: wait, in memory", "Prefer: wait, on SQLite"


def _call(body: Any, *where: str | int, expected: Any = "hi") -> Request:
    return Request("/tool_calls", json.dumps(body), where, expected)


def _batch(size: int) -> Request:
    body = json.dumps([call_of("echo", _ECHO)] * size)
    return Request("/tool_calls/batch", body, (size - 1, "content"), "hi", calls=size)


def _old_mcp() -> Request:
    params = {"name": "echo", "arguments": _ECHO}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return Request("/mcp", body, _IN_MCP, "hi", headers)


_FUNCTION = {"name": "echo", "arguments": _TEXT}
_REQUESTS: Mapping[str, Request] = {
    PLAIN: tool_call("echo", _ECHO, "hi"),
    "LangChain's form without an id": _call({"name": "echo", "args": _ECHO}, "content"),
    "OpenAI chat": _call({"id": "call_1", "type": "function", "function": _FUNCTION}, "content"),
    "Responses": _call({"type": "function_call", "call_id": "call_1", **_FUNCTION}, "output"),
    "Anthropic": _call({"type": "tool_use", "id": "call_1", "name": "echo", "input": _ECHO}, "content"),
    "Gemini": _call(
        {"functionCall": {"id": "call_1", "name": "echo", "args": _ECHO}},
        *("functionResponse", "response", "output"),
    ),
    "POST /tools/echo/call": Request("/tools/echo/call", _TEXT, (), "hi"),
    MCP: replace(fastmcp_call("echo", _ECHO, "hi"), where=_IN_MCP),
    OLD_MCP: _old_mcp(),
    "a wrong call": _call(call_of("echo", {"text": 1}), "status", expected="error"),
    "a call as events": Request("/tool_calls", json.dumps(call_of("echo", _ECHO)), headers=_EVENTS),
    "a batch of 1": _batch(1),
    "a batch of 5": _batch(5),
    "a batch of 100": _batch(100),
    LISTING: Request("/tools"),
    "GET /healthz": Request("/healthz", where=("status",), expected="ok"),
    "GET /readyz": Request("/readyz", where=("status",), expected="ready"),
    "GET /tools/echo": Request("/tools/echo", where=("name",), expected="echo"),
}
_TO_REMEMBER = replace(_REQUESTS[PLAIN], headers={**_REQUESTS[PLAIN].headers, "prefer": "wait=10"})
# The most that each may cost, and what the aim is, compared with a call in LangChain's form.
_MOST: Mapping[str, tuple[float, float | None]] = {
    "LangChain's form without an id": (1.2, 1.1),
    "OpenAI chat": (1.2, 1.1),
    "Responses": (1.2, 1.1),
    "Anthropic": (1.2, 1.1),
    "Gemini": (1.2, 1.1),
    "POST /tools/echo/call": (1.2, 1.15),
    MCP: (1.4, 1.2),
    OLD_MCP: (1.4, 1.2),
    "a wrong call": (2.0, 1.6),
    "a call as events": (2.0, None),
    "a batch of 1": (1.5, None),
    "a batch of 5": (1.1, None),
    "a batch of 100": (0.5, 0.35),
    WAIT: (2.2, None),
    WAIT_ON_SQLITE: (3.5, None),
}
BARS = (
    Bar(f"{PLAIN} ÷ Starlette floor", FLOOR, PLAIN, 1.0, aim=1.1),
    *(Bar(f"{name} ÷ {PLAIN}", name, PLAIN, bar, at_least=False, aim=aim) for name, (bar, aim) in _MOST.items()),
    *(
        Bar(f"{name} ÷ {LISTING}", name, LISTING, 2.0, at_least=False, aim=1.2)
        for name in ("GET /healthz", "GET /readyz", "GET /tools/echo")
    ),
)
# A server that keeps nothing, as the floor does.
SERVER = "forgetful"
ROWS: Mapping[str, Row] = {
    FLOOR: ALL[FLOOR],
    **{name: Row(SERVER, request) for name, request in _REQUESTS.items()},
    WAIT: Row("memory", _TO_REMEMBER),
    WAIT_ON_SQLITE: Row("file", _TO_REMEMBER),
}
# In memory there is room for some 30,000 calls, and none goes while it can be asked for: so that is for a second.
_REMEMBERING = {"SIDECALL_HISTORY": "off", "SIDECALL_JOB_TTL": "1"}
SERVERS: Mapping[str, Server] = {
    **{name: ALL_SERVERS[name] for name in (ROWS[FLOOR].server, SERVER)},
    "memory": sidecall("--tools", "bench/tools.py", SIDECALL_STORE="memory://", **_REMEMBERING),
    "file": sidecall("--tools", "bench/tools.py", SIDECALL_STORE="sqlite:///{folder}/ledger.db", **_REMEMBERING),
}


def measure(rounds: int, cores: Cores) -> Part:
    """Let the doors take turns."""
    return summarize(*take_paces(ROWS, SERVERS, rounds, cores))


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table, of the processor time for each call."""
    series, uncounted = count_processor(paces)
    return Part(
        title=f"What a call costs, by form and door, {CONNECTIONS} connections",
        measures="µs of the server's processor time",
        columns=("", "server CPU µs a call", "lowest to highest", f"÷ {PLAIN}"),
        rows=tuple(_line(name, series) for name in series),
        series=series,
        figures=compare(series, BARS),
        skipped={**skipped, **uncounted},
    )


def _line(name: str, series: Mapping[str, list[float]]) -> tuple[str, ...]:
    found = spread(series[name])
    beside = f"{ratio(series[name], series[PLAIN]).median:.2f}" if PLAIN in series else ""
    return name, f"{found.median:.1f}", f"{found.low:.1f} to {found.high:.1f}", beside
