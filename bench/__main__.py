"""Measure Sidecall, the floors under it and its peers on this machine, in one run."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.markdown import Markdown

from bench import (
    commands,
    doors,
    events,
    fleet,
    inprocess,
    many_tools,
    over_http,
    payloads,
    processes,
    report,
    rows,
    sandbox,
    scale,
    sizing,
    slow_calls,
    startup,
)
from bench.chart import draw
from bench.durable import remembered
from bench.durable.workers import worker_versions
from bench.environments import ROOT, compile_sources
from bench.machine import Cores, describe, take_cores
from bench.overhead import over_floor
from bench.results import FULL_ROUNDS, QUICK_ROUNDS, SHORT_ROUNDS, Part, lowest

Measure = Callable[[int, Cores], Part]
PARTS: Mapping[str, Measure] = {
    "commands": commands.measure,
    "doors": doors.measure,
    "events": events.measure,
    "fleet": fleet.measure,
    "http": over_http.measure,
    "inprocess": inprocess.measure,
    "many": many_tools.measure,
    "overhead": over_floor.measure,
    "payloads": payloads.measure,
    "processes": processes.measure,
    "remembered": remembered.measure,
    "sandbox": sandbox.measure,
    "scale": scale.measure,
    "slow": slow_calls.measure,
    "startup": startup.measure,
    "wrong": inprocess.measure_wrong,
}
# Not part of a whole run, and recorded by itself: what it finds is for operators.
SIZING = "sizing"
# What is promised of Sidecall without its peers; short enough to be measured three times.
THRESHOLDS: Mapping[str, Measure] = {
    "overhead": over_floor.measure,
    "inprocess": inprocess.measure_ours,
    "startup": startup.measure,
}
RESULTS = ROOT / "bench" / "results"
# What a record is called, and where it is quoted.
RECORDS = {
    None: ("latest", ROOT / "docs" / "performance.md", report.QUOTED),
    SIZING: (SIZING, ROOT / "docs" / "sizing.md", report.QUOTED_SIZES),
}


def main() -> int:
    """Measure, print, write; what is not to be recorded is written where git does not look.

    Returns 1 when a row that is not a peer could not be measured.
    """
    options = _options()
    cores = take_cores()
    console = Console(stderr=True)
    compile_sources()
    chosen = _choose(options.only)
    rounds = QUICK_ROUNDS if options.quick else SHORT_ROUNDS if chosen is THRESHOLDS else FULL_ROUNDS
    parts = lowest([_run(chosen, rounds, cores, console) for _ in range(options.runs)])
    peers = {**rows.peer_versions(), **inprocess.peer_versions(), **worker_versions()}
    machine = {**describe(cores), **peers}
    text = report.markdown(parts, machine)
    Console().print(Markdown(text))
    folder = RESULTS if options.record else RESULTS / ".work"
    name, document, quoted = RECORDS[options.only if options.record else None]
    report.write(folder, parts, machine, None if name == SIZING else _chart(parts), name)
    if options.record:
        document.write_text(quoted.quote(document.read_text(), text))
    console.print(f"written to {folder.relative_to(ROOT)}")
    return int(any(not name.startswith(tuple(peers)) for part in parts for name in part.skipped))


def _choose(only: str | None) -> Mapping[str, Measure]:
    if only == "thresholds":
        return THRESHOLDS
    return {name: {**PARTS, SIZING: sizing.measure}[name] for name in only.split(",")} if only else PARTS


def _run(parts: Mapping[str, Measure], rounds: int, cores: Cores, console: Console) -> list[Part]:
    found: list[Part] = []
    for name, measure in parts.items():
        console.print(f"measuring {name} …")
        found.append(measure(rounds, cores))
    return found


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parts = ",".join((*PARTS, SIZING))
    parser.add_argument("--only", help=f"some parts, separated by commas: {parts}; or thresholds: what is promised")
    parser.add_argument("--runs", type=int, default=1, help="measure so often; of each promise the worst run counts")
    parser.add_argument("--quick", action="store_true", help="short and noisy, to see that everything works")
    parser.add_argument(
        "--record",
        action="store_true",
        help="write to bench/results and quote the report in docs; all, or sizing alone",
    )
    options = parser.parse_args()
    unknown = [name for name in (options.only or "").split(",") if name and name not in (*PARTS, SIZING)]
    if unknown and options.only != "thresholds":
        parser.error(f"no such part: {', '.join(unknown)}")
    if options.runs < 1:
        parser.error("at least one run")
    if options.record and (options.only not in RECORDS or options.quick):
        parser.error(f"only a whole run is recorded, and {SIZING} alone")
    return options


def _chart(parts: Sequence[Part]) -> str | None:
    measured = {part.title: part for part in parts if part.measures == "calls per second"}
    return next((draw(f"{title}: {part.measures}", part.series) for title, part in measured.items()), None)


if __name__ == "__main__":
    sys.exit(main())
