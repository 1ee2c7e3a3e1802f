"""Commands in sandboxes: what their output and their deadline cost, and how soon many begin at once."""

import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sidecall.features.sandbox.detection import open_sandbox
from sidecall.features.sandbox.shell import Shell
from sidecall.features.sandbox.shell_state import ShellBounds, ShellStates
from sidecall.kernel.ports.sandbox import CommandEnd, SandboxLimits
from tests.kit.processes import list_descendants
from trials.confined.viewing import forget_peak, read_peak
from trials.finding import Finding

_GIGABYTE = 1_000_000_000
_MOST_GROWTH_KB = 8 * 1024
_DEADLINE = 0.5


def run() -> Iterator[Finding]:
    """Try a gigabyte of output, ten deadlines, and two hundred commands, twenty at a time."""
    yield from asyncio.run(_try_all(_GIGABYTE, 10, 10))


def run_shortly() -> Iterator[Finding]:
    """Try a part of it."""
    yield from asyncio.run(_try_all(20_000_000, 2, 1))


async def _try_all(size: int, deadlines: int, rounds: int) -> list[Finding]:
    opened = await open_sandbox(SandboxLimits())
    if opened.backend is None:
        bar = "bubblewrap starts"
        is_forbidden = "not installed" not in opened.report.reason
        return [Finding("commands", "a sandbox", bar, opened.report.reason, is_forbidden or "CI" not in os.environ)]
    try:
        with tempfile.TemporaryDirectory() as made:
            place = Path(made)
            for name in ("files", "states"):
                (place / name).mkdir()
            shell = Shell(opened.backend, SandboxLimits(), ShellStates(place / "states"))
            commands = _Commands(shell, place / "files")
            return [await commands.print_much(size), await commands.stop(deadlines), await commands.begin(rounds)]
    finally:
        await opened.backend.launcher.close()


class _Commands:
    def __init__(self, shell: Shell, directory: Path) -> None:
        self._shell = shell
        self._directory = directory

    async def print_much(self, size: int) -> Finding:
        await self._run("true")
        # What others have taken before would hide what is taken now.
        forget_peak()
        before = read_peak()
        end = await self._run(f"head -c {size} /dev/zero", 120)
        grown = read_peak() - before
        measured = f"{end.sizes[0]:,} bytes, {grown / 1024:.1f} MB"
        holds = end.sizes[0] == size and grown <= _MOST_GROWTH_KB
        return Finding("commands", f"{size:,} bytes of output", "at most 8 MB of memory", measured, holds)

    async def stop(self, times: int) -> Finding:
        late = []
        for _ in range(times):
            begun = time.perf_counter()
            await self._run("setsid sleep 60 & sleep 60", _DEADLINE)
            late.append(time.perf_counter() - begun - _DEADLINE)
        left = list_descendants(os.getpid(), "sleep")
        measured = f"{len(left)} left, answered {max(late) * 1000:.0f} ms after it at most"
        bar = "nothing left, answered within 300 ms of its deadline"
        return Finding("commands", "a child in its own session", bar, measured, not left, max(late) <= 0.3)

    async def begin(self, rounds: int) -> Finding:
        taken: list[float] = []
        for _ in range(rounds):
            taken += await asyncio.gather(*(self._time() for _ in range(20)))
        slowest = sorted(taken)[int(len(taken) * 0.99) - 1] * 1000
        bar = "99 of 100 have ended within 150 ms"
        return Finding("commands", "20 at once", bar, f"p99 {slowest:.0f} ms", len(taken) == 20 * rounds, slowest < 150)

    async def _time(self) -> float:
        begun = time.perf_counter()
        await self._run("true")
        return time.perf_counter() - begun

    async def _run(self, command: str, seconds: float = 30) -> CommandEnd:
        return await self._shell.run(command, self._directory, ShellBounds(seconds=seconds), lambda _: None)
