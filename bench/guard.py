"""Fail when the hot path has lost a tenth against the Starlette floor since the ratio in guard.json was recorded."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from rich.console import Console

from bench.environments import ROOT, Unavailable
from bench.load import Pace, drive, new_client, verify
from bench.machine import Cores, take_cores
from bench.rounds import Spread, spread, take_turns
from bench.rows import ASYNC, FLOOR, ROWS, SERVERS, Row
from bench.servers import running

RECORD = ROOT / "bench" / "guard.json"
ALLOWED = 0.9
_PAIRS = 10
HOW_TO_RECORD = "To accept it, record it anew on an idle machine: python -m bench.guard --record"


@dataclass(frozen=True)
class Verdict:
    """Whether the hot path is as fast as before, and the line that says so."""

    passed: bool
    text: str


def judge(measured: float, recorded: float) -> Verdict:
    """Compare a ratio with the recorded one."""
    least = recorded * ALLOWED
    passed = measured >= least
    line = f"async tool ÷ Starlette floor: {measured:.3f}, recorded {recorded:.3f}, at least {least:.3f}"
    return Verdict(passed, f"{line}: ok" if passed else f"{line}: too slow. {HOW_TO_RECORD}")


def measure(cores: Cores, recorded: float | None) -> Spread:
    """Measure the ratio; when it would fail, again for twice as long, since the machine may be busy.

    Raises:
        Unavailable: One of the two servers does not work.
    """
    with ExitStack() as stack:
        turns = {name: _turn(stack, ROWS[name], cores) for name in (ASYNC, FLOOR)}
        ratios = _ratios(turns)
        if recorded is not None and not judge(spread(ratios).median, recorded).passed:
            ratios += _ratios(turns)
    return spread(ratios)


def _turn(stack: ExitStack, row: Row, cores: Cores) -> Callable[[], Pace]:
    server = stack.enter_context(running(SERVERS[row.server], cores))
    with new_client() as client:
        verify(client, server.url, row.request)
    turn = partial(drive, server, row.request)
    turn()  # A warm-up.
    return turn


def _ratios(turns: Mapping[str, Callable[[], Pace]]) -> list[float]:
    paces, failed = take_turns(turns, _PAIRS)
    if failed:
        raise Unavailable("; ".join(f"{name} {reason}" for name, reason in failed.items()))
    return list(map(_ratio, paces[ASYNC], paces[FLOOR]))


def _ratio(ours: Pace, floor: Pace) -> float:
    """Compare by processor time where it is known: it is what calls per second are on a machine without neighbors."""
    if ours.processor_us is None or floor.processor_us is None:
        return ours.calls_per_second / floor.calls_per_second
    return floor.processor_us / ours.processor_us


def main() -> int:
    """Measure, and judge or record."""
    parser = argparse.ArgumentParser(prog="python -m bench.guard", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write the measured ratio into bench/guard.json")
    record = parser.parse_args().record
    recorded = None if record else float(json.loads(RECORD.read_text())["ratio"])
    console = Console()
    try:
        measured = measure(take_cores(), recorded)
    except Unavailable as error:
        console.print(f"the guard cannot measure: {error}")
        return 2
    if recorded is None:
        RECORD.write_text(json.dumps({"ratio": round(measured.median, 3)}) + "\n")
        console.print(f"recorded {measured.median:.3f} ({measured.low:.3f} to {measured.high:.3f})")
        return 0
    verdict = judge(measured.median, recorded)
    console.print(verdict.text)
    return 0 if verdict.passed else 1


if __name__ == "__main__":
    sys.exit(main())
