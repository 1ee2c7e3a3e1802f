"""Start the fork server of tools with `executor="sandbox"` in one sandbox, which all of them share."""

import json
import os
import resource
import select
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from sidecall.features.processes.fork_server_watch import await_end
from sidecall.features.sandbox.bubblewrap import Mount, SandboxBackend, list_limits, mount_python, write_arguments
from sidecall.features.sandbox.cgroups import Group
from sidecall.features.sandbox.confined import open_files, write_command
from sidecall.features.sandbox.launcher import AwaitedProgram
from sidecall.kernel.ports.sandbox import SandboxFailed, SandboxLimits

_MOST_STATUS = 8192

_PATIENCE_MS = 10_000
# Memory of Python with all of Sidecall loaded, without the tools.
_BASE_MB = 512

_PROCESSES_EACH = 32

_TEMPORARY = "/tmp"  # noqa: S108  the sandbox's own


class ForkServerLauncher:
    """Starts the fork server of sandboxed tools once it is known how this machine makes sandboxes."""

    def __init__(self, processes: int, memory_limit_mb: int) -> None:
        """Bound each process, and so many together."""
        self.backend: SandboxBackend | None = None
        each = memory_limit_mb + _BASE_MB
        self._each = SandboxLimits(memory_mb=each, processes=processes * _PROCESSES_EACH, open_files=1024)
        self._together = replace(self._each, memory_mb=processes * memory_limit_mb + _BASE_MB)
        self._group: Group | None = None

    def launch(self, command: Sequence[str], handed: int, out: int, env: Mapping[str, str] | None) -> AwaitedProgram:
        """Start a command in a sandbox that has only Python and Sidecall, and wait until it has begun.

        Raises:
            SandboxFailed: There is no sandbox.
        """
        backend = self.backend
        if backend is None:
            raise SandboxFailed("the sandbox was not tried yet")
        self.close()
        with ExitStack() as theirs:
            files = open_files({}, theirs)
            mounts = [*mount_python(), _mount_sidecall()]
            options = write_arguments(backend.system, mounts, self._each, files, _TEMPORARY, env or {})
            told, status = os.pipe()
            block, go = os.pipe()
            for fd in (told, block, go):
                theirs.callback(os.close, fd)
            words, given = write_command(backend, options, command, (status, block), theirs)
            named = {fd: fd for fd in (*files.values(), *given, handed)}
            try:
                program = backend.launcher.launch_and_wait(words, {1: out, 2: out, **named}, go)
            except OSError as error:
                raise SandboxFailed(error.strerror or str(error)) from error
            finally:
                os.close(status)
            try:
                self._release(backend, _wait_for_pid(told), go)
            except BaseException:
                program.kill()  # Until it has ended, the other process holds the pipe whose end would let it begin.
                await_end(program)
                raise
        return program

    def close(self) -> None:
        """Remove what bounded it, once it has ended."""
        if self._group is not None:
            self._group.remove()
            self._group = None

    def _release(self, backend: SandboxBackend, pid: int, go: int) -> None:
        for kind, most in list_limits(self._each, is_grouped=True):
            resource.prlimit(pid, kind, (most, most))
        if backend.groups is not None:
            self._group = backend.groups.open(self._together.memory_bytes, self._together.processes)
            self._group.add(pid)
        os.write(go, b"g")


def _mount_sidecall() -> Mount:
    place = str(Path(__file__).resolve().parents[2])
    return Mount(place, place)


def _wait_for_pid(told: int) -> int:
    """Read from bubblewrap the id of the process to bound.

    Raises:
        SandboxFailed: Bubblewrap gave none.
    """
    poll = select.poll()
    poll.register(told, select.POLLIN)
    body = b""
    while b"\n" not in body and poll.poll(_PATIENCE_MS) and (piece := os.read(told, _MOST_STATUS)):
        body += piece
    try:
        return int(json.loads(body.splitlines()[0])["child-pid"])
    except (ValueError, IndexError, KeyError):
        raise SandboxFailed("bubblewrap does not start") from None
