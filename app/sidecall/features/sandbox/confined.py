"""One program in a sandbox, from its start until all its processes are gone."""

import asyncio
import errno
import fcntl
import json
import os
import resource
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress

from sidecall.features.sandbox.bubblewrap import (
    COPIED,
    FILES,
    SandboxBackend,
    SandboxSpec,
    list_limits,
    write_arguments,
)
from sidecall.features.sandbox.cgroups import HeldGroup
from sidecall.features.sandbox.launcher import is_readable, store_bytes, wait_until_readable
from sidecall.kernel.concurrency.coroutines import read_error
from sidecall.kernel.concurrency.pools import SANDBOXES
from sidecall.kernel.ports.sandbox import SandboxFailed

_MOST_STATUS = 8192

_MOST_WORDS = 2000
# Bytes of the pipe of a blank one: more than the variables of a conversation take.
_ROOM_FOR_ARGUMENTS = 262_144
# Milliseconds to wait for the end of a killed process.
_PATIENCE = 1000


class Confined:
    """A program in its own sandbox; all its children end with it."""

    def __init__(self, backend: SandboxBackend, spec: SandboxSpec, *, is_blank: bool = False) -> None:
        """Start the program, which waits for `begin`; a blank one waits for `fill` before.

        Raises:
            SandboxFailed: The system has no room for another process.
        """
        self._backend, self._spec = backend, spec
        self._status = bytearray()
        self._words = bytearray()
        self._streams: list[Stream] = []
        self._told: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._go, self._arguments = -1, -1
        self._options: Callable[[SandboxSpec], bytes] | None = None
        self._inner: int | None = None
        groups, limits = backend.groups, spec.limits
        self._group = None if groups is None else HeldGroup(groups, limits.memory_bytes, limits.processes)
        self._joining: asyncio.Future[None] | None = None
        self._is_inside = False
        self._is_closed = False
        self._ending: asyncio.Future[None] | None = None
        with ExitStack() as theirs, ExitStack() as ours:
            try:
                self._start(theirs, ours, is_blank=is_blank)
            except OSError as error:
                raise SandboxFailed(f"no sandbox can be started: {error.strerror}") from error
            ours.pop_all()

    def join_early(self) -> None:
        """Put a blank one into its cgroup before it is filled, since the kernel takes some time for it."""
        if self._group is not None:
            self._joining = asyncio.ensure_future(self._join_as_outer(self._group))
            self._joining.add_done_callback(read_error)

    async def _join_as_outer(self, group: HeldGroup) -> None:
        await self._program.wait_started()
        await SANDBOXES.run(group.begin, self._program.pid, is_outer=True)

    def fill(self, spec: SandboxSpec) -> None:
        """Give a blank one its mounts and variables; all else is as it was started with.

        Raises:
            SandboxFailed: It has ended, or there are too many variables.
        """
        assert self._options is not None
        joining = self._joining
        # Then what it starts is born there.
        self._is_inside = joining is not None and joining.done() and joining.exception() is None
        arguments, self._arguments = self._arguments, -1
        body = self._options(spec)
        try:
            is_whole = os.write(arguments, body) == len(body)
        except OSError:
            is_whole = False
        finally:
            os.close(arguments)
        if not is_whole:
            raise SandboxFailed("a sandbox that waits has ended")

    def has_ended(self) -> bool:
        """Return whether it has ended, also while it waits."""
        return self._is_closed or self._program.has_ended()

    async def begin(self) -> None:
        """Apply the limits, and let it run.

        Raises:
            SandboxFailed: The limits cannot be applied, or it has ended; the message says why.
        """
        await self._told
        pid = self._read_status("child-pid")
        if pid is None:
            await self.wait()
            raise SandboxFailed(self.trouble)
        try:
            self._inner = os.pidfd_open(pid)
            for kind, most in list_limits(self._spec.limits, is_grouped=self._backend.groups is not None):
                resource.prlimit(pid, kind, (most, most))
            await self._join(pid)
            if self._is_closed:
                raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
            os.write(self._go, b"g")
        except OSError as error:
            self.read_on()  # It may have ended by itself, with a reason.
            self.close()
            said = self.trouble if self._words else f"a sandbox cannot be bounded: {error}"
            raise SandboxFailed(said) from error

    async def _join(self, pid: int) -> None:
        """Put the first process of the sandbox into its cgroup, unless it was born there."""
        if self._group is None or self._is_inside:
            return
        if self._joining is None:
            await SANDBOXES.run(self._group.begin, pid)
        else:
            await asyncio.shield(self._joining)
            await SANDBOXES.run(self._group.add, pid)

    async def wait(self) -> int | None:
        """Wait until all processes are gone; return the exit code, None if it never began."""
        try:
            await self._program.wait_ended()
            if self._inner is not None:
                await wait_until_readable(self._inner)
            for stream in self._streams:
                stream.finish()
        finally:
            self.close()
            await self.wait_closed()
        return self._read_status("exit-code")

    def read_on(self) -> None:
        """Read at once what it has written so far."""
        for stream in self._streams:
            stream.read_on()

    def kill(self) -> None:
        """Kill all processes; waiters are notified when they are gone."""
        if self._is_closed:
            return
        if self._inner is None:
            self._program.end()
            return
        with suppress(OSError):
            signal.pidfd_send_signal(self._inner, signal.SIGKILL)

    def close(self) -> None:
        """Start to release its resources; it is killed if it still runs."""
        if self._is_closed:
            return
        self._is_closed = True
        for stream in self._streams:
            stream.close()
        if self._arguments >= 0:
            os.close(self._arguments)
            self._arguments = -1
        self._program.close()
        inner, self._inner = self._inner, None
        # In a thread, since killed processes may remain for a while.
        self._ending = asyncio.ensure_future(SANDBOXES.run(self._end, inner))
        self._ending.add_done_callback(read_error)

    async def wait_closed(self) -> None:
        """Wait until nothing of it is left, once it is closed."""
        if self._ending is not None:
            await asyncio.shield(self._ending)

    def _end(self, inner: int | None) -> None:
        is_gone = False
        if inner is not None:
            with suppress(OSError):
                signal.pidfd_send_signal(inner, signal.SIGKILL)
            is_gone = is_readable(inner, _PATIENCE)
            os.close(inner)
        # Before our end of the pipe is closed, which would start it without limits.
        self._program.release(waits=not is_gone)
        os.close(self._go)
        if self._group is not None:
            self._group.end()

    @property
    def trouble(self) -> str:
        """Bubblewrap's reason why there is no sandbox."""
        said = self._words.decode(errors="replace").strip().removeprefix("bwrap: ")
        return said or self._program.trouble or "a sandbox did not begin"

    def _start(self, theirs: ExitStack, ours: ExitStack, *, is_blank: bool) -> None:
        (told, status), (read, out), (heard, err) = [_pipe(theirs, ours) for _ in range(3)]
        block, self._go = os.pipe()
        theirs.callback(os.close, block)
        ours.callback(os.close, self._go)
        files = open_files(self._spec.files, theirs)
        words, given = self._write(files, (status, block), theirs, ours, is_blank=is_blank)
        standard = {1: out, 2: err} if self._spec.stdin is None else {0: self._spec.stdin, 1: out, 2: err}
        # With an empty environment, since /proc/1/environ shows it to programs inside.
        self._program = self._backend.launcher.launch(words, {**standard, **{fd: fd for fd in given}}, self._go)
        self._streams = [
            Stream(told, self._take_status, self._notify_waiters),
            Stream(read, self._spec.out),
            Stream(heard, self._take_error),
        ]

    def _write(
        self, files: dict[str, int], told: tuple[int, int], theirs: ExitStack, ours: ExitStack, *, is_blank: bool
    ) -> tuple[list[str], tuple[int, ...]]:
        """Return the command line, and the descriptors that go with it; a blank one reads its arguments from a pipe."""
        links = [word for place, target in self._spec.links.items() for word in ("--symlink", target, place)]
        system, limits = [*self._backend.system, *links], self._spec.limits

        def write(spec: SandboxSpec) -> list[str]:
            return write_arguments(system, spec.mounts, limits, files, spec.folder, spec.variables)

        given: tuple[int, ...]
        if is_blank:
            more, given = write_more(self._backend, told, theirs)
            self._options = lambda spec: encode_arguments([*write(spec), *more])
            arguments = self._open_arguments(theirs, ours)
            words, given = name_arguments(self._backend, arguments, self._spec.command), (*given, arguments)
        else:
            words, given = write_command(self._backend, write(self._spec), self._spec.command, told, theirs)
        return words, (*files.values(), *self._spec.given, *given)

    def _open_arguments(self, theirs: ExitStack, ours: ExitStack) -> int:
        reading, self._arguments = os.pipe()
        theirs.callback(os.close, reading)
        ours.callback(os.close, self._arguments)
        os.set_blocking(self._arguments, False)
        with suppress(OSError):  # A user with many pipes gets no larger one, which takes most variables, too.
            fcntl.fcntl(self._arguments, fcntl.F_SETPIPE_SZ, _ROOM_FOR_ARGUMENTS)
        return reading

    def _take_status(self, piece: bytes) -> None:
        self._status += piece[: _MOST_STATUS - len(self._status)]
        if b"\n" in self._status:
            self._notify_waiters()

    def _notify_waiters(self) -> None:
        if not self._told.done():
            self._told.set_result(None)

    def _take_error(self, piece: bytes) -> None:
        self._words += piece[: _MOST_WORDS - len(self._words)]
        self._spec.err(piece)

    def _read_status(self, name: str) -> int | None:
        for line in bytes(self._status).splitlines():
            with suppress(ValueError):
                said = json.loads(line)
                if name in said:
                    return int(said[name])
        return None


