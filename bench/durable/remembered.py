"""Durable calls, stored before they run and before they are answered, compared with plain calls and peers."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.durable.workers import ASKED, WORKERS, start_worker
from bench.environments import Unavailable
from bench.load import CONNECTIONS, Pace, Request, drive, new_client, verify
from bench.machine import Cores
from bench.results import Bar, Part, compare
from bench.rounds import ratio, spread, take_turns
from bench.rows import tool_call
from bench.servers import Running, running, sidecall
from tests.kit.postgres import find_programs
from tests.kit.postgres import running as running_postgres

PLAIN = "plain, with a ledger "
REMEMBERED = "remembered "
# Options of a durable call: its tool may run again, or it has a key of its own.
AGAIN = ", of a tool that may run again"
KEYED = ", each with a key"
# As many clients as a server has work for; with fewer, calls wait for disks and processes most of the time.
CROWD = 64
CROWDED = f", {CROWD} connections"
IN_MEMORY = "in memory"
_NOWHERE = "memory://"
PLACES = (IN_MEMORY, "on SQLite", "on PostgreSQL")
_CALL = tool_call("echo", {"text": "hi"}, "hi")
_WAITING = {"prefer": "wait=10"}
_TO_REMEMBER = replace(_CALL, headers={**_CALL.headers, **_WAITING})
_REPEATED = tool_call("echo_again", {"text": "hi"}, "hi")
_TO_REPEAT = replace(_REPEATED, headers={**_REPEATED.headers, **_WAITING})
_TO_KNOW = replace(_CALL, headers={**_CALL.headers, "idempotency-key": "{number}"})
# In memory there is room for some 30,000 calls, and none goes while it is promised that it can be asked for: the rest
# is refused, rightly. So that is promised for a second there, and old calls go as new ones come.
_FOR_A_MOMENT = {"SIDECALL_JOB_TTL": "1", "SIDECALL_IDEMPOTENCY_TTL": "1"}

# Calls of many clients that are accepted, run and answered, all of it written down, in a second; and milliseconds of
# the middle one with fewer clients.
_RATES = {"on SQLite": 8000.0, "on PostgreSQL": 5000.0}
_P50, _P50_MS = ", p50", 3.0


def _promise(place: str, what: str) -> tuple[Bar, Bar]:
    name, row = f"durable calls {place}{what}", REMEMBERED + place + what
    waits = f"{name}, {CONNECTIONS} connections{_P50}"
    return (
        Bar(name + CROWDED, row + CROWDED, None, _RATES[place], unit="/s"),
        Bar(waits, row + _P50, None, _P50_MS, at_least=False, unit="ms"),
    )


BARS = (
    *(
        Bar(f"remembered {place} ÷ plain", REMEMBERED + place, PLAIN + place, bar, aim=0.7)
        for place, bar in zip(PLACES[1:], (0.25, 0.2), strict=True)
    ),
    *(
        Bar(f"remembered {place} ÷ remembered in memory", REMEMBERED + place, REMEMBERED + IN_MEMORY, 0.7)
        for place in PLACES[1:]
    ),
    *(bar for place in PLACES[1:] for what in ("", AGAIN, KEYED) for bar in _promise(place, what)),
)
# Gives an address of an empty database; starts a server there.
_Place = Callable[[], str]
_Start = Callable[[str, Cores], AbstractContextManager[Running]]


def measure(rounds: int, cores: Cores) -> Part:
    """Measure plain and durable calls in turns, one program and place after the other.

    The server, the process that writes its file or PostgreSQL, and the load share all cores, as they do for a user.
    Idle servers of the others would take a share of them.
    """
    paces: dict[str, list[Pace]] = {}
    skipped: dict[str, str] = {}
    with cores.shared() as all_cores:
        for place in PLACES:
            with ExitStack() as stack:
                taken, missing = _measure_place(stack, place, rounds, all_cores)
            paces |= taken
            skipped |= missing
    return summarize(paces, skipped)


def _measure_place(
    stack: ExitStack, place: str, rounds: int, cores: Cores
) -> tuple[dict[str, list[Pace]], dict[str, str]]:
    """Return the paces of each row, and why those that are missing cannot be measured."""
    paces: dict[str, list[Pace]] = {}
    skipped: dict[str, str] = {}
    starts = _list_starts(place)
    try:
        home = _find(stack, place)
    except Unavailable as error:
        return {}, {name: str(error) for asked, _ in starts for name in asked}
    for asked, start in starts:
        try:
            with start(home(), cores) as server:
                taken, failed = take_turns(_warm_up(server, asked), rounds)
        except Unavailable as error:
            skipped |= dict.fromkeys(asked, str(error))
        else:
            paces |= taken
            skipped |= failed
    return paces, skipped


def _list_starts(place: str) -> list[tuple[Mapping[str, Request], _Start]]:
    """List what is asked of each server there, and what starts it."""
    rows = {
        PLAIN + place: _CALL,
        REMEMBERED + place: _TO_REMEMBER,
        REMEMBERED + place + AGAIN: _TO_REPEAT,
        REMEMBERED + place + KEYED: _TO_KNOW,
    }
    if place != IN_MEMORY:
        rows |= {name + CROWDED: replace(asked, connections=CROWD) for name, asked in rows.items()}
    workers = [package for package, places in WORKERS.items() if place in places]
    return [(rows, _serve), *(({f"{name} {place}": ASKED}, partial(start_worker, name)) for name in workers)]


def _find(stack: ExitStack, place: str) -> _Place:
    """Return what gives addresses of empty databases there."""
    if place == IN_MEMORY:
        return lambda: _NOWHERE
    if place == "on SQLite":
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return lambda: f"sqlite:///{Path(tempfile.mkdtemp(dir=folder)) / 'ledger.db'}"
    programs = find_programs()
    if programs is None:
        raise Unavailable("PostgreSQL is not installed; scripts/install-postgres gets it")
    cluster = stack.enter_context(running_postgres(programs, syncs=True))
    return lambda: cluster.address(cluster.make_database())


def _serve(address: str, cores: Cores) -> AbstractContextManager[Running]:
    keeping = _FOR_A_MOMENT if address == _NOWHERE else {}
    return running(sidecall("--tools", "bench/tools.py", SIDECALL_STORE=address, **keeping), cores)


def _warm_up(server: Running, rows: Mapping[str, Request]) -> dict[str, Callable[[], Pace]]:
    turns: dict[str, Callable[[], Pace]] = {name: partial(drive, server, rows[name]) for name in rows}
    with new_client() as client:
        for name, turn in turns.items():
            verify(client, server.url, rows[name])
            turn()
    return turns


def summarize(paces: Mapping[str, list[Pace]], skipped: Mapping[str, str]) -> Part:
    """Make the table."""
    series = {name: [pace.calls_per_second for pace in taken] for name, taken in paces.items()}
    waits = {name + _P50: [pace.p50_ms for pace in taken] for name, taken in paces.items()}
    used = {name: [pace.processor_us for pace in taken if pace.processor_us] for name, taken in paces.items()}
    per_processor_second = {name: [1e6 / us for us in found] for name, found in used.items() if found}
    return Part(
        title=f"Remembered calls, {CONNECTIONS} connections or {CROWD}, servers and load on all cores",
        measures="calls per second",
        columns=("", "calls/s", "lowest to highest", "p50 ms", "p99 ms", "server CPU µs", "of it beside", "÷ plain"),
        rows=tuple(_line(name, taken, series) for name, taken in paces.items()),
        series=series,
        figures=compare({**series, **waits}, BARS, per_processor_second),
        skipped=skipped,
    )


def _line(name: str, paces: list[Pace], series: Mapping[str, list[float]]) -> tuple[str, ...]:
    used = [pace.processor_us for pace in paces if pace.processor_us]
    beside = [pace.beside_us for pace in paces if pace.processor_us]
    plain = PLAIN + name.removeprefix(REMEMBERED).partition(",")[0] + (CROWDED if name.endswith(CROWDED) else "")
    rate = spread(series[name])
    return (
        name,
        f"{rate.median:,.0f}",
        f"{rate.low:,.0f} to {rate.high:,.0f}",
        f"{spread([pace.p50_ms for pace in paces]).median:.2f}",
        f"{spread([pace.p99_ms for pace in paces]).median:.2f}",
        f"{spread(used).median:,.0f}" if used else "",
        f"{spread(beside).median:,.0f}" if used else "",
        f"{ratio(series[name], series[plain]).median:.2f}" if plain in series else "",
    )
