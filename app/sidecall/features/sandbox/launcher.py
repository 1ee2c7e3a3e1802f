"""Start programs from a small process, since starting one from the server would hold up its event loop.

A start holds the interpreter's lock until the new program has begun, here for milliseconds.
"""

import asyncio
import errno
import json
import logging
import math
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from sidecall.kernel.concurrency.pools import SERVER

logger = logging.getLogger("sidecall")

_PROGRAM = Path(__file__).with_name("inside") / "launch.py"
# The program's id, and the error's number; one of them is 0.
_ANSWER = struct.Struct("!ii")
# Seconds between two looks at an order, and how many find nothing until the process stands still. Looks are counted
# rather than seconds, so that the time for which this process was stopped itself does not count. At its start it has to
# import a little.
_LOOK = 1.0
_LOOKS = 5
# Seconds that it has for the end of all programs.
_SECONDS_TO_END = 2.0
_ENDED = "the process that starts sandboxes has ended"
_REPLACED = f"{_ENDED}; another takes its place"
_STANDS_STILL = "the process that starts sandboxes stands still; it is killed, and another takes its place"


class LaunchedProgram:
    """A program that was ordered, which ends with this object's socket."""

    def __init__(self, sock: socket.socket, launcher: "LauncherProcess", process: subprocess.Popen[bytes]) -> None:
        """Wait for the answer of a launcher's process on the present event loop."""
        self._socket = sock
        self._launcher = launcher
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._answered: asyncio.Future[None] = self._loop.create_future()
        self._looks = 0
        self._timer = self._loop.call_later(_LOOK, self._look)
        self._loop.add_reader(sock.fileno(), self._read)
        self._pidfd = -1
        self.pid = 0
        #: Why it did not start, or why it ended with the launcher's process.
        self.trouble = ""

    async def wait_started(self) -> None:
        """Wait until it has started.

        Raises:
            ProcessLookupError: It has not.
        """
        await asyncio.shield(self._answered)
        if self.trouble:
            raise ProcessLookupError(errno.ESRCH, self.trouble)

    async def wait_ended(self) -> None:
        """Wait until it has ended, or could not start."""
        await asyncio.shield(self._answered)
        if self._pidfd >= 0:
            await wait_until_readable(self._pidfd)
        # Nothing else comes over it before it is let go of.
        if not self.trouble and is_readable(self._socket.fileno(), 0):
            self.trouble = _ENDED

    def has_ended(self) -> bool:
        """Return whether it has ended, or could not start."""
        if not self._answered.done():
            return False
        return self._pidfd < 0 or is_readable(self._pidfd, 0)

    def end(self) -> None:
        """Have it killed, with all that it has started outside of its sandbox."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Hear no answer any more."""
        self._settle("it was not wanted any more")

    def release(self, *, waits: bool) -> None:
        """Let go of it, once it is closed; `waits` until nothing is left of it. It is killed if it still runs."""
        self.end()
        if waits and not self._is_let_go():
            self._launcher.give_up(self._process)
        self._socket.close()
        if self._pidfd >= 0:
            with suppress(OSError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            os.close(self._pidfd)

    def _is_let_go(self) -> bool:
        """Return whether the launcher's process says that nothing is left, for as long as it may take."""
        for _ in range(_LOOKS):
            while is_readable(self._socket.fileno(), int(_LOOK * 1000)):
                with suppress(ConnectionError):
                    if self._socket.recv(_ANSWER.size):
                        continue  # The answer to its order, which was not read before.
                return True
        return False

    def _read(self) -> None:
        try:
            self.pid, self._pidfd = _read_answer(self._socket)
        except BlockingIOError:
            return
        except ProcessLookupError as error:
            self._settle(error.strerror or _ENDED)
        else:
            self._settle("")

    def _settle(self, trouble: str) -> None:
        if not self._answered.done():
            self._timer.cancel()
            self._loop.remove_reader(self._socket.fileno())
            self.trouble = trouble
            self._answered.set_result(None)

    def _look(self) -> None:
        self._looks += 1
        if self._looks < _LOOKS:
            self._timer = self._loop.call_later(_LOOK, self._look)
        else:
            self._launcher.give_up(self._process)


class AwaitedProgram:
    """A program that was ordered, for threads: it is killed and waited for as a child process is."""

    def __init__(self, sock: socket.socket, launcher: "LauncherProcess", process: subprocess.Popen[bytes]) -> None:
        """Wait until it has started.

        Raises:
            ProcessLookupError: It has not.
        """
        self._socket = sock
        if not any(is_readable(sock.fileno(), int(_LOOK * 1000)) for _ in range(_LOOKS)):
            launcher.give_up(process)
            raise ProcessLookupError(errno.ESRCH, _ENDED)
        self.pid, self._pidfd = _read_answer(sock)
        # Any number of threads may wait or kill, so that it stays open as long as this object is known.
        weakref.finalize(self, os.close, self._pidfd)

    def poll(self) -> None:
        """Return None: with which code it ends, only the process that has started it could say."""

    def kill(self) -> None:
        """Kill it, and have killed what it has started outside of its sandbox."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it has ended, and let go of it.

        Raises:
            subprocess.TimeoutExpired: It has not within so many seconds.
        """
        if not is_readable(self._pidfd, -1 if timeout is None else math.ceil(timeout * 1000)):
            assert timeout is not None
            raise subprocess.TimeoutExpired("a program in a sandbox", timeout)
        self._socket.close()


def _read_answer(sock: socket.socket) -> tuple[int, int]:
    """Read the answer to an order: the id of the program, and a descriptor of its process.

    Raises:
        BlockingIOError: There is none yet.
        ProcessLookupError: The program has not started; the message says why.
    """
    try:
        answer = sock.recv(_ANSWER.size)
    except BlockingIOError:
        raise
    except OSError:
        answer = b""
    if len(answer) < _ANSWER.size:
        raise ProcessLookupError(errno.ESRCH, _ENDED)
    pid, number = _ANSWER.unpack(answer)
    try:
        if not number:
            return pid, os.pidfd_open(pid)
    except OSError as error:
        number = error.errno
    raise ProcessLookupError(errno.ESRCH, f"no sandbox can be started: {os.strerror(number)}")


P = TypeVar("P", LaunchedProgram, AwaitedProgram)


class LauncherProcess:
    """The process that starts programs, as the server sees it: started on demand, and again when it has died.

    Orders do not block. If it answers none for some seconds, it is killed.
    """

    def __init__(self) -> None:
        """Prepare to start it."""
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._ending: list[subprocess.Popen[bytes]] = []

    @property
    def pid(self) -> int | None:
        """Its process id; None while there is none."""
        return None if self._process is None else self._process.pid

    def launch(self, words: Sequence[str], given: Mapping[int, int], held: int) -> LaunchedProgram:
        """Order a program, and hear of it on the present event loop.

        Args:
            words: Its command line.
            given: What it gets, by the numbers that it knows these descriptors by.
            held: A descriptor of ours that stays open until it has ended, even if this process is killed.

        Raises:
            OSError: The system has no room for it.
        """
        return self._launch(LaunchedProgram, words, given, held)

    def launch_and_wait(self, words: Sequence[str], given: Mapping[int, int], held: int) -> AwaitedProgram:
        """Order a program as `launch` does, in a thread, which waits until it has started.

        Raises:
            OSError: It has not; the message says why.
        """
        return self._launch(AwaitedProgram, words, given, held)

    def _launch(
        self,
        make: Callable[[socket.socket, "LauncherProcess", subprocess.Popen[bytes]], P],
        words: Sequence[str],
        given: Mapping[int, int],
        held: int,
    ) -> P:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        try:
            with theirs, ExitStack() as stack:
                body = json.dumps([[os.fsencode(word).decode("latin-1") for word in words], [*given]])
                told = store_bytes(body.encode(), stack)
                process = self._order([told, theirs.fileno(), held, *given.values()])
            return make(ours, self, process)
        except BaseException:
            ours.close()
            raise

    def _order(self, handed: Sequence[int]) -> subprocess.Popen[bytes]:
        with self._lock:
            for is_last in (False, True):
                control, process = self._find()
                try:
                    socket.send_fds(control, [b"s"], handed)
                except (BlockingIOError, BrokenPipeError, ConnectionResetError) as error:
                    logger.warning(_STANDS_STILL if isinstance(error, BlockingIOError) else _REPLACED)
                    self._drop(process)
                    if is_last:
                        raise
                else:
                    return process
            raise AssertionError("the last trial ends the loop")

    def _find(self) -> tuple[socket.socket, subprocess.Popen[bytes]]:
        if self._control is None or self._process is None:
            self._start()
        assert self._control is not None
        assert self._process is not None
        return self._control, self._process

    def _start(self) -> None:
        control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        control.setblocking(False)
        try:
            with theirs:
                # In a session of its own, where Ctrl-C does not reach it. It needs no package, and so no `site`.
                self._process = subprocess.Popen(  # noqa: S603  the program is our own
                    [sys.executable, "-I", "-S", str(_PROGRAM), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
        except BaseException:
            control.close()
            raise
        self._control = control

    def give_up(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process that stands still, and so all that it has started; the next order starts another."""
        with self._lock:
            if self._process is process:
                logger.warning(_STANDS_STILL)
                self._drop(process)

    def _drop(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        self._ending = [one for one in (*self._ending, process) if one.poll() is None]
        if self._control is not None:
            self._control.close()
        self._control, self._process = None, None

    async def close(self) -> None:
        """End it, with all that it has started."""
        with self._lock:
            control, self._control = self._control, None
            process, self._process = self._process, None
            ending, self._ending = self._ending, []
        if control is not None:
            control.close()
        for one in ending if process is None else (*ending, process):
            await asyncio.shield(asyncio.ensure_future(SERVER.run(_await_end, one)))


def _await_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def store_bytes(body: bytes, theirs: ExitStack) -> int:
    """Put bytes into a file without a name, which another process reads by its descriptor."""
    fd = os.memfd_create("sidecall")
    theirs.callback(os.close, fd)
    os.pwrite(fd, body, 0)
    return fd


def is_readable(fd: int, milliseconds: int) -> bool:
    """Wait for a while until there is something to read or, for a process, until it has ended."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(milliseconds))


async def wait_until_readable(fd: int) -> None:
    """Wait until there is something to read or, for a process, until it has ended."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle() -> None:
        if not future.done():
            future.set_result(None)

    loop.add_reader(fd, settle)
    try:
        await future
    finally:
        loop.remove_reader(fd)
