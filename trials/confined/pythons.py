"""Python without a system below: the cost of running code against a plain tool, and the harm of the worst code."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.kit.calls import write_call
from trials.finding import Finding
from trials.serving import serving

_TOOLS = "trials/served/pythons.py"
# Each, if it were let, would take the machine; the seconds that it may take are in the tool.
_ENDLESS = {"while True": "while True:\n    pass", "2**10**9": "2**10**9", "10 GB of text": "'a' * 10**10"}
_SECONDS, _LATER = 1.0, 1.5
_PAUSE = 0.003


def run() -> Iterator[Finding]:
    """Try 300 pieces of code, and three that would take the machine, one after the other."""
    yield from _try_all(300)


def run_shortly() -> Iterator[Finding]:
    """Try fewer."""
    yield from _try_all(30)


def _try_all(calls: int) -> Iterator[Finding]:
    with serving(_TOOLS, SIDECALL_TOOLKITS="python") as server, httpx.Client(base_url=server.url, timeout=60) as client:
        yield _compare(client, calls)
        quiet = _list_times(client, lambda: False, calls)
        for name, code in _ENDLESS.items():
            yield _endure(client, name, code, quiet)


def _compare(client: httpx.Client, calls: int) -> Finding:
    plain, python = [], []
    _time(client, "run_python", code="1")  # Which starts a worker.
    for _ in range(calls):
        plain.append(_time(client, "echo", text="x"))
        python.append(_time(client, "run_python", code="6 * 7"))
    beyond = (_find(python, 0.5) - _find(plain, 0.5)) * 1000
    measured = f"p50 {beyond:.2f} ms beyond a plain tool's"
    return Finding("pythons", "6 * 7", "p50 within 2 ms of a plain tool's", measured, True, beyond < 2)


def _endure(client: httpx.Client, name: str, code: str, quiet: list[float]) -> Finding:
    with ThreadPoolExecutor(1) as thread:
        begun = time.perf_counter()
        waiting = thread.submit(_call, client, "run_for_a_second", code=code)
        times = _list_times(client, lambda: not waiting.done(), 50)
        answer = waiting.result()
        taken = time.perf_counter() - begun
    before, during = _find(quiet, 0.99) * 1000, _find(times, 0.99) * 1000
    measured = f"ended after {taken:.1f} s; p99 of a plain tool {during:.1f} ms, without it {before:.1f} ms"
    bar = "ended within 1.5 s of its second, p99 of a plain tool within 5 ms of what it is"
    holds = answer.startswith("None ") and answer != "None None"
    in_time = taken < _SECONDS + _LATER and during < before + 5
    return Finding("pythons", name, bar, measured, holds, in_time)


def _list_times(client: httpx.Client, is_on: Callable[[], bool], least: int) -> list[float]:
    times: list[float] = []
    while len(times) < least or is_on():
        times.append(_time(client, "echo", text="x"))
        time.sleep(_PAUSE)
    return times


def _time(client: httpx.Client, name: str, **args: Any) -> float:
    begun = time.perf_counter()
    _call(client, name, **args)
    return time.perf_counter() - begun


def _call(client: httpx.Client, name: str, **args: Any) -> str:
    answer = client.post("/tool_calls", json=write_call(name, **args)).json()
    return str(answer["content"])


def _find(times: list[float], share: float) -> float:
    return sorted(times)[int(len(times) * share) - 1]
