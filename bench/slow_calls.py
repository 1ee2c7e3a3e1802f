"""Thousands of slow calls in flight, against a Starlette route that waits as long."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bench.environments import Unavailable
from bench.flood import Flood, flood
from bench.load import Request, new_client, verify
from bench.machine import Cores, raise_file_limit
from bench.results import Bar, Part, compare
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Server, floor, running, sidecall

IN_FLIGHT = 10_000
PAUSE = 5
OURS = "Sidecall"
FLOOR = "Starlette route"

_ROUNDS = 1
_SPARE_FILES = 200
_SERVERS: Mapping[str, tuple[Server, str]] = {
    OURS: (sidecall("--tools", "bench/tools.py"), "/tool_calls"),
    FLOOR: (floor("starlette"), "/slow_calls"),
}

_PER_CALL, _FLOOR_PER_CALL = "memory of a call that waits, kB", "of one of Starlette's, kB"
_RIGHT, _AT_ONCE, _SECONDS, _PEAK = "answered", "in flight at once", "seconds in total", "peak resident MB"
BARS = (
    Bar("memory of a call that waits ÷ Starlette's", _PER_CALL, _FLOOR_PER_CALL, 1.1, at_least=False, aim=1),
    Bar("slow calls answered", _RIGHT, None, IN_FLIGHT),
    Bar("slow calls in flight at once", _AT_ONCE, None, IN_FLIGHT),
    Bar("slow calls, all of them in total", _SECONDS, None, 8, at_least=False, unit="s"),
    Bar("slow calls, peak resident memory", _PEAK, None, 400, at_least=False, unit="MB"),
)


@dataclass(frozen=True)
class Found:
    """A flood, the most that the server held with its processes, and what each call added to the server itself."""

    flood: Flood
    peak_mb: float
    call_kb: float


def measure(rounds: int, cores: Cores) -> Part:
    """Flood both servers, in turns, each time in a new process."""
    turns = {name: partial(_flood_one, cores, server, path) for name, (server, path) in _SERVERS.items()}
    return summarize(*take_turns(turns, min(rounds, _ROUNDS)))


def _flood_one(cores: Cores, server: Server, path: str) -> Found:
    allowed = raise_file_limit()
    if allowed < IN_FLIGHT + _SPARE_FILES:
        raise Unavailable(f"a process may open {allowed} files here, too few for {IN_FLIGHT:,} connections")
    body = tool_call("pause", {"seconds": PAUSE}, "done").body
    with running(server, cores) as started, new_client() as client:
        verify(client, started.url, Request(path, body.replace(f": {PAUSE}", ": 0"), ("content",), "done"))
        started.forget_peak()
        before = started.resident_mb(alone=True)
        try:
            found = flood(started.port, _write(path, body), b'"content":"done"', IN_FLIGHT)
        except TimeoutError:
            raise Unavailable("not all of them were answered within a minute") from None
        added = started.resident_mb(peak=True, alone=True) - before
        return Found(found, started.resident_mb(peak=True), added * 1000 / IN_FLIGHT)


def _write(path: str, body: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


def summarize(floods: Mapping[str, Sequence[Found]], failed: Mapping[str, str]) -> Part:
    """Make the table."""
    ours = floods.get(OURS, ())
    series = {
        _RIGHT: [float(found.flood.right) for found in ours],
        _AT_ONCE: [float(found.flood.at_once) for found in ours],
        _SECONDS: [found.flood.seconds for found in ours],
        _PEAK: [found.peak_mb for found in ours],
        _PER_CALL: [found.call_kb for found in ours],
        _FLOOR_PER_CALL: [found.call_kb for found in floods.get(FLOOR, ())],
    }
    measured = {name: taken for name, taken in series.items() if taken}
    return Part(
        title=f"{IN_FLIGHT:,} calls of a tool that takes {PAUSE} s, at once",
        measures="as named",
        columns=("", "answered", "in flight at once", "seconds in total", "peak resident MB", "kB a call"),
        rows=tuple(_line(name, found) for name, found in floods.items()),
        series=measured,
        figures=compare(measured, BARS),
        skipped={f"{name}, {IN_FLIGHT:,} slow calls": reason for name, reason in failed.items()},
    )


def _line(name: str, found: Sequence[Found]) -> tuple[str, ...]:
    return (
        name,
        f"{spread([it.flood.right for it in found]).low:,.0f}",
        f"{spread([it.flood.at_once for it in found]).median:,.0f}",
        f"{spread([it.flood.seconds for it in found]).median:.1f}",
        f"{spread([it.peak_mb for it in found]).median:.0f}",
        f"{spread([it.call_kb for it in found]).median:.1f}",
    )
