"""Test a kind of sandbox before anything relies on it."""

import asyncio
import json
import socket
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from sidecall.features.sandbox.bubblewrap import Running
from sidecall.features.sandbox.python_programs import Program, StartProgram
from sidecall.features.sandbox.python_sessions import KeptOutput
from sidecall.kernel.ports.sandbox import SandboxCheck, SandboxFailed

_PROBES = Path(__file__).with_name("inside") / "probes.py"

_SECONDS = 20.0
# The timeout for what has to be stopped.
_DEADLINE = 0.05

_MOST = 65_536

_WORDS = {
    "files": "it writes nothing outside",
    "network": "it reaches no network",
    "environment": "it sees no environment",
    "processes": "its processes are bounded",
    "memory": "its memory is bounded",
    "deadline": "it ends at its deadline",
}


async def try_sandbox(start: StartProgram, *, may_fork: bool) -> tuple[SandboxCheck, ...]:
    """Probe what must not succeed in a sandbox, and return the results.

    Args:
        start: Starts a Python program there.
        may_fork: Whether programs may start others, within a bound.

    Raises:
        SandboxFailed: There is no such sandbox on this machine.
    """
    with tempfile.TemporaryDirectory(prefix="sidecall-") as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        found, deadline = await asyncio.gather(
            _try_all(start, Path(folder), (port, str(int(may_fork)))),
            _try_deadline(start, Path(folder)),
            return_exceptions=True,
        )
    for one in (found, deadline):
        if isinstance(one, BaseException):
            raise one
    return make_checks({**found, "deadline": deadline})  # type: ignore[dict-item]  # errors were raised


def make_checks(found: Mapping[str, str]) -> tuple[SandboxCheck, ...]:
    """Format the result of each probe; an empty text means that nothing succeeded that must not."""
    return tuple(SandboxCheck(_WORDS[name], not trouble, trouble) for name, trouble in found.items())


def read_probes(body: bytes) -> dict[str, str]:
    """Read the output of the probes.

    Raises:
        SandboxFailed: There is none.
    """
    try:
        return {str(name): str(trouble) for name, trouble in json.loads(body).items()}
    except ValueError:
        raise SandboxFailed(f"Python does not run in a sandbox: {_find_words(body)}") from None


def _find_words(body: bytes) -> str:
    """Return the last line of a program's output; earlier ones are a Python traceback."""
    lines = body.decode(errors="replace").split("\n")
    return next((line.strip()[-300:] for line in reversed(lines) if line.strip()), "it said nothing")


async def _try_all(start: StartProgram, folder: Path, given: tuple[str, ...]) -> dict[str, str]:
    out = KeptOutput(_MOST)
    ended = await run_within(start(Program(file=_PROBES, directory=folder, given=given, take=out.add)), _SECONDS)
    body = out.read()[0]
    if ended.exit_code != 0:
        raise SandboxFailed(_find_words(body))
    return read_probes(body)


async def _try_deadline(start: StartProgram, folder: Path) -> str:
    ended = await run_within(start(Program(file=_PROBES, directory=folder)), _DEADLINE)
    return "" if ended.is_late else "it ended by itself"


class ProgramEnd(NamedTuple):
    """How a program ended: with an exit code, or by its timeout."""

    exit_code: int
    is_late: bool


async def run_within(running: Running, seconds: float) -> ProgramEnd:
    """Run a program, and clean up after it in any case.

    Raises:
        SandboxFailed: It could not start.
    """
    is_late = False

    def stop() -> None:
        nonlocal is_late
        is_late = True
        running.kill()

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    code: int | None = None
    try:
        await running.begin()
        code = await running.wait()
    except SandboxFailed:
        if not is_late:
            raise
    finally:
        timer.cancel()
        running.close()
        await running.wait_closed()
    if code is None and not is_late:
        raise SandboxFailed(running.trouble)
    return ProgramEnd(-1 if code is None else code, is_late)
