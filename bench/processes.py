"""Tools in processes whose module takes a second to import: memory, the first answer, and the next after kills."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

from bench.environments import ROOT, Unavailable
from bench.floors import POOLED
from bench.load import Request, drive, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.rows import call_of, tool_call
from bench.servers import Running, Server, floor, running, sidecall
from bench.tables import tabulate

PROCESSES = POOLED
IMPORT = "the import of the tools' module, s"
MEMORY, ALONE = f"memory of {PROCESSES} processes and what forks them, MB", "memory of one plain process, MB"
FIRST, IN_THREADS = "processor time to the first answer, s", "the same in threads, s"
NEXT = f"next answer after {PROCESSES} timeouts, s"
WARM, POOL = "processor time of a warm call, µs", "the same in a Starlette route with a ProcessPoolExecutor, µs"
BARS = (
    Bar(
        f"memory of {PROCESSES} processes and what forks them ÷ of a plain process", MEMORY, ALONE, 1.7, at_least=False
    ),
    Bar("processor time to the first answer ÷ in threads", FIRST, IN_THREADS, 1.8, at_least=False),
    Bar("next answer after timeouts ÷ the import", NEXT, IMPORT, 0.1, at_least=False),
    Bar("a warm call in a process ÷ ProcessPoolExecutor", WARM, POOL, 1.4, at_least=False, aim=1.1),
)
_MOST_ROUNDS = 2
_ECHO = tool_call("echo", {"text": "hi"}, "hi")
_HANG = tool_call("hang", {}, "")
_WARM = replace(_ECHO, connections=PROCESSES)
# Imports what the tools' module does, and waits.
_PLAIN = "import bench.heavy, sys; print(flush=True); sys.stdin.read()"


def measure(rounds: int, cores: Cores) -> Part:
    """Start a new server for each round, in turns with one whose tools run in threads."""
    found: dict[str, list[float]] = {name: [] for name in (MEMORY, FIRST, NEXT, WARM, ALONE, IN_THREADS, IMPORT, POOL)}
    turns: Mapping[str, Callable[[], float]] = {
        "process": partial(_take, cores, "process", found),
        "thread": partial(_take, cores, "thread", found),
        "alone": partial(_take_others, cores, found),
    }
    _, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    series = {name: taken for name, taken in found.items() if taken}
    return tabulate("Tools in processes, with a second of imports", "s or MB", series, BARS, failed)


def _serve(executor: str) -> Server:
    settings = {"SIDECALL_PROCESSES": str(PROCESSES), "SIDECALL_STORE": "memory://", "SIDECALL_HISTORY": "off"}
    return sidecall("--tools", "bench/heavy.py", BENCH_EXECUTOR=executor, **settings)


def _take(cores: Cores, executor: str, found: dict[str, list[float]]) -> float:
    in_process = executor == "process"
    with running(_serve(executor), cores) as server, new_client() as client:
        verify(client, server.url, _ECHO)
        used = server.processor_seconds()
        if used is None:
            raise Unavailable("nobody counts processor time here")
        found[FIRST if in_process else IN_THREADS].append(sum(used))
        if in_process:
            # First calls in all processes, which are forked when they are needed.
            found[WARM].append(_read_processor(server, _WARM))
            found[MEMORY].append(server.resident_mb() - server.resident_mb(alone=True))
            found[NEXT].append(_kill_all(server))
        else:
            import_took = client.post(f"{server.url}/tool_calls", json=call_of("took", {}))
            found[IMPORT].append(float(import_took.json()["content"]))
    return 0.0


def _take_others(cores: Cores, found: dict[str, list[float]]) -> float:
    """Measure a process that only imports the module, and the pool of the standard library."""
    command = [sys.executable, "-c", _PLAIN]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as plain:
        assert plain.stdout is not None
        plain.stdout.readline()
        found[ALONE].append(Running(0, plain.pid).resident_mb())
        plain.communicate()
    with running(floor("starlette"), cores) as server:
        found[POOL].append(_read_processor(server, replace(_WARM, path="/pooled_calls")))
    return 0.0


def _read_processor(server: Running, request: Request) -> float:
    with new_client() as client:
        verify(client, server.url, request)
    used = drive(server, request).processor_us
    if used is None:
        raise Unavailable("nobody counts processor time here")
    return used


def _kill_all(server: Running) -> float:
    """Let all processes be killed at their deadline, and wait for the next answer."""
    with ThreadPoolExecutor(PROCESSES) as pool:
        list(pool.map(partial(_post, server), [_HANG] * PROCESSES))
    with new_client() as client:
        begun = time.perf_counter()
        verify(client, server.url, _ECHO)
        return time.perf_counter() - begun


def _post(server: Running, request: Request) -> None:
    with new_client() as client:
        client.post(server.url + request.path, content=request.body, headers=request.headers)
