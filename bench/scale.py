"""The cost of a call and of a listing with many tools."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bench.environments import Unavailable
from bench.load import Pace, Request, drive, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Part, compare
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Running, floor, running, sidecall

FEW, MANY = "a call, 10 tools", "a call, 5,000 tools"
FULL, KNOWN = "GET /tools, 1,000 tools", "GET /tools, 1,000 tools, answered 304"
_TIME = "time of "
BYTES = "raw ASGI application, as many bytes"
BARS = (
    Bar("time of a call among 5,000 tools ÷ among 10", _TIME + MANY, _TIME + FEW, 1.05, at_least=False),
    Bar(FULL, FULL, None, 5_000, unit="/s"),
    Bar(KNOWN, KNOWN, None, 10_000, unit="/s"),
)

_CALL = tool_call("echo_0009", {"text": "hi"}, "hi")
_LISTING = Request("/tools", where=(999, "function", "name"), expected="echo_0999", headers={})

Asked = tuple[Running, Request]


def measure(rounds: int, cores: Cores) -> Part:
    """Serve 10, 1,000 and 5,000 tools, and let the questions take turns."""
    with ExitStack() as stack:
        try:
            asked = _start(stack, cores)
        except Unavailable as error:
            return summarize({}, dict.fromkeys((FEW, MANY, FULL, KNOWN), str(error)))
        turns = {name: partial(drive, server, request) for name, (server, request) in asked.items()}
        paces, failed = take_turns(turns, rounds)
    return summarize(paces, failed)


def _start(stack: ExitStack, cores: Cores) -> dict[str, Asked]:
    few, middle, many = (_serve(stack, cores, count) for count in (10, 1000, 5000))
    raw = stack.enter_context(running(floor("raw"), cores))
    with new_client() as client:
        for server in (few, many):
            verify(client, server.url, _CALL)
        etag = verify(client, middle.url, _LISTING).headers["etag"]
        known = replace(_LISTING, headers={"if-none-match": etag}, status=304, expected=None)
        verify(client, middle.url, known)
    return {
        FEW: (few, _CALL),
        MANY: (many, _CALL),
        FULL: (middle, _LISTING),
        KNOWN: (middle, known),
        BYTES: (raw, Request("/", headers={})),
    }


def _serve(stack: ExitStack, cores: Cores, count: int) -> Running:
    return stack.enter_context(running(sidecall("--tools", "bench/many.py", BENCH_TOOLS=str(count)), cores))


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table; calls are compared by the time that they take, of the server's processor where that is known."""
    series = {name: [pace.calls_per_second for pace in taken] for name, taken in paces.items()}
    times = {_TIME + name: [pace.processor_us or 1e6 / pace.calls_per_second for pace in paces[name]] for name in paces}
    return Part(
        title="Many tools",
        measures="requests per second",
        columns=("", "requests/s", "lowest to highest"),
        rows=tuple(_line(name, rates) for name, rates in series.items()),
        series=series,
        figures=compare({**series, **times}, BARS),
        skipped=skipped,
    )


def _line(name: str, rates: list[float]) -> tuple[str, ...]:
    found = spread(rates)
    return name, f"{found.median:,.0f}", f"{found.low:,.0f} to {found.high:,.0f}"
