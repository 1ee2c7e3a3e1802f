"""A shell in a sandbox of its own, which runs one command, at once or when there is one."""

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from sidecall.features.sandbox.bubblewrap import Mount, SandboxBackend, SandboxSpec, Take
from sidecall.features.sandbox.confined import Confined, Stream
from sidecall.features.sandbox.shell_state import MOST
from sidecall.kernel.concurrency.coroutines import read_error
from sidecall.kernel.ports.sandbox import HOME, SandboxFailed, SandboxLimits

_START = Path(__file__).with_name("inside") / "start_shell.sh"
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_COMMAND, _BEGIN = "/run/sidecall/command", "/run/sidecall/start"
_UNCHANGING = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
_COUNT = struct.Struct("i")


@dataclass(frozen=True, slots=True)
class ShellMaker:
    """What all shells of a server have in common."""

    backend: SandboxBackend
    limits: SandboxLimits
    program: str
    start: bytes

    @property
    def can_wait(self) -> bool:
        """Whether its shell can wait for a command; others than bash cannot."""
        return self.program.endswith("bash")


def find_shell(backend: SandboxBackend, limits: SandboxLimits) -> ShellMaker:
    """Return what shells of this machine are made with."""
    program = next(shell for shell in _SHELLS if os.access(shell, os.X_OK))
    return ShellMaker(backend, limits, program, _START.read_bytes())


@dataclass(frozen=True, slots=True)
class ShellTask:
    """A command, the folder in which it begins, and the consumers of its output."""

    command: str
    folder: bytes
    out: Take
    err: Take


class ShellProcess:
    """A shell that is started first, gets its workspace and variables then, and its command at last."""

    def __init__(self, maker: ShellMaker, folder: bytes = b"", *, waits: bool = False) -> None:
        """Start bubblewrap, which waits for its arguments and knows no workspace yet; one that `waits` is bounded then.

        A shell that cannot wait begins in this folder, and has to have its command before its workspace.

        Raises:
            SandboxFailed: The system has no room for another process.
        """
        self._task: ShellTask | None = None
        # What the shell has told of its state.
        self.told = bytearray()
        self._begun: asyncio.Future[None] | None = None
        with ExitStack() as theirs, ExitStack() as ours:
            reading, telling = os.pipe()
            ours.callback(os.close, reading)
            theirs.callback(os.close, telling)
            going, self._go = os.pipe()
            theirs.callback(os.close, going)
            ours.callback(os.close, self._go)
            self._command = os.memfd_create("sidecall", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
            ours.callback(os.close, self._command)
            self._spec = SandboxSpec(
                command=_write_command(maker, telling, going, folder),
                limits=maker.limits,
                files={_BEGIN: maker.start},
                links={_COMMAND: f"/proc/self/fd/{self._command}"},
                given=[telling, going, self._command],
                out=self._take_out,
                err=self._take_err,
            )
            self._confined = Confined(maker.backend, self._spec, is_blank=True)
            ours.pop_all()
        self._stream = Stream(reading, lambda piece: self.told.extend(piece[: MOST + 1 - len(self.told)]))
        self._is_open = True
        if waits:
            self._confined.join_early()

    def place(self, directory: Path, variables: Mapping[str, str]) -> None:
        """Give it its workspace and its variables, and let the shell wait there.

        Raises:
            SandboxFailed: It has ended.
        """
        mounts = [Mount(str(directory), HOME, is_writable=True)]
        self._confined.fill(replace(self._spec, mounts=mounts, variables=variables))
        self._begun = asyncio.ensure_future(self._confined.begin())
        self._begun.add_done_callback(read_error)

    def give(self, task: ShellTask) -> None:
        """Set the command that begins with `begin`."""
        os.pwrite(self._command, task.command.encode(errors="surrogateescape") + b"\n", 0)
        fcntl.fcntl(self._command, fcntl.F_ADD_SEALS, _UNCHANGING)  # For programs of the command, too.
        self._task = task

    def has_ended(self) -> bool:
        """Return whether it has ended while it waited."""
        return self._confined.has_ended()

    @property
    def is_unread(self) -> bool:
        """Whether it has ended before it took its command."""
        waiting = fcntl.ioctl(self._go, termios.FIONREAD, _COUNT.pack(0))
        return bool(_COUNT.unpack(waiting)[0])

    async def begin(self) -> None:
        """Let the command run.

        Raises:
            SandboxFailed: The shell could not be started.
        """
        assert self._begun is not None
        assert self._task is not None
        await asyncio.shield(self._begun)
        try:
            os.write(self._go, self._task.folder + b"\0")
        except OSError as error:
            raise SandboxFailed("the shell has ended") from error

    async def wait(self) -> int | None:
        """Wait until all processes are gone; return the exit code, None if it never began."""
        code = await self._confined.wait()
        self._stream.finish()
        return code

    def read_on(self) -> None:
        """Read at once what it has written so far."""
        self._confined.read_on()

    def kill(self) -> None:
        """Kill all processes."""
        self._confined.kill()

    def close(self) -> None:
        """Start to release its resources; it is killed if it still runs."""
        self._confined.close()
        self._stream.close()

    async def wait_closed(self) -> None:
        """Wait until nothing of it is left, once it is closed."""
        await self._confined.wait_closed()

    def _release(self) -> None:
        """Close what leads to the shell, once all was asked."""
        if self._is_open:
            self._is_open = False
            os.close(self._go)
            os.close(self._command)

    async def drop(self) -> None:
        """End it unused."""
        self.close()
        await self.wait_closed()
        self._release()

    @property
    def trouble(self) -> str:
        """Why it did not start."""
        return self._confined.trouble

    def _take_out(self, piece: bytes) -> None:
        if self._task is not None:
            self._task.out(piece)

    def _take_err(self, piece: bytes) -> None:
        if self._task is not None:
            self._task.err(piece)


def _write_command(maker: ShellMaker, telling: int, going: int, folder: bytes) -> Sequence[str]:
    if maker.can_wait:
        return [maker.program, "--noprofile", "--norc", _BEGIN, str(telling), str(going)]
    return [maker.program, _BEGIN, str(telling), "", os.fsdecode(folder)]
