"""The time from the start of a process to its first answer, and its memory then, against a bare FastAPI application.

Also the cost of importing Sidecall for an author's program: modules and seconds, recorded without a bar.
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import httpx

from bench.load import Request, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread, take_turns
from bench.rows import tool_call
from bench.servers import Server, floor, running, sidecall

SHIPPED = "Sidecall, with the tools that ship"
CONFINED = "Sidecall, with those and toolkits that need a sandbox"
OURS = "Sidecall, with the tools that ship, nothing kept"
FASTAPI = "FastAPI application with one route"

_CALCULATE = tool_call("calculator", {"expression": "6 * 7"}, "42")
_ASKED: Mapping[str, tuple[Server, Request]] = {
    SHIPPED: (sidecall(), _CALCULATE),
    CONFINED: (sidecall(SIDECALL_TOOLKITS="files,shell,python"), _CALCULATE),
    OURS: (sidecall(SIDECALL_STORE="memory://", SIDECALL_HISTORY="off"), _CALCULATE),
    FASTAPI: (floor("fastapi"), tool_call("echo", {"text": "hi"}, "hi")),
}

# What is promised beside the rows of the table.
LATER, MEMORY = "later with toolkits that need a sandbox", "resident memory after it"
BARS = (
    Bar("start to first answer ÷ FastAPI's", OURS, FASTAPI, 1.9, at_least=False),
    Bar("start to first answer, as it ships", SHIPPED, None, 0.9, at_least=False, unit="s"),
    Bar(LATER, LATER, None, 0.1, at_least=False, unit="s"),
    Bar(MEMORY, MEMORY, None, 74, at_least=False, unit="MB"),
)
_IMPORTS = ("import sidecall", "from sidecall import tool", "import sidecall.kernel.core.errors")
_COUNT = (
    "import json, sys, time; before, begin = len(sys.modules), time.perf_counter(); {}; "
    "print(json.dumps([time.perf_counter() - begin, len(sys.modules) - before]))"
)


def measure(rounds: int, cores: Cores) -> Part:
    """Start both again and again, in turns; the first round only warms the disk."""
    with new_client() as client:
        turns = {name: partial(_first_answer, client, cores, *asked) for name, asked in _ASKED.items()}
        take_turns(turns, 1)
        starts, failed = take_turns(turns, rounds + 1)
    imports, _ = take_turns({statement: partial(_import, statement, cores) for statement in _IMPORTS}, rounds + 1)
    seconds = {name: [start.seconds for start in taken] for name, taken in starts.items()}
    used = {name: [start.processor_seconds for start in taken] for name, taken in starts.items()}
    memory = {name: [start.resident_mb for start in taken] for name, taken in starts.items()}
    return Part(
        title="Start to first answer",
        measures="seconds",
        columns=("", "seconds", "lowest to highest", "÷ FastAPI", "resident MB", "modules"),
        rows=(
            *(_line(name, seconds, memory) for name in seconds),
            *(_line_of_import(statement, taken) for statement, taken in imports.items()),
        ),
        series=seconds,
        figures=compare({**seconds, **_list_more(seconds, memory)}, BARS, used),
        skipped=failed,
    )


@dataclass(frozen=True)
class _Start:
    seconds: float
    processor_seconds: float
    resident_mb: float


def _first_answer(client: httpx.Client, cores: Cores, server: Server, request: Request) -> _Start:
    start = time.perf_counter()
    with running(server, cores) as started:
        verify(client, started.url, request)
        took = time.perf_counter() - start
        return _Start(took, sum(started.processor_seconds() or (took,)), started.resident_mb())


def _import(statement: str, cores: Cores) -> tuple[float, int]:
    command = cores.pinned((sys.executable, "-c", _COUNT.format(statement)))
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, modules = json.loads(done.stdout)
    return seconds, modules


def _line_of_import(statement: str, taken: list[tuple[float, int]]) -> tuple[str, ...]:
    seconds = spread([each for each, _ in taken])
    name = f"`{statement}`"
    return name, f"{seconds.median:.3f}", f"{seconds.low:.3f} to {seconds.high:.3f}", "", "", str(taken[-1][1])


def _list_more(seconds: Mapping[str, list[float]], memory: Mapping[str, list[float]]) -> dict[str, list[float]]:
    more = {MEMORY: memory[OURS]} if OURS in memory else {}
    if SHIPPED in seconds and CONFINED in seconds:
        # Both of the same round: the sandbox is tested during the start.
        pairs = zip(seconds[CONFINED], seconds[SHIPPED], strict=True)
        more[LATER] = [one - other for one, other in pairs]
    return more


def _line(name: str, seconds: Mapping[str, list[float]], memory: Mapping[str, list[float]]) -> tuple[str, ...]:
    taken = spread(seconds[name])
    above = f"{ratio(seconds[name], seconds[FASTAPI]).median:.2f}" if FASTAPI in seconds else ""
    return (
        name,
        f"{taken.median:.2f}",
        f"{taken.low:.2f} to {taken.high:.2f}",
        above,
        f"{spread(memory[name]).median:.0f}",
        "",
    )
