"""Calls over HTTP: floors, Sidecall and peers take turns under the same load."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory

from bench.environments import Unavailable
from bench.helpers.callers import introducing
from bench.helpers.collector import collecting
from bench.load import CONNECTIONS, Pace, drive, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread, take_turns
from bench.rows import (
    ASYNC,
    FASTAPI,
    FLOOR,
    FORGETFUL,
    IN_FILE,
    IN_MEMORY,
    ROWS,
    SERVERS,
    THREAD,
    WITH_KEY,
    WITH_TOKEN,
    Row,
)
from bench.servers import Running, Server, running

BARS = (
    Bar("callers with keys ÷ without", WITH_KEY, ASYNC, 0.95),
    Bar("callers with tokens ÷ without", WITH_TOKEN, ASYNC, 0.9),
    Bar("history in a file ÷ in memory", IN_FILE, IN_MEMORY, 0.9),
    Bar("history in a file ÷ none", IN_FILE, FORGETFUL, 0.85, aim=0.9),
    Bar("async tool ÷ FastAPI route", ASYNC, FASTAPI, 1.7),
    Bar("async tool ÷ arcade-serve, echo", ASYNC, "arcade-serve, echo", 3.5),
    Bar("async tool ÷ universal-tool-server, echo", ASYNC, "universal-tool-server, echo", 6),
    Bar("async tool ÷ fastmcp, echo", ASYNC, "fastmcp, echo", 14),
    Bar("sync tool in a thread ÷ arcade-serve, add", THREAD, "arcade-serve, add", 2),
    Bar("sync tool in a thread ÷ universal-tool-server, add", THREAD, "universal-tool-server, add", 3),
)


def measure(rounds: int, cores: Cores) -> Part:
    """Measure all rows, peers included."""
    return summarize(*take_paces(ROWS, SERVERS, rounds, cores))


def take_paces(
    rows: Mapping[str, Row], servers: Mapping[str, Server], rounds: int, cores: Cores
) -> tuple[dict[str, list[Pace]], dict[str, str]]:
    """Start every server once, and let the rows take turns; returns the paces, and the rows that have none."""
    skipped: dict[str, str] = {}
    with ExitStack() as stack:
        beside = {
            "collector": stack.enter_context(collecting()),
            "folder": stack.enter_context(TemporaryDirectory()),
            **stack.enter_context(introducing()),
        }
        started: dict[str, Running] = {}
        for name, server in servers.items():
            filled = replace(server, environment=_fill(server.environment, beside))
            try:
                started[name] = stack.enter_context(running(filled, cores))
            except Unavailable as error:
                skipped.update({row: str(error) for row, entry in rows.items() if entry.server == name})
        paces, failed = take_turns(_turns(rows, started, beside, skipped), rounds)
    return paces, {**skipped, **failed}


def _fill(texts: Mapping[str, str], beside: Mapping[str, str]) -> dict[str, str]:
    """Fill in the addresses of helpers that texts name in braces."""
    return {name: text.format_map(beside) for name, text in texts.items()}


def _turns(
    rows: Mapping[str, Row], servers: Mapping[str, Running], beside: Mapping[str, str], skipped: dict[str, str]
) -> dict[str, Callable[[], Pace]]:
    """Check and warm up each row; those that answer rightly take part."""
    turns: dict[str, Callable[[], Pace]] = {}
    with new_client() as client:
        for name, row in rows.items():
            if row.server not in servers:
                continue
            request = replace(row.request, headers=_fill(row.request.headers, beside))
            turn = partial(drive, servers[row.server], request)
            try:
                verify(client, servers[row.server].url, request)
                turn()
                turns[name] = turn
            except Unavailable as error:
                skipped[name] = str(error)
    return turns


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table."""
    series = {name: [pace.calls_per_second for pace in taken] for name, taken in paces.items()}
    used = {name: found for name, taken in paces.items() if (found := _processor_us(taken))}
    per_processor_second = {name: [1e6 / microseconds for microseconds in found] for name, found in used.items()}
    return Part(
        title=f"Over HTTP, {CONNECTIONS} connections",
        measures="calls per second",
        columns=("", "calls/s", "lowest to highest", "p50 ms", "p99 ms", "server CPU µs", "÷ Starlette floor"),
        rows=tuple(_line(name, taken, series, used.get(name)) for name, taken in paces.items()),
        series=series,
        figures=compare(series, BARS, per_processor_second),
        skipped=skipped,
    )


def _processor_us(paces: list[Pace]) -> list[float]:
    """List the processor time of each turn; nothing when the system does not count it."""
    used = [pace.processor_us for pace in paces if pace.processor_us is not None]
    return used if len(used) == len(paces) else []


def _line(name: str, paces: list[Pace], series: Mapping[str, list[float]], used: list[float] | None) -> tuple[str, ...]:
    rate = spread(series[name])
    return (
        name,
        f"{rate.median:,.0f}",
        f"{rate.low:,.0f} to {rate.high:,.0f}",
        f"{spread([pace.p50_ms for pace in paces]).median:.2f}",
        f"{spread([pace.p99_ms for pace in paces]).median:.2f}",
        f"{spread(used).median:,.0f}" if used else "",
        f"{ratio(series[name], series[FLOOR]).median:.2f}" if FLOOR in series else "",
    )
