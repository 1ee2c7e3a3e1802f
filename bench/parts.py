"""The parts of the benchmark: what measures each, what it promises, and which of them belong together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench import (
    commands,
    console,
    doors,
    events,
    fleet,
    inprocess,
    lasting,
    many_tools,
    other_servers,
    over_http,
    payloads,
    processes,
    rows,
    sandbox,
    scale,
    sizing,
    slow_calls,
    startup,
)
from bench.durable import remembered
from bench.durable.workers import worker_versions
from bench.machine import Cores
from bench.overhead import over_floor
from bench.results import Bar, Part


@dataclass(frozen=True)
class Measured:
    """What measures a part, how often at most in a recording, and the versions of other programs in it."""

    measure: Callable[[int, Cores], Part]
    bars: Sequence[Bar] = ()
    versions: Callable[[], Mapping[str, str]] = dict
    most_runs: int = 99


PARTS: Mapping[str, Measured] = {
    "doors": Measured(doors.measure, doors.BARS),
    "peers": Measured(other_servers.measure, other_servers.BARS, rows.peer_versions),
    "inprocess": Measured(inprocess.measure, inprocess.BARS, inprocess.peer_versions),
    "events": Measured(events.measure, events.BARS),
    "slow": Measured(slow_calls.measure, slow_calls.BARS),
    "lasting": Measured(lasting.measure, lasting.BARS, most_runs=1),
    "payloads": Measured(payloads.measure, payloads.BARS),
    "processes": Measured(processes.measure, processes.BARS),
    "sandbox": Measured(sandbox.measure, sandbox.BARS),
    "many": Measured(many_tools.measure, many_tools.BARS),
    "scale": Measured(scale.measure, scale.BARS),
    "commands": Measured(commands.measure, commands.BARS),
    "overhead": Measured(over_floor.measure, over_floor.BARS),
    "pipeline": Measured(inprocess.measure_ours, inprocess.BARS[:1]),
    "startup": Measured(startup.measure, startup.BARS),
    "http": Measured(over_http.measure, over_http.BARS, rows.peer_versions),
    "remembered": Measured(remembered.measure, remembered.BARS, worker_versions),
    "wrong": Measured(inprocess.measure_wrong),
    "fleet": Measured(fleet.measure, fleet.BARS),
    "console": Measured(console.measure, console.BARS),
    "sizing": Measured(sizing.measure, most_runs=1),
}
# What users do: all that docs/performance.md says of it, and the fleet.
USES = (
    *("doors", "peers", "inprocess", "events", "slow", "lasting", "payloads", "processes", "sandbox", "many", "scale"),
    *("commands", "fleet"),
)
# What is promised of Sidecall without its peers; short enough to be measured three times.
THRESHOLDS = ("overhead", "pipeline", "startup")
# Not part of a whole run, since what it finds is for operators; and what others measure too.
_APART = ("sizing", "pipeline")
SETS: Mapping[str, Sequence[str]] = {
    "all": tuple(name for name in PARTS if name not in _APART),
    "uses": USES,
    "thresholds": THRESHOLDS,
}


def choose(only: str) -> tuple[str, ...]:
    """Return the names of the parts that are asked for, each once, in the order of the table.

    Raises:
        ValueError: There is no such part or set.
    """
    asked = [part for name in only.split(",") for part in SETS.get(name, (name,))]
    if unknown := [name for name in asked if name not in PARTS]:
        raise ValueError(f"no such part: {', '.join(unknown)}")
    return tuple(name for name in PARTS if name in asked)
