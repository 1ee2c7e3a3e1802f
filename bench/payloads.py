"""Large results and arguments: their cost, the memory that they take, and how long others wait meanwhile."""

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from bench.environments import Unavailable
from bench.latency_probe import LatencyProbe
from bench.load import new_client
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.rows import call_of
from bench.servers import Running, floor, peer, running, sidecall
from bench.tables import tabulate
from bench.work import make_rows

# Rows of about a hundred bytes: 1, 14 and 16 MB.
SMALL, LARGE, LARGEST = 10_000, 140_000, 160_000
ROWS, FLOOR_ROWS = "1 MB of rows as a result, ms", "Starlette + to_json, 1 MB of rows, ms"
ARTIFACT, FLOOR_ARTIFACT = "16 MB of rows as an artifact, ms", "Starlette + orjson, 16 MB of rows, ms"
TO_JSON = "Starlette + to_json, 16 MB of rows, ms"
MODELS, FLOOR_MODELS = "1 MB of models as arguments, ms", "Starlette + pydantic, 1 MB of models, ms"
PEAK, WORST = "memory for the artifact ÷ its size", "longest answer of GET /healthz beside the artifact, ms"
RESULT = "14 MB of rows as a result, ms"
HELD = "longest answer of GET /healthz beside 14 MB of rows, above that at rest, ms"
BARS = (
    Bar("1 MB of rows as a result ÷ Starlette + to_json", ROWS, FLOOR_ROWS, 1.5, at_least=False),
    Bar("the loop held by 14 MB of rows as a result", HELD, None, 25, at_least=False, unit="ms"),
    Bar("16 MB of rows as an artifact ÷ Starlette + orjson", ARTIFACT, FLOOR_ARTIFACT, 3, at_least=False, aim=2),
    Bar("memory for the artifact ÷ its size", PEAK, None, 3, at_least=False, aim=2),
    Bar("GET /healthz beside the artifact, the longest", WORST, None, 60, at_least=False, aim=25, unit="ms"),
    Bar("1 MB of models as arguments ÷ Starlette + pydantic", MODELS, FLOOR_MODELS, 1, at_least=False),
)
_ROOM = str(64 * 1024 * 1024)
_BOUNDS = ("CONTENT_BYTES", "ARTIFACT_BYTES", "RESULT_BYTES")
_SERVER = sidecall(
    *("--tools", "bench/tools.py"),
    **{f"SIDECALL_MAX_{bound}": _ROOM for bound in _BOUNDS},
    # Ten thousand rows of six.
    SIDECALL_MAX_JSON_VALUES="100000",
    SIDECALL_STORE="memory://",
    SIDECALL_HISTORY="off",
)
_MOST_ROUNDS = 7
# Requests of a megabyte in one turn: they are short, and Python's collector of cycles runs in some of them.
_TIMES = 5
# Seconds at rest, and between two questions of the probe.
_AT_REST, _EVERY = 0.5, 0.002


def measure(rounds: int, cores: Cores) -> Part:
    """Ask all servers for as many rows, in turns."""
    found: dict[str, list[float]] = {PEAK: [], WORST: [], HELD: []}
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(running(it, cores)) for it in (_SERVER, floor("starlette")))
        turns: dict[str, Callable[[], float]] = {
            ROWS: partial(_ask, ours, "/tool_calls", "rows", SMALL),
            FLOOR_ROWS: partial(_ask, theirs, "/rows", "rows", SMALL),
            MODELS: partial(_give, ours, "/tool_calls"),
            FLOOR_MODELS: partial(_give, theirs, "/models"),
            RESULT: partial(_ask_for_result, ours, found[HELD]),
            ARTIFACT: partial(_ask_for_artifact, ours, found),
            TO_JSON: partial(_ask, theirs, "/rows", "rows", LARGEST),
        }
        skipped: dict[str, str] = {}
        try:
            fastest = stack.enter_context(running(peer("orjson_rows", "orjson"), cores))
            turns[FLOOR_ARTIFACT] = partial(_ask, fastest, "/rows", "rows", LARGEST)
        except Unavailable as error:
            skipped[FLOOR_ARTIFACT] = str(error)
        take_turns(turns, 1)  # Servers make the rows once, which is no part of what is measured.
        for taken in found.values():
            taken.clear()
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    series |= {name: taken for name, taken in found.items() if taken}
    return tabulate("Large results and arguments", "ms of processor time", series, BARS, skipped | failed)


def _ask(server: Running, path: str, tool: str, count: int) -> float:
    return _post(server, path, json.dumps(call_of(tool, {"count": count})), count * 50)


def _give(server: Running, path: str) -> float:
    return _post(server, path, json.dumps(call_of("take", {"items": make_rows(SMALL)})), 0)


def _post(server: Running, path: str, body: str, least: int) -> float:
    """Return the milliseconds of the server's processor for a request whose answer has so many bytes at least."""
    times = 1 if least > SMALL * 50 else _TIMES
    before = server.processor_seconds()
    with new_client() as client:
        for _ in range(times):
            answer = client.post(server.url + path, content=body, headers={"content-type": "application/json"})
            if answer.status_code != 200 or len(answer.content) < least or b'"error"' in answer.content[:2000]:
                raise Unavailable(f"answers {answer.status_code} {answer.text[:120]}")
    after = server.processor_seconds()
    if before is None or after is None:
        raise Unavailable("nobody counts processor time here")
    return (sum(after) - sum(before)) * 1000 / times


def _look(probe: LatencyProbe) -> float:
    """Return the milliseconds of the longest answer of GET /healthz since the last look."""
    seen = probe.look()
    if seen.failures:
        raise Unavailable("the server does not say how it is")
    return seen.worst * 1000


def _ask_for_result(server: Running, held: list[float]) -> float:
    used = _ask(server, "/tool_calls", "rows", LARGE)
    # Once more, since what a probe asks would count with what was used.
    probe = LatencyProbe(server.port, _EVERY)
    with probe:
        time.sleep(_AT_REST)
        at_rest = _look(probe)
        _ask(server, "/tool_calls", "rows", LARGE)
        held.append(max(0.0, _look(probe) - at_rest))
    return used


def _ask_for_artifact(server: Running, found: dict[str, list[float]]) -> float:
    server.forget_peak()
    before = server.resident_mb(alone=True)
    used = _ask(server, "/tool_calls", "table", LARGEST)
    size = len(json.dumps(make_rows(100))) / 100 * LARGEST / 1e6
    found[PEAK].append((server.resident_mb(peak=True, alone=True) - before) / size)
    probe = LatencyProbe(server.port, _EVERY)
    with probe:
        _look(probe)
        _ask(server, "/tool_calls", "table", LARGEST)
        found[WORST].append(_look(probe))
    return used
