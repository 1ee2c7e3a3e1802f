"""Large results: their cost, the memory that they take, and how long others wait meanwhile."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx

from bench.environments import Unavailable
from bench.load import new_client
from bench.machine import Cores
from bench.results import Bar, Part, absolute
from bench.rounds import take_turns
from bench.rows import call_of
from bench.servers import Running, floor, running, sidecall
from bench.tables import tabulate
from bench.work import make_rows

# Rows of about a hundred bytes.
SMALL, LARGE = 10_000, 140_000
ROWS, ARTIFACT = "1 MB of rows as a result, ms", "14 MB of rows as an artifact, ms"
FLOOR_ROWS, FLOOR_ARTIFACT = "Starlette + to_json, 1 MB, ms", "Starlette + to_json, 14 MB, ms"
PEAK, WORST = "memory for the artifact ÷ its size", "longest answer of GET /healthz meanwhile, ms"
BARS = (
    Bar("1 MB of rows ÷ Starlette + to_json", ROWS, FLOOR_ROWS, 1.5, at_least=False),
    Bar("14 MB of rows as an artifact ÷ Starlette + to_json", ARTIFACT, FLOOR_ARTIFACT, 3.0, at_least=False, aim=2.0),
)
_ROOM = str(64 * 1024 * 1024)
_SERVER = sidecall(
    *("--tools", "bench/tools.py"),
    **dict.fromkeys(("SIDECALL_MAX_CONTENT_BYTES", "SIDECALL_MAX_ARTIFACT_BYTES", "SIDECALL_MAX_RESULT_BYTES"), _ROOM),
    SIDECALL_STORE="memory://",
    SIDECALL_HISTORY="off",
)
_MOST_ROUNDS = 5
_LOOK = 0.002


def measure(rounds: int, cores: Cores) -> Part:
    """Ask both servers for as many rows, in turns."""
    peaks: list[float] = []
    worst: list[float] = []
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(running(it, cores)) for it in (_SERVER, floor("starlette")))
        turns: dict[str, Callable[[], float]] = {
            ROWS: partial(_ask, ours, "/tool_calls", "rows", SMALL),
            FLOOR_ROWS: partial(_ask, theirs, "/rows", "rows", SMALL),
            ARTIFACT: partial(_ask_watched, ours, peaks, worst),
            FLOOR_ARTIFACT: partial(_ask, theirs, "/rows", "rows", LARGE),
        }
        for server, path, tool in ((ours, "/tool_calls", "table"), (theirs, "/rows", "rows")):
            for count in (SMALL, LARGE):  # The rows are made once, which is no part of what is measured.
                _send(server, path, tool, count)
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    found = {**series, PEAK: peaks, WORST: worst} if peaks else series
    more = [
        absolute(name, found[name], bar, unit, at_least=False)
        for name, bar, unit in ((PEAK, 3.0, ""), (WORST, 60.0, "ms"))
        if name in found
    ]
    return tabulate("Large results", "ms of the server's processor time", found, BARS, failed, more)


def _ask(server: Running, path: str, tool: str, count: int) -> float:
    before = server.processor_seconds()
    size = _send(server, path, tool, count)
    after = server.processor_seconds()
    if before is None or after is None:
        raise Unavailable("nobody counts processor time here")
    if size < count * 50:
        raise Unavailable(f"only {size} bytes came")
    return (sum(after) - sum(before)) * 1000


def _send(server: Running, path: str, tool: str, count: int) -> int:
    with new_client() as client:
        answer = client.post(server.url + path, json=call_of(tool, {"count": count}))
        return len(answer.raise_for_status().content)


def _ask_watched(server: Running, peaks: list[float], worst: list[float]) -> float:
    """Do so beside a client that asks for the health of the server."""
    Path(f"/proc/{server.pid}/clear_refs").write_text("5")  # The peak is counted from here.
    before = server.resident_mb(alone=True)
    done = threading.Event()
    waited: list[float] = [0.0]
    watcher = threading.Thread(target=_watch, args=(server.url, done, waited))
    watcher.start()
    try:
        used = _ask(server, "/tool_calls", "table", LARGE)
    finally:
        done.set()
        watcher.join()
    size = len(json.dumps(make_rows(100))) / 100 * LARGE / 1e6
    peaks.append((server.resident_mb(peak=True, alone=True) - before) / size)
    worst.append(max(waited) * 1000)
    return used


def _watch(url: str, done: threading.Event, waited: list[float]) -> None:
    with httpx.Client(trust_env=False, timeout=30) as client:
        while not done.is_set():
            start = time.perf_counter()
            client.get(f"{url}/healthz")
            waited.append(time.perf_counter() - start)
            time.sleep(_LOOK)
