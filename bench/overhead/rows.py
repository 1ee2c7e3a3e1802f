"""The rows of the overhead: one thing more is switched on from row to row."""

from collections.abc import Mapping
from dataclasses import replace

from bench import rows
from bench.rows import FLOOR, Row, as_caller
from bench.servers import Server, sidecall

PLAIN = "Sidecall, async tool, nothing kept"
LOGGED = "Sidecall, async tool, logged with arguments"
SPANS = "Sidecall, async tool, logs + spans"
RATE = "Sidecall, async tool, logs + spans + rate + caller"
KEY = "Sidecall, async tool, logs + spans + rate + caller + API key"
HISTORY = "Sidecall, async tool, history in SQLite"
THREAD = "Sidecall, sync tool in a thread, nothing kept"

# By default a history is kept in SQLite. It is a row of its own here, so that it does not hide the others' cost.
_KEEPING_NOTHING = {"SIDECALL_STORE": "memory://", "SIDECALL_HISTORY": "off"}
_LOGS = {"SIDECALL_LOG_CALLS": "true", "SIDECALL_LOG_ARGS": "true", "SIDECALL_LOG_FORMAT": "json"}
_SPANS = {"OTEL_EXPORTER_OTLP_ENDPOINT": "{collector}"}
# A rate that is counted and that the load never reaches: a refusal would be quicker than an answer.
_RATE = {"SIDECALL_RATE_LIMIT": "1000000/second"}
_CALLER = {"SIDECALL_CALLER_HEADER": "X-Caller"}
_KEY = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": "{keys_file}"}


def _serve(*settings: Mapping[str, str]) -> Server:
    merged = {name: value for each in (_KEEPING_NOTHING, *settings) for name, value in each.items()}
    return sidecall("--tools", "bench/tools.py", **merged)


SERVERS: Mapping[str, Server] = {
    "starlette": rows.SERVERS["starlette"],
    "plain": _serve(),
    "logs": _serve(_LOGS),
    "spans": _serve(_LOGS, _SPANS),
    "rate": _serve(_LOGS, _SPANS, _RATE, _CALLER),
    "key": _serve(_LOGS, _SPANS, _RATE, _KEY),
    "history": rows.SERVERS["in file"],
}

_ECHO = rows.ROWS[rows.ASYNC].request

ROWS: Mapping[str, Row] = {
    FLOOR: rows.ROWS[FLOOR],
    PLAIN: Row("plain", _ECHO),
    LOGGED: Row("logs", _ECHO),
    SPANS: Row("spans", _ECHO),
    RATE: Row("rate", replace(_ECHO, headers={**_ECHO.headers, "x-caller": "bench"})),
    KEY: Row("key", as_caller("key")),
    HISTORY: Row("history", _ECHO),
    THREAD: Row("plain", rows.ROWS[rows.THREAD].request),
}
