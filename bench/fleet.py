"""What a call costs on a worker of a fleet, beside one in a process of its server."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from bench.environments import ROOT, Unavailable
from bench.load import CONNECTIONS, Pace, count_processor, drive, new_client, verify
from bench.machine import Cores
from bench.paired_servers import STARTS_A_ROUND, call_pairs, join_turns
from bench.results import Bar, Part, compare
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Running, Server, running, sidecall
from tests.kit.nats import find_program, running_broker

_TOOLS = ("--tools", "bench/far.py")
NEAR, FAR = "in a process", "on a worker"
# Which are called at the same time.
PLAIN, ALONE = f"inline, with a fleet, {CONNECTIONS} clients", f"inline, without one, {CONNECTIONS} clients"
_ONE, _MANY = "one client", f"{CONNECTIONS} clients"
_NAMES: Mapping[str, str] = {NEAR: "echo_near", FAR: "echo_far"}
_P50, _HELD = ", p50", "memory of an idle worker beyond its tools"
_USED = ", µs of the server's processor"
_FAR_ONE, _NEAR_ONE = f"{FAR}, {_ONE}", f"{NEAR}, {_ONE}"
_FAR_MANY, _NEAR_MANY = f"{FAR}, {_MANY}", f"{NEAR}, {_MANY}"
BARS = (
    Bar("p50 on a worker ÷ in a process, one client", _FAR_ONE + _P50, _NEAR_ONE + _P50, 2.5, at_least=False),
    Bar(f"p50 on a worker ÷ in a process, {_MANY}", _FAR_MANY + _P50, _NEAR_MANY + _P50, 1.1, at_least=False),
    Bar(f"rate on a worker ÷ in a process, {_MANY}", _FAR_MANY, _NEAR_MANY, 0.95),
    Bar("inline calls with a fleet ÷ without one, by processor time", ALONE + _USED, PLAIN + _USED, 0.98),
    Bar(_HELD, _HELD, None, 60, at_least=False, unit="MB"),
    Bar("calls that compute, two workers ÷ one", "crunch_two", "crunch_one", 1.8),
)
_INLINE = replace(tool_call("echo", {"text": "hi"}, "hi"), connections=CONNECTIONS)
# Calls that compute at once, so long each that giving them out does not count.
_CRUNCHES, _ROUNDS = 6, 16_000_000
_PATIENCE = 60.0


@dataclass(frozen=True)
class Fleet:
    """All that runs: a server, the bus, and workers of the queues far, one and two."""

    server: Running
    bus: Running
    worker: Running
    joined: Mapping[str, str]

    def wait(self) -> None:
        """Wait until there are workers.

        Raises:
            Unavailable: There are none in time.
        """
        stop = time.monotonic() + _PATIENCE
        with new_client() as client:
            for name in ("echo_far", "crunch_one", "crunch_two"):
                while not client.get(f"{self.server.url}/tools/{name}").json()["available"]:
                    if time.monotonic() > stop:
                        raise Unavailable("the workers are not found")
                    time.sleep(0.05)


@dataclass(frozen=True)
class Shares:
    """A pace, and what the worker and the bus took of the processor for each call."""

    pace: Pace
    worker_us: float
    bus_us: float


def measure(rounds: int, cores: Cores) -> Part:
    """Start all once, and let rows take turns; servers, workers, bus and load share all cores."""
    if find_program() is None:
        return Part("A call on a worker", "calls per second", ("",), (), {}, skipped={"fleet": "no nats-server"})
    with cores.shared() as all_cores, starting(all_cores) as fleet:
        fleet.wait()
        held = fleet.worker.resident_mb(alone=True) - _weigh_tools()
        far, no_far = take_turns(
            {
                f"{place}, {many}": partial(_drive, fleet, place, count)
                for many, count in ((_ONE, 1), (_MANY, CONNECTIONS))
                for place in (NEAR, FAR)
            },
            rounds,
        )
        crunched, no_crunched = take_turns(
            {name: partial(_crunch, fleet.server, name) for name in ("crunch_one", "crunch_two")}, rounds
        )
        inline, no_inline = call_pairs(_servers(fleet.joined), _INLINE, rounds * STARTS_A_ROUND, all_cores)
    return summarize(far, inline, crunched, held, {**no_far, **no_inline, **no_crunched})


def _servers(joined: Mapping[str, str]) -> dict[str, Server]:
    return {PLAIN: sidecall(*_TOOLS, **joined), ALONE: sidecall(*_TOOLS)}


@contextmanager
def starting(cores: Cores) -> Iterator[Fleet]:
    """Start all, and end them afterwards."""
    with ExitStack() as stack:
        broker = stack.enter_context(running_broker())
        joined = {"SIDECALL_FLEET": broker.url, "SIDECALL_QUEUE_TIMEOUT": "60"}
        server = stack.enter_context(running(sidecall(*_TOOLS, **joined), cores))
        workers = [
            stack.enter_context(running(_work(queue, slots, joined), cores))
            for queue, slots in (("far", "16"), ("one", "1"), ("two", "1"), ("two", "1"))
        ]
        yield Fleet(server, Running(broker.port, broker.pid), workers[0], joined)


def _work(queue: str, slots: str, environment: Mapping[str, str]) -> Server:
    command = ("-m", "sidecall", "worker", "--queue", queue, "--slots", slots, "--port", "{port}", *_TOOLS)
    return Server(command, environment=environment)


def _drive(fleet: Fleet, place: str, connections: int) -> Shares:
    request = replace(tool_call(_NAMES[place], {"text": "hi"}, "hi"), connections=connections)
    with new_client() as client:
        verify(client, fleet.server.url, request)
    before = _read(fleet)
    pace = drive(fleet.server, request)
    after = _read(fleet)
    worker, bus = ((later - sooner) * 1e6 / pace.calls_per_second for later, sooner in zip(after, before, strict=True))
    return Shares(pace, worker, bus)


def _read(fleet: Fleet) -> tuple[float, float]:
    worker, bus = ((it.processor_seconds() or (0.0, 0.0))[0] for it in (fleet.worker, fleet.bus))
    return worker, bus


def _weigh_tools() -> float:
    """Return how many megabytes a process takes that has loaded the tools, and does nothing with them."""
    code = "import bench.far; print(open('/proc/self/status').read().partition('VmRSS:')[2].split()[0])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024 / 1e6


def _crunch(server: Running, name: str) -> float:
    """Return how many of these calls are done in a second."""
    request = replace(tool_call(name, {"rounds": _ROUNDS}, ""), expected=None)
    # One client, made before, since making one takes a share of the processors that is not the workers'.
    with new_client() as client, ThreadPoolExecutor(_CRUNCHES) as threads:
        client.timeout = _PATIENCE
        began = time.monotonic()
        list(threads.map(partial(verify, client, server.url), [request] * _CRUNCHES))
        return _CRUNCHES / (time.monotonic() - began)


def summarize(
    taken: Mapping[str, Sequence[Shares]],
    inline: Mapping[str, Sequence[Pace]],
    crunched: Mapping[str, Sequence[float]],
    held_mb: float,
    failed: Mapping[str, str],
) -> Part:
    """Make the table, and compare what is promised."""
    used, uncounted = count_processor(inline)
    inline_us = {name + _USED: join_turns(turns) for name, turns in used.items()}
    rates = {name: [it.pace.calls_per_second for it in shares] for name, shares in taken.items()}
    waits = {name + _P50: [it.pace.p50_ms for it in shares] for name, shares in taken.items()}
    rows = {**taken, **{name: [Shares(pace, 0.0, 0.0) for pace in paces] for name, paces in inline.items()}}
    series = {**rates, **inline_us, **crunched, **waits, _HELD: [held_mb]}
    return Part(
        title="A call on a worker, beside one in a process of its server",
        measures="calls per second, milliseconds (p50), µs or MB",
        columns=("", "calls/s", "p50 ms", "p99 ms", "server CPU µs", "worker CPU µs", "NATS CPU µs"),
        rows=tuple(_line(name, shares) for name, shares in rows.items()),
        series=series,
        figures=compare(series, BARS),
        skipped={**failed, **uncounted},
    )


def _line(name: str, shares: Sequence[Shares]) -> tuple[str, ...]:
    def middle(figures: Sequence[float | None], form: str) -> str:
        return format(spread([it or 0.0 for it in figures]).median, form)

    is_far = name.startswith(FAR)
    return (
        name,
        middle([it.pace.calls_per_second for it in shares], ",.0f"),
        middle([it.pace.p50_ms for it in shares], ".2f"),
        middle([it.pace.p99_ms for it in shares], ".2f"),
        middle([it.pace.processor_us for it in shares], ",.0f"),
        middle([it.worker_us for it in shares], ",.0f") if is_far else "",
        middle([it.bus_us for it in shares], ",.0f") if is_far else "",
    )