def _pipe(theirs: ExitStack, ours: ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    ours.callback(os.close, reading)
    theirs.callback(os.close, writing)
    return reading, writing


def write_command(
    backend: SandboxBackend, options: Sequence[str], command: Sequence[str], told: tuple[int, int], theirs: ExitStack
) -> tuple[list[str], tuple[int, ...]]:
    """Return the command line of bubblewrap, and the descriptors that it needs.

    Args:
        backend: How this machine makes sandboxes.
        options: The options without descriptors.
        command: The program.
        told: The pipes for its status, and for the start signal.
        theirs: Closes the descriptors that only bubblewrap needs.
    """
    more, given = write_more(backend, told, theirs)
    # Not on the command line, which /proc/1/cmdline shows.
    arguments = store_bytes(encode_arguments([*options, *more]), theirs)
    return name_arguments(backend, arguments, command), (*given, arguments)


def name_arguments(backend: SandboxBackend, arguments: int, command: Sequence[str]) -> list[str]:
    """Return the command line for a command, with the descriptor from which bubblewrap reads its arguments."""
    return [backend.program, "--args", str(arguments), "--", *command]


def write_more(backend: SandboxBackend, told: tuple[int, int], theirs: ExitStack) -> tuple[list[str], tuple[int, ...]]:
    """Return the options for its pipes and its filter of system calls, with their descriptors."""
    status, block = told
    more = ["--json-status-fd", str(status), "--block-fd", str(block)]
    given = [status, block]
    if backend.system_calls is not None:
        given.append(store_bytes(backend.system_calls, theirs))
        more += ["--seccomp", str(given[-1])]
    return more, tuple(given)


def encode_arguments(options: Sequence[str]) -> bytes:
    """Write arguments as bubblewrap reads them from a descriptor."""
    return os.fsencode("\0".join([*options, ""]))  # In one step, since they are more than a hundred.


def open_files(more: Mapping[str, bytes], theirs: ExitStack) -> dict[str, int]:
    """Open files to copy into a sandbox, those of every sandbox included; return their places."""
    files = {}
    for place in COPIED:
        with suppress(OSError):
            files[place] = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
            theirs.callback(os.close, files[place])
    return files | {place: store_bytes(body, theirs) for place, body in {**FILES, **more}.items()}


_PIECE = 65_536
# Pieces of one pipe before others get a turn, and pieces that are read at its end.
_MOST_AT_ONCE, _MOST_AT_END = 4, 16


def do_nothing() -> None:
    """Do nothing."""


class Stream:
    """Reads a pipe until its other end is closed or the reader has enough."""

    def __init__(self, fd: int, take: Callable[[bytes], None], at_end: Callable[[], None] = do_nothing) -> None:
        """Start to hand each piece on; `at_end` is called at the end."""
        self._at_end = at_end
        self._fd = fd
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._is_open = True
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._read)

    def _read(self) -> None:
        for _ in range(_MOST_AT_ONCE):
            if not self._read_once():
                return

    def _read_once(self) -> bool:
        try:
            piece = os.read(self._fd, _PIECE)
        except BlockingIOError:
            return False
        except OSError:
            piece = b""
        if piece:
            self._take(piece)
            return len(piece) == _PIECE
        self.close()
        return False

    def read_on(self) -> None:
        """Read what is in the pipe now, even if a program keeps filling it."""
        for _ in range(_MOST_AT_END):
            if not (self._is_open and self._read_once()):
                return

    def finish(self) -> None:
        """Read what is left in the pipe, without waiting for its other end to close."""
        self.read_on()
        self.close()

    def close(self) -> None:
        """Stop reading."""
        if self._is_open:
            self._is_open = False
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._at_end()
