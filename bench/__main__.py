"""Measure Sidecall, the floors under it and its peers on this machine, in one run."""

import argparse
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown

from bench import pages, records
from bench.environments import PEERS, ROOT, Unavailable, compile_sources, python_of
from bench.machine import Cores, describe, take_cores
from bench.parts import PARTS, SETS, THRESHOLDS, choose
from bench.records import Record
from bench.report import write_page
from bench.results import FULL_ROUNDS, QUICK_ROUNDS, RECORDED_ROUNDS, SHORT_ROUNDS, Part, find_worst

_RECORDED_RUNS = 3


def main(arguments: Sequence[str]) -> int:
    """Measure, print, write; what is not to be recorded is written where git does not look.

    Returns 1 when a row that is not a peer could not be measured.
    """
    options = read_options(arguments)
    console = Console(stderr=True)
    if options.prepare:
        return _prepare(console)
    cores = take_cores()
    compile_sources()
    folder = pages.RESULTS if options.record else pages.RESULTS / ".work"
    if not options.record:
        shutil.rmtree(folder, ignore_errors=True)
    complete = True
    for name in options.only:
        record = _measure(name, options, cores, console)
        if record is None:
            complete = False
            continue
        _write(folder, record, is_quoted=options.record)
        peers = tuple(PARTS[name].versions())
        complete = complete and all(row.startswith(peers) for row in record.skipped)
    console.print(f"written to {folder.relative_to(ROOT)}")
    return int(not complete)


def _write(folder: Path, record: Record, *, is_quoted: bool) -> None:
    """Write a record, and all that is written from records."""
    records.write(folder, record)
    known = records.read_all(folder)
    pages.write_pages(folder, known)
    if is_quoted:
        for path, text in pages.quote_all(known).items():
            path.write_text(text)
    Console().print(Markdown(write_page(record.name, [record])))


def _measure(name: str, options: argparse.Namespace, cores: Cores, console: Console) -> Record | None:
    """Measure a part as often as is asked; None when no run came to its end, which stops no other part."""
    part = PARTS[name]
    runs = min(options.runs, part.most_runs)
    console.print(f"{datetime.now(UTC):%H:%M:%S} measuring {name}, {options.rounds} rounds in each of {runs} runs …")
    began = time.monotonic()
    found: list[Part] = []
    for _ in range(runs):
        try:
            found.append(part.measure(options.rounds, cores))
        except Exception:
            console.print_exception(max_frames=4)
    if not found:
        return None
    seconds = round(time.monotonic() - began, 1)
    recorded = datetime.now(UTC).isoformat(timespec="minutes")
    machine: Mapping[str, str] = {**describe(cores), **part.versions()}
    return Record(
        name, recorded, len(found), options.rounds, seconds, machine, figures=find_worst(found), parts=tuple(found)
    )


def _prepare(console: Console) -> int:
    """Make the environments of all peers, so that no recording has to wait for them; return 1 where one fails."""
    failed = False
    for pins in sorted(PEERS.glob("*.txt")):
        try:
            console.print(f"{pins.stem}: {python_of(pins.stem)}")
        except Unavailable as error:
            console.print(f"{pins.stem}: {error}")
            failed = True
    return int(failed)


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read what is asked for: a recording is of three short runs, all else of one long run, unless it is said."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = ", ".join((*SETS, *PARTS))
    parser.add_argument("--only", default="all", help=f"some parts or sets of them, separated by commas: {names}")
    parser.add_argument("--runs", type=int, help="measure so often; of each promise the worst run counts")
    parser.add_argument("--rounds", type=int, help="let rows take so many turns in each run")
    parser.add_argument("--quick", action="store_true", help="short and noisy, to see that everything works")
    parser.add_argument("--record", action="store_true", help="write to bench/results, and quote it in docs")
    parser.add_argument("--prepare", action="store_true", help="make the environments of peers, and measure nothing")
    options = parser.parse_args(arguments)
    try:
        options.only = choose(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.record and options.quick:
        parser.error("a quick run is not recorded")
    options.runs = options.runs or (_RECORDED_RUNS if options.record else 1)
    options.rounds = options.rounds or _choose_rounds(options)
    if min(options.runs, options.rounds) < 1:
        parser.error("at least one run of one round")
    return options


def _choose_rounds(options: argparse.Namespace) -> int:
    if options.quick:
        return QUICK_ROUNDS
    if options.record:
        return RECORDED_ROUNDS
    return SHORT_ROUNDS if set(options.only) == set(THRESHOLDS) else FULL_ROUNDS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
