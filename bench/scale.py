"""The cost of a call and of a listing with many tools."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from bench.environments import Unavailable
from bench.load import Request, drive, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Figure, Part, absolute, compare
from bench.rounds import spread, take_turns
from bench.rows import tool_call
from bench.servers import Running, floor, running, sidecall

FEW, MANY = "a call, 10 tools", "a call, 2,000 tools"
FULL, KNOWN = "GET /tools, 1,000 tools", "GET /tools, 1,000 tools, answered 304"
BYTES = "raw ASGI application, as many bytes"
BARS = (Bar("time of a call with 2,000 tools ÷ with 10", MANY, FEW, 1.05, at_least=False),)

_CALL = tool_call("echo_0009", {"text": "hi"}, "hi")
_LISTING = Request("/tools", where=(999, "function", "name"), expected="echo_0999", headers={})

Asked = tuple[Running, Request]


def measure(rounds: int, cores: Cores) -> Part:
    """Serve 10, 1,000 and 2,000 tools, and let the questions take turns."""
    with ExitStack() as stack:
        try:
            asked = _start(stack, cores)
        except Unavailable as error:
            return _summarize({}, dict.fromkeys((FEW, MANY, FULL, KNOWN), str(error)))
        turns = {name: partial(drive, server, request) for name, (server, request) in asked.items()}
        paces, failed = take_turns(turns, rounds)
    return _summarize({name: [pace.calls_per_second for pace in taken] for name, taken in paces.items()}, failed)


def _start(stack: ExitStack, cores: Cores) -> dict[str, Asked]:
    few, middle, many = (_serve(stack, cores, count) for count in (10, 1000, 2000))
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


def _summarize(series: Mapping[str, list[float]], skipped: Mapping[str, str]) -> Part:
    latency = {name: [1 / rate for rate in series[name]] for name in (FEW, MANY) if name in series}
    return Part(
        title="Many tools",
        measures="requests per second",
        columns=("", "requests/s", "lowest to highest"),
        rows=tuple(_line(name, rates) for name, rates in series.items()),
        series=series,
        figures=(*compare(latency, BARS), *_listings(series)),
        skipped=skipped,
    )


def _listings(series: Mapping[str, list[float]]) -> tuple[Figure, ...]:
    bars = {FULL: 5_000, KNOWN: 10_000}
    return tuple(absolute(name, series[name], bar, "/s", at_least=True) for name, bar in bars.items() if name in series)


def _line(name: str, rates: list[float]) -> tuple[str, ...]:
    found = spread(rates)
    return name, f"{found.median:,.0f}", f"{found.low:,.0f} to {found.high:,.0f}"
