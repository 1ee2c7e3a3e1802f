"""Thousands of slow calls in flight, against a Starlette route that waits as long."""

from collections.abc import Mapping
from functools import partial

from bench.environments import Unavailable
from bench.flood import Flood, flood
from bench.load import Request, new_client, verify
from bench.machine import Cores, raise_file_limit
from bench.results import Figure, Part, absolute
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Server, floor, running, sidecall

IN_FLIGHT = 10_000
PAUSE = 5
OURS = "Sidecall"
FLOOR = "Starlette route"

_ROUNDS = 3
_SPARE_FILES = 200
_SERVERS: Mapping[str, tuple[Server, str]] = {
    OURS: (sidecall("--tools", "bench/tools.py"), "/tool_calls"),
    FLOOR: (floor("starlette"), "/slow_calls"),
}

Found = tuple[Flood, float]


def measure(rounds: int, cores: Cores) -> Part:
    """Flood both servers, in turns, each time in a new process."""
    turns = {name: partial(_flood_one, cores, server, path) for name, (server, path) in _SERVERS.items()}
    floods, failed = take_turns(turns, min(rounds, _ROUNDS))
    return Part(
        title=f"{IN_FLIGHT:,} calls of a tool that takes {PAUSE} s, at once",
        measures="seconds in total",
        columns=("", "answered", "in flight at once", "seconds in total", "peak resident MB"),
        rows=tuple(_line(name, found) for name, found in floods.items()),
        series={name: [flood.seconds for flood, _ in found] for name, found in floods.items()},
        figures=_figures(floods.get(OURS, [])),
        skipped={f"{name}, {IN_FLIGHT:,} slow calls": reason for name, reason in failed.items()},
    )


def _flood_one(cores: Cores, server: Server, path: str) -> Found:
    allowed = raise_file_limit()
    if allowed < IN_FLIGHT + _SPARE_FILES:
        raise Unavailable(f"a process may open {allowed} files here, too few for {IN_FLIGHT:,} connections")
    body = tool_call("pause", {"seconds": PAUSE}, "done").body
    with running(server, cores) as started, new_client() as client:
        verify(client, started.url, Request(path, body.replace(f": {PAUSE}", ": 0"), ("content",), "done"))
        try:
            found = flood(started.port, _write(path, body), b'"content":"done"', IN_FLIGHT)
        except TimeoutError:
            raise Unavailable("not all of them were answered within a minute") from None
        return found, started.resident_mb(peak=True)


def _write(path: str, body: str) -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n{body}".encode()


def _figures(found: list[Found]) -> tuple[Figure, ...]:
    if not found:
        return ()
    return (
        absolute("slow calls answered", [min(flood.right for flood, _ in found)], IN_FLIGHT, "", at_least=True),
        absolute("slow calls in flight at once", [flood.at_once for flood, _ in found], IN_FLIGHT, "", at_least=True),
        absolute("slow calls, all of them in total", [flood.seconds for flood, _ in found], 8, "s", at_least=False),
        absolute("slow calls, peak resident memory", [held for _, held in found], 400, "MB", at_least=False),
    )


def _line(name: str, found: list[Found]) -> tuple[str, ...]:
    return (
        name,
        f"{spread([flood.right for flood, _ in found]).low:,.0f}",
        f"{spread([flood.at_once for flood, _ in found]).median:,.0f}",
        f"{spread([flood.seconds for flood, _ in found]).median:.1f}",
        f"{spread([held for _, held in found]).median:.0f}",
    )
