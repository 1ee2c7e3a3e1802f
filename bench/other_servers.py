"""The same call on other tool servers: the processor time of each, beside a plain call and one over MCP of our own."""

from collections.abc import Mapping

from bench.doors import MCP, PLAIN
from bench.doors import ROWS as DOORS
from bench.load import CONNECTIONS, Pace, count_processor
from bench.machine import Cores
from bench.over_http import take_paces
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread
from bench.rows import FLOOR, Row
from bench.rows import ROWS as ALL
from bench.rows import SERVERS as ALL_SERVERS
from bench.servers import Server

OURS, OURS_MCP = f"Sidecall, {PLAIN}", f"Sidecall, {MCP}"
FASTMCP = "fastmcp, echo"
ECHO = ", echo"
# Measured by the part `http` alone.
_LEFT_OUT = "universal-tool-server"
BARS = (Bar("fastmcp ÷ Sidecall, over MCP", FASTMCP, OURS_MCP, 15.0),)
ROWS: Mapping[str, Row] = {
    FLOOR: ALL[FLOOR],
    OURS: DOORS[PLAIN],
    OURS_MCP: DOORS[MCP],
    **{name: row for name, row in ALL.items() if name.endswith(ECHO) and not name.startswith(_LEFT_OUT)},
}
SERVERS: Mapping[str, Server] = {row.server: ALL_SERVERS[row.server] for row in ROWS.values()}
_MOST_ROUNDS = 3


def measure(rounds: int, cores: Cores) -> Part:
    """Let ours and the others take turns."""
    return summarize(*take_paces(ROWS, SERVERS, min(rounds, _MOST_ROUNDS), cores))


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table, of the processor time for each call, those of a server's own processes with it."""
    series, uncounted = count_processor(paces)
    return Part(
        title=f"The same call on other tool servers, {CONNECTIONS} connections",
        measures="µs of the server's processor time",
        columns=("", "calls/s", "p50 ms", "p99 ms", "server CPU µs", "÷ Sidecall"),
        rows=tuple(_line(name, taken, series) for name, taken in paces.items() if name in series),
        series=series,
        figures=compare(series, BARS),
        skipped={**skipped, **uncounted},
    )


def _line(name: str, paces: list[Pace], series: Mapping[str, list[float]]) -> tuple[str, ...]:
    return (
        name,
        f"{spread([pace.calls_per_second for pace in paces]).median:,.0f}",
        f"{spread([pace.p50_ms for pace in paces]).median:.2f}",
        f"{spread([pace.p99_ms for pace in paces]).median:.2f}",
        f"{spread(series[name]).median:,.0f}",
        f"{ratio(series[name], series[OURS]).median:.2f}" if OURS in series else "",
    )
