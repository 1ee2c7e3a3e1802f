"""Start a Python program in either kind of sandbox."""

import asyncio
import base64
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sidecall.features.sandbox.bubblewrap import (
    Mount,
    Running,
    SandboxBackend,
    SandboxSpec,
    Take,
    ignore,
    list_limits,
    mount_python,
)
from sidecall.features.sandbox.confined import Confined, Stream
from sidecall.features.sandbox.launcher import wait_until_readable
from sidecall.features.sandbox.seccomp import ALONE, DANGEROUS, SHARED, build_filter
from sidecall.kernel.concurrency.coroutines import read_error
from sidecall.kernel.concurrency.pools import SANDBOXES
from sidecall.kernel.ports.sandbox import HOME, SandboxFailed, SandboxLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program: its file, arguments, directory, input, and the consumers of its output."""

    file: Path
    directory: Path
    given: Sequence[str] = ()
    stdin: int | None = None
    take: Take = ignore


StartProgram = Callable[[Program], Running]

_FOLDER = "/run/sidecall"
_CONFINER = Path(__file__).with_name("inside") / "confined_once.py"
# What Python needs besides its own files; /proc is hidden.
_READABLE = (
    *("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/ssl/certs", "/etc/mime.types"),
    *("/dev/urandom", "/dev/random", "/dev/zero"),
)


def starter_in_bubblewrap(backend: SandboxBackend, limits: SandboxLimits) -> StartProgram:
    """Return what starts programs in sandboxes of bubblewrap."""
    return partial(_start_in_bubblewrap, backend, limits)


def starter_with_landlock(limits: SandboxLimits) -> StartProgram:
    """Return a starter of programs that drop files, network and other programs by themselves."""
    return partial(Landlocked, limits, build_filter((*DANGEROUS, *SHARED), conditions=ALONE))


def _start_in_bubblewrap(backend: SandboxBackend, limits: SandboxLimits, program: Program) -> Running:
    place = f"{_FOLDER}/{program.file.name}"
    spec = SandboxSpec(
        command=[sys.executable, "-I", place, *program.given],
        limits=limits,
        mounts=[*mount_python(), Mount(str(program.directory), HOME, is_writable=True)],
        files={place: program.file.read_bytes()},
        stdin=program.stdin,
        out=program.take,
        err=program.take,
    )
    return Confined(backend, spec)


class Landlocked:
    """A Python program, alone in its process, that has dropped everything but its directory."""

    def __init__(self, limits: SandboxLimits, system_calls: bytes, program: Program) -> None:
        """Start the program.

        Raises:
            SandboxFailed: The system has no room for another process.
        """
        told = {
            "here": str(_CONFINER.parents[1]),
            "folder": str(program.directory),
            "limits": [one for one in list_limits(limits, is_grouped=False) if one[0] != resource.RLIMIT_NPROC],
            "readable": [*_READABLE, str(program.file), *(mount.source for mount in mount_python())],
            "writable": [str(program.directory), "/dev/null"],
            "filter": base64.b64encode(system_calls).decode(),
            "argv": [str(program.file), *program.given],
        }
        with ExitStack() as theirs:
            reading, writing = os.pipe()
            theirs.callback(os.close, writing)
            try:
                self._process = subprocess.Popen(  # noqa: S603  the program is our own
                    [sys.executable, "-I", str(_CONFINER), json.dumps(told)],
                    stdin=subprocess.DEVNULL if program.stdin is None else program.stdin,
                    stdout=writing,
                    stderr=writing,
                    env={"HOME": str(program.directory), "LANG": "C.UTF-8"},
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                os.close(reading)
                raise SandboxFailed(f"Python cannot be started: {error.strerror}") from error
        self._ended = os.pidfd_open(self._process.pid)
        self._ending: asyncio.Future[int] | None = None
        self._stream = Stream(reading, program.take)

    async def begin(self) -> None:
        """Do nothing: it limits itself."""

    async def wait(self) -> int | None:
        """Wait for its end; return its exit code."""
        try:
            await wait_until_readable(self._ended)
            self._stream.finish()
        finally:
            self.close()
            await self.wait_closed()
        return self._process.returncode

    def read_on(self) -> None:
        """Read at once what it has written so far."""
        self._stream.read_on()

    def kill(self) -> None:
        """Kill the program."""
        with suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Start to release its resources; it is killed if it still runs."""
        if self._ended >= 0:
            self._process.kill()
            self._stream.close()
            os.close(self._ended)
            self._ended = -1
            self._ending = asyncio.ensure_future(SANDBOXES.run(self._process.wait))
            self._ending.add_done_callback(read_error)

    async def wait_closed(self) -> None:
        """Wait until nothing of it is left, once it is closed."""
        if self._ending is not None:
            await asyncio.shield(self._ending)

    @property
    def trouble(self) -> str:
        """Why it did not begin."""
        return "Python did not begin"
