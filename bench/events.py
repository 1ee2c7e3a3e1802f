"""The cost of events, the parts that arrive, and the memory of streams that wait."""

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

from bench.environments import Unavailable
from bench.flood import hold
from bench.load import new_client
from bench.machine import Cores, raise_file_limit
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.rows import call_of
from bench.servers import Running, Server, floor, running, sidecall
from bench.tables import tabulate

EVENTS = 10_000
WAITING = 500
PROGRESS, FLOOR = "an event of progress, µs", "one of Starlette's StreamingResponse, µs"
STREAM, CALL = "a stream that waits, kB", "a plain call that waits, kB"
PARTS = f"of {EVENTS:,} parts of a generator that never waits, those that arrive"
AWAITED = f"of {EVENTS:,} awaited events of progress, those that arrive"
BARS = (
    Bar("an event of progress ÷ one of Starlette's", PROGRESS, FLOOR, 1.5, at_least=False, aim=1.2),
    Bar("memory of a stream that waits ÷ of a call", STREAM, CALL, 1.4, at_least=False),
    Bar(PARTS, PARTS, None, EVENTS),
    Bar(AWAITED, AWAITED, None, EVENTS),
)
_SERVER = sidecall("--tools", "bench/tools.py", SIDECALL_STORE="memory://", SIDECALL_HISTORY="off")
_STREAM = {"content-type": "application/json", "accept": "text/event-stream"}
_MOST_ROUNDS = 7


def measure(rounds: int, cores: Cores) -> Part:
    """Let both servers send as many events, in turns, and then let calls and streams wait."""
    rounds = min(rounds, _MOST_ROUNDS)
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(running(it, cores)) for it in (_SERVER, floor("starlette")))
        body = json.dumps(call_of("report", {"times": EVENTS}))
        turns: dict[str, Callable[[], float]] = {
            PROGRESS: partial(_read, ours, "/tool_calls", body, b"event: progress"),
            FLOOR: partial(_read, theirs, "/stream", json.dumps(EVENTS), b"event: progress"),
            PARTS: partial(_count, ours, "split", b"event: partial"),
            AWAITED: partial(_count, ours, "tell", b"event: progress"),
        }
        take_turns(turns, 1)
        series, failed = take_turns(turns, rounds)
    waits: Mapping[str, Callable[[], float]] = {
        STREAM: partial(_wait, cores, _SERVER, "text/event-stream"),
        CALL: partial(_wait, cores, _SERVER, "application/json"),
    }
    held, unheld = take_turns(waits, min(rounds, 2))
    series |= held
    return tabulate("Events", "µs, kB or events", series, BARS, {**failed, **unheld})


def _read(server: Running, path: str, body: str, kind: bytes) -> float:
    """Read a stream at full speed; returns the server's processor time for each event."""
    before = server.processor_seconds()
    with new_client() as client:
        text = client.post(server.url + path, content=body, headers=_STREAM).content
    after = server.processor_seconds()
    if before is None or after is None:
        raise Unavailable("nobody counts processor time here")
    if text.count(kind) != EVENTS:
        raise Unavailable(f"{text.count(kind)} of {EVENTS} events came")
    return (sum(after) - sum(before)) / EVENTS * 1e6


def _count(server: Running, tool: str, kind: bytes) -> float:
    """Read a stream of a tool that never waits, at full speed; returns how many of its events arrive."""
    body = json.dumps(call_of(tool, {"times": EVENTS}))
    with new_client() as client:
        return float(client.post(server.url + "/tool_calls", content=body, headers=_STREAM).content.count(kind))


def _wait(cores: Cores, server: Server, accept: str) -> float:
    """Return the memory of one of many requests that wait."""
    raise_file_limit()
    body = json.dumps(call_of("pause", {"seconds": 30}))
    head = f"POST /tool_calls HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: {accept}\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()
    with running(server, cores) as started:
        with hold(started.port, request, 20):
            before = started.resident_mb(alone=True)
        with hold(started.port, request, WAITING):
            return (started.resident_mb(alone=True) - before) * 1000 / WAITING
