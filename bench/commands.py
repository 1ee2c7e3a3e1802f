"""What commands take, compared with an import of FastAPI."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
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


def measure(rounds: int, cores: Cores) -> Part:
    """Run the commands in turns, by the processor time that they take; the first round only warms the disk."""
    with TemporaryDirectory() as folder:
        turns: dict[str, Callable[[], float]] = {
            name: partial(run, cores, command, Path(folder)) for name, command in _COMMANDS.items()
        }
        take_turns(turns, 1)
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    return tabulate("Commands", "s of processor time", series, BARS, failed)


def run(cores: Cores, command: tuple[str, ...], folder: Path, **variables: str) -> float:
    """Run a command in a folder, and return its seconds of processor time.

    Raises:
        Unavailable: It fails.
    """
    before = _used()
    environment = {**plain_environment(), **variables, "HOME": str(folder), "PYTHONPATH": os.pathsep.join(sys.path[1:])}
    done = subprocess.run(
        cores.pinned((sys.executable, *command)), capture_output=True, cwd=folder, env=environment, check=False
    )
    if done.returncode:
        raise Unavailable(f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()[-120:]}")
    return _used() - before


def _used() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime
