"""What one core carries, and how much memory that takes, for each place where tools run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bench.environments import Unavailable
from bench.flood import flood
from bench.load import CONNECTIONS, Request, drive, new_client, verify
from bench.machine import Cores, raise_file_limit
from bench.results import Part
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Running, Server, running, sidecall

WAITING = 1_000
PAUSE = 5
PLAIN = "async tool, on the event loop"
WAITERS = f"{WAITING:,} calls that wait {PAUSE} s, at once"
_EXECUTORS: Mapping[str, str] = {
    PLAIN: "inline",
    "sync tool, in threads": "thread",
    "tool in a process": "process",
    "tool in the sandbox": "sandbox",
}
_ROUNDS = 5
_SPARE_FILES = 200
_WAITED = b'"content":"done"'


@dataclass(frozen=True)
class Sized:
    """What one server has carried: calls per second, of its core's time as well, and the memory that it held."""

    rate: float
    processor_us: float | None
    p99_ms: float | None
    idle_mb: float
    resident_mb: float


def measure(rounds: int, cores: Cores) -> Part:
    """Start a new server for each row and round, on one core with all its processes."""
    turns = {name: partial(_drive_one, cores, _serve(executor)) for name, executor in _EXECUTORS.items()}
    sized, failed = take_turns({**turns, WAITERS: partial(_wait_one, cores, _serve("waiting"))}, min(rounds, _ROUNDS))
    return summarize(sized, failed)


def _serve(executor: str) -> Server:
    # One process is all that one core can use.
    return sidecall("--tools", "bench/sized.py", BENCH_EXECUTOR=executor, SIDECALL_PROCESSES="1")


def _drive_one(cores: Cores, server: Server) -> Sized:
    request = tool_call("echo", {"text": "hi"}, "hi")
    with running(server, cores) as started:
        idle = _check(started, request)
        drive(started, request)  # To warm up.
        pace = drive(started, request)
        return Sized(pace.calls_per_second, pace.processor_us, pace.p99_ms, idle, started.resident_mb(peak=True))


def _wait_one(cores: Cores, server: Server) -> Sized:
    if raise_file_limit() < WAITING + _SPARE_FILES:
        raise Unavailable(f"a process may open too few files here for {WAITING:,} connections")
    request = tool_call("pause", {"seconds": PAUSE}, "done")
    with running(server, cores) as started:
        idle = _check(started, tool_call("pause", {"seconds": 0}, "done"))
        try:
            found = flood(started.port, _write(request), _WAITED, WAITING)
        except TimeoutError:
            raise Unavailable("not all of them were answered within a minute") from None
        if found.right < WAITING:
            raise Unavailable(f"only {found.right:,} of them were answered")
        return Sized(found.right / found.seconds, None, None, idle, started.resident_mb(peak=True))


def _check(started: Running, request: Request) -> float:
    """Check the answer, and return the memory that is held before there is a load."""
    with new_client() as client:
        verify(client, started.url, request)
    return started.resident_mb()


def _write(request: Request) -> bytes:
    body = json.dumps(json.loads(request.body))
    head = f"POST {request.path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


def summarize(sized: Mapping[str, Sequence[Sized]], failed: Mapping[str, str]) -> Part:
    """Make the table; the memory of a server is that with its processes, what they share counted once."""
    return Part(
        title=f"What one core carries, {CONNECTIONS} connections",
        measures="calls per second",
        columns=("", "calls/s", "lowest to highest", "p99 ms", "server CPU µs", "MB after one call", "MB at most"),
        rows=tuple(_line(name, taken) for name, taken in sized.items()),
        series={name: [one.rate for one in taken] for name, taken in sized.items()},
        skipped=failed,
    )


def _line(name: str, taken: Sequence[Sized]) -> tuple[str, ...]:
    rate = spread([one.rate for one in taken])
    return (
        name,
        f"{rate.median:,.0f}",
        f"{rate.low:,.0f} to {rate.high:,.0f}",
        _median([one.p99_ms for one in taken], ".2f"),
        _median([one.processor_us for one in taken], ",.0f"),
        f"{spread([one.idle_mb for one in taken]).median:.0f}",
        f"{spread([one.resident_mb for one in taken]).median:.0f}",
    )


def _median(figures: Sequence[float | None], form: str) -> str:
    known = [figure for figure in figures if figure is not None]
    return format(spread(known).median, form) if known else ""
