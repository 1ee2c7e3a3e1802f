"""How long commands take, compared with an import of FastAPI."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.environments import ROOT, Unavailable
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.servers import plain_environment
from bench.tables import tabulate

FASTAPI = "import fastapi, s"
_TOOLS = ("--tools", str(ROOT / "bench" / "tools.py"))
_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "sidecall --version, s": ("-m", "sidecall", "--version"),
    "sidecall --help, s": ("-m", "sidecall", "--help"),
    "sidecall check, s": ("-m", "sidecall", "check", *_TOOLS),
    "sidecall call, s": ("-m", "sidecall", "call", "echo", "text=hi", *_TOOLS),
    FASTAPI: ("-c", "import fastapi"),
}
BARS = (
    Bar("sidecall --help ÷ import fastapi", "sidecall --help, s", FASTAPI, 0.8, at_least=False),
    Bar("sidecall check ÷ import fastapi", "sidecall check, s", FASTAPI, 1.3, at_least=False),
    Bar("sidecall call ÷ sidecall check", "sidecall call, s", "sidecall check, s", 1.1, at_least=False),
)
_MOST_ROUNDS = 9


@dataclass(frozen=True)
class Taken:
    """The time of a command, and of the processor for it."""

    seconds: float
    processor_seconds: float


def measure(rounds: int, cores: Cores) -> Part:
    """Run the commands in turns; the first round only warms the disk."""
    with TemporaryDirectory() as folder:
        turns: dict[str, Callable[[], Taken]] = {
            name: partial(run, cores, command, Path(folder)) for name, command in _COMMANDS.items()
        }
        take_turns(turns, 1)
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    seconds = {name: [it.seconds for it in taken] for name, taken in series.items()}
    used = {name: [it.processor_seconds for it in taken] for name, taken in series.items()}
    return tabulate("Commands", "s", seconds, BARS, failed, used)


def run(cores: Cores, command: tuple[str, ...], folder: Path, **variables: str) -> Taken:
    """Run a command in a folder, and return its time.

    Raises:
        Unavailable: It fails.
    """
    before, begun = _used(), time.perf_counter()
    environment = {**plain_environment(), **variables, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    done = subprocess.run(
        cores.pinned((sys.executable, *command)), capture_output=True, cwd=folder, env=environment, check=False
    )
    took = time.perf_counter() - begun
    if done.returncode:
        raise Unavailable(f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-120:]}")
    return Taken(took, _used() - before)


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
