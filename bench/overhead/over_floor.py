"""The promised cost of a call against the Starlette floor, by processor time of both servers in the same run."""

from collections.abc import Mapping

from bench.load import CONNECTIONS, Pace
from bench.machine import Cores
from bench.over_http import take_paces
from bench.overhead.rows import HISTORY, KEY, LOGGED, PLAIN, ROWS, SERVERS, SPANS, THREAD
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread
from bench.rows import FLOOR

_PER_CPU = "÷ Starlette floor, by server CPU"
TAIL = "logs + spans, p99"
BARS = (
    Bar(f"async tool {_PER_CPU}", PLAIN, FLOOR, 0.9),
    Bar(f"logged with arguments {_PER_CPU}", LOGGED, FLOOR, 0.7),
    Bar(f"logs + spans {_PER_CPU}", SPANS, FLOOR, 0.55),
    Bar(f"logs + spans + rate + caller + API key {_PER_CPU}", KEY, FLOOR, 0.42),
    Bar(f"sync tool in a thread {_PER_CPU}", THREAD, FLOOR, 0.68),
    Bar(f"history in SQLite {_PER_CPU}", HISTORY, FLOOR, 0.75),
    Bar(TAIL, TAIL, None, 5.0, at_least=False, unit="ms"),
)


def measure(rounds: int, cores: Cores) -> Part:
    """Let the rows take turns."""
    return summarize(*take_paces(ROWS, SERVERS, rounds, cores))


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table; the time of a server's child processes is listed separately, and not promised."""
    counted = {name: taken for name, taken in paces.items() if all(pace.processor_us for pace in taken)}
    series = {name: [1e6 / _own_us(pace) for pace in taken] for name, taken in counted.items()}
    tail = {TAIL: [pace.p99_ms for pace in paces[SPANS]]} if paces.get(SPANS) else {}
    return Part(
        title=f"Overhead of what is switched on, {CONNECTIONS} connections",
        measures="calls per second of the server's processor time",
        columns=("", "calls/s", "p50 ms", "p99 ms", "server CPU µs", "its processes, µs", "÷ Starlette floor"),
        rows=tuple(_line(name, taken, series) for name, taken in counted.items()),
        series=series,
        figures=compare({**series, **tail}, BARS),
        skipped={**skipped, **dict.fromkeys(paces.keys() - counted.keys(), "nobody counts processor time here")},
    )


def _own_us(pace: Pace) -> float:
    return (pace.processor_us or 0.0) - pace.beside_us


def _line(name: str, paces: list[Pace], series: Mapping[str, list[float]]) -> tuple[str, ...]:
    beside = spread([pace.beside_us for pace in paces]).median
    return (
        name,
        f"{spread([pace.calls_per_second for pace in paces]).median:,.0f}",
        f"{spread([pace.p50_ms for pace in paces]).median:.2f}",
        f"{spread([pace.p99_ms for pace in paces]).median:.2f}",
        f"{spread([_own_us(pace) for pace in paces]).median:.1f}",
        f"{beside:.2f}" if beside >= 0.005 else "",
        f"{ratio(series[name], series[FLOOR]).median:.2f}" if FLOOR in series else "",
    )
