"""Calls without a server: each way runs in a process of its own, and they take turns."""

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from subprocess import PIPE
from typing import IO

from bench.environments import ROOT, Unavailable, python_of, reason_in, version_of
from bench.machine import Cores
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread, take_turns
from bench.servers import plain_environment

FLOOR = "pydantic alone"
OURS = "Sidecall's pipeline"
LANGCHAIN = "langchain-core, ainvoke(ToolCall)"
AGENTS = "openai-agents, on_invoke_tool"

# A program of bench/loops, and the peer in whose environment it runs.
_LOOPS: Mapping[str, tuple[str, str | None]] = {
    FLOOR: ("pydantic_alone", None),
    OURS: ("sidecall_pipeline", None),
    LANGCHAIN: ("langchain_core", "langchain-core"),
    AGENTS: ("openai_agents", "openai-agents"),
}
BARS = (
    Bar("pipeline in process ÷ pydantic alone, time", OURS, FLOOR, 2.5, at_least=False, aim=2),
    Bar("langchain-core ÷ pipeline in process, time", LANGCHAIN, OURS, 10),
)
RIGHT = "a right call"
_MOST = 3
_CALLS_PER_TURN = 150
_WRONG_TURNS = 3
# A turn is short, so that many fit and a busy moment hits neighbors alike.
_TURN_NS = 150_000_000
_TURNS_PER_ROUND = 5


@dataclass(frozen=True)
class Loop:
    """A process that runs calls when asked."""

    asks: IO[str]
    says: IO[str]
    calls: int = 200

    def nanoseconds(self) -> int:
        """Run the calls of one turn."""
        self.asks.write(f"{self.calls}\n")
        self.asks.flush()
        return int(self.says.readline())

    def microseconds_per_call(self) -> float:
        """Run the calls of one turn, and return the time of one."""
        return self.nanoseconds() / self.calls / 1000

    def calibrated(self) -> "Loop":
        """Return it with as many calls as fill a turn, after a warm-up."""
        self.nanoseconds()
        return Loop(self.asks, self.says, max(1, self.calls * _TURN_NS // self.nanoseconds()))


def measure(rounds: int, cores: Cores) -> Part:
    """Measure all loops, peers included."""
    return _measure(rounds, cores, _LOOPS)


def measure_ours(rounds: int, cores: Cores) -> Part:
    """Measure our pipeline against pydantic alone."""
    return _measure(rounds, cores, {name: _LOOPS[name] for name in (FLOOR, OURS)})


def _measure(rounds: int, cores: Cores, wanted: Mapping[str, tuple[str, str | None]]) -> Part:
    """Start every loop once, and let them take turns."""
    skipped: dict[str, str] = {}
    loops: dict[str, Loop] = {}
    with ExitStack() as stack:
        for name, (module, peer) in wanted.items():
            try:
                loops[name] = _start(stack, module, peer, cores).calibrated()
            except Unavailable as error:
                skipped[name] = str(error)
        turns = {name: partial(loop.microseconds_per_call) for name, loop in loops.items()}
        series, failed = take_turns(turns, rounds * _TURNS_PER_ROUND)
    return _summarize(series, {**skipped, **failed})


def _start(stack: ExitStack, module: str, peer: str | None, cores: Cores) -> Loop:
    python = sys.executable if peer is None else python_of(peer)
    command = cores.pinned((python, "-m", f"bench.loops.{module}"))
    process = stack.enter_context(
        subprocess.Popen(command, cwd=ROOT, env=plain_environment(), text=True, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()
    if not first:
        raise Unavailable(f"does not start: {reason_in(process.stderr.read())}")
    if "hi" not in json.loads(first).values():
        raise Unavailable(f"answers wrongly: {first[:120]}")
    stack.callback(process.stdin.close)
    return Loop(process.stdin, process.stdout)


def _summarize(series: Mapping[str, list[float]], skipped: Mapping[str, str]) -> Part:
    return Part(
        title="In process, bytes to bytes",
        measures="microseconds per call",
        columns=("", "µs per call", "lowest to highest", "÷ pydantic alone"),
        rows=tuple(_line(name, series) for name in series),
        series=series,
        figures=compare(series, BARS),
        skipped=skipped,
    )


def _line(name: str, series: Mapping[str, list[float]]) -> tuple[str, ...]:
    time = spread(series[name])
    above = f"{ratio(series[name], series[FLOOR]).median:.1f}" if FLOOR in series else ""
    return name, f"{time.median:.1f}", f"{time.low:.1f} to {time.high:.1f}", above


def peer_versions() -> dict[str, str]:
    """Return the versions of the peers that are measured."""
    return {peer: version_of(peer) for _, peer in _LOOPS.values() if peer is not None}


def measure_wrong(rounds: int, cores: Cores) -> Part:
    """Start the server's way of a call once, and let the kinds of mistakes take turns."""
    command = cores.pinned((sys.executable, "-m", "bench.loops.wrong_calls"))
    environment = plain_environment()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdin=PIPE, stdout=PIPE, stderr=PIPE
    ) as process:
        try:
            kinds = _list_kinds(process)
            turns = {kind: partial(_take_turn, process, kind) for kind in kinds}
            for warm_up in turns.values():
                warm_up()
            series, failed = take_turns(turns, rounds * _WRONG_TURNS)
        except Unavailable as error:
            series, failed = {}, {"wrong calls": str(error)}
        finally:
            if process.stdin is not None:
                process.stdin.close()
    return _summarize_wrong(series, failed)


def _list_kinds(process: "subprocess.Popen[str]") -> list[str]:
    assert process.stdout is not None
    assert process.stderr is not None
    first = process.stdout.readline()
    if not first:
        raise Unavailable(f"does not start: {reason_in(process.stderr.read())}")
    return [str(kind) for kind in json.loads(first)]


def _take_turn(process: "subprocess.Popen[str]", kind: str) -> float:
    """Return the microseconds of one call."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{_CALLS_PER_TURN} {kind}\n")
    process.stdin.flush()
    return int(process.stdout.readline()) / _CALLS_PER_TURN / 1000


def _summarize_wrong(series: Mapping[str, list[float]], skipped: Mapping[str, str]) -> Part:
    bars = [Bar(f"{kind} ÷ {RIGHT}, time", kind, RIGHT, _MOST, at_least=False) for kind in series if kind != RIGHT]
    return Part(
        title="Wrong calls in process, bytes to bytes",
        measures="microseconds of processor time per call",
        columns=("", "µs per call", "lowest to highest", f"÷ {RIGHT}"),
        rows=tuple(_line_wrong(kind, series) for kind in series),
        series=series,
        figures=compare(series, bars),
        skipped=skipped,
    )


def _line_wrong(kind: str, series: Mapping[str, list[float]]) -> tuple[str, ...]:
    time = spread(series[kind])
    above = ratio(series[kind], series[RIGHT]).median
    return kind, f"{time.median:.1f}", f"{time.low:.1f} to {time.high:.1f}", f"{above:.2f}"
