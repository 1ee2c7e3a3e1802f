"""Start programs on order, in a process so small that a start takes next to no time; a program of its own.

An order is a message with descriptors: of a file with its words, of a socket, of a pipe to hold, and what the program
gets. Over the socket the program's id goes back, or why there is none. The end of the socket ends the program; the pipe
is held until it has ended. With the server, or without orders any more, all programs end.
"""

import ctypes
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

# The program's id, and the error's number; one of them is 0.
_ANSWER = struct.Struct("!ii")
# Linux passes no more with a message.
_MOST_DESCRIPTORS = 253
_PR_SET_CHILD_SUBREAPER = 36
# Seconds for the end of all, and between two looks.
_PATIENCE, _PAUSE = 1.5, 0.05


class _Program(NamedTuple):
    pid: int
    sock: socket.socket
    held: int


class ProgramLauncher:
    """Starts and ends programs; it has one thread, and never waits for one of them."""

    def __init__(self, control: socket.socket, server: int) -> None:
        """Prepare to take orders over a socket from a server, which is watched by the descriptor of its process."""
        self._control = control
        self._server = server
        # By the number of their sockets.
        self._running: dict[int, _Program] = {}
        self._ending: list[_Program] = []
        # What a program that was killed in the middle of its own start leaves behind comes here.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._woken, self._wakeup = socket.socketpair()
        for sock in (self._woken, self._wakeup):
            sock.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)
        self._poll = select.poll()
        for fd in (control.fileno(), server, self._woken.fileno()):
            self._poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """Take orders until the server has ended or closed its socket."""
        try:
            while self._take_turn(self._wait()):
                self._reap()
        finally:
            self._end_all()

    def _wait(self) -> set[int]:
        return {fd for fd, _ in self._poll.poll(_PAUSE * 1000 if self._ending else None)}

    def _take_turn(self, ready: set[int]) -> bool:
        if self._server in ready:
            return False
        if self._woken.fileno() in ready:
            self._woken.recv(4096)
        for fd in ready & self._running.keys():
            self._end(fd)
        return self._control.fileno() not in ready or self._obey()

    def _obey(self) -> bool:
        order, given = _receive(self._control)
        if not order:
            return False
        told, sock, held, *others = [*given, -1, -1, -1][: max(3, len(given))]
        if sock < 0:  # This process may open no more.
            _close(given)
            return True
        answer = socket.socket(fileno=sock)
        try:
            pid = _start(_read(told), others)
        except (OSError, ValueError) as error:
            _close([held])
            with answer, suppress(OSError):
                answer.send(_ANSWER.pack(0, getattr(error, "errno", None) or errno.EINVAL))
        else:
            self._running[sock] = _Program(pid, answer, held)
            self._poll.register(sock, select.POLLIN)
            with suppress(OSError):  # The server has closed the socket, so that the next turn ends the program.
                answer.send(_ANSWER.pack(pid, 0))
        finally:
            _close([told, *others])
        return True

    def _end(self, fd: int) -> None:
        self._poll.unregister(fd)
        program = self._running.pop(fd)
        self._ending.append(program)
        os.kill(program.pid, signal.SIGKILL)  # Its id is valid until it is reaped.

    def _reap(self) -> None:
        """Reap programs that were ended, and let go of them once nothing of them is left."""
        if not self._ending:
            return
        left = [program for program in self._ending if not _is_reaped(program.pid)]
        known = {program.pid for program in (*self._running.values(), *left)}
        orphans = [pid for pid in _list_children() if pid not in known]
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _is_reaped(pid)
        for program in [] if orphans else self._ending:  # Else at the next look.
            if program not in left:
                os.close(program.held)
                program.sock.close()
        self._ending = self._ending if orphans else left

    def _end_all(self) -> None:
        end = time.monotonic() + _PATIENCE
        for fd in [*self._running]:
            self._end(fd)
        while self._ending and time.monotonic() < end:
            self._reap()
            select.select([self._woken], [], [], _PAUSE)
            with suppress(BlockingIOError):
                self._woken.recv(4096)


def _receive(sock: socket.socket) -> tuple[bytes, list[int]]:
    """Receive a message and descriptors, which no program inherits; `recv_fds` drops the flag for that."""
    fds = array("i")
    room = socket.CMSG_LEN(_MOST_DESCRIPTORS * fds.itemsize)
    message, beside, _, _ = sock.recvmsg(1, room, socket.MSG_CMSG_CLOEXEC)
    for _, _, body in beside:
        fds.frombytes(body[: len(body) - len(body) % fds.itemsize])
    return message, list(fds)


def _read(fd: int) -> tuple[list[bytes], list[int]]:
    """Return the words of a program, and the numbers that it knows its descriptors by."""
    words, numbers = json.loads(os.pread(fd, os.fstat(fd).st_size, 0))
    return [word.encode("latin-1") for word in words], numbers


def _start(order: tuple[list[bytes], list[int]], given: Sequence[int]) -> int:
    words, numbers = order
    if len(given) != len(numbers):
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    moved: list[int] = []
    try:
        sources = [_move(fd, numbers, moved) for fd in given]
        return os.posix_spawn(
            words[0],
            words,
            {},
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for fd, number in zip(sources, numbers, strict=True)],
            setsid=True,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
        )
    finally:
        _close(moved)


def _move(fd: int, numbers: Sequence[int], moved: list[int]) -> int:
    """Return a copy of a descriptor whose number the program knows no other one by."""
    while fd in numbers:
        fd = os.dup(fd)
        moved.append(fd)
    return fd


def _close(descriptors: Iterable[int]) -> None:
    for fd in descriptors:
        if fd >= 0:
            os.close(fd)


def _is_reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _list_children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            return [int(pid) for pid in children.read().split()]
    except OSError:
        return []


def main(control: str) -> None:
    """Take orders over a socket from the process that has started this one."""
    os.chdir("/")
    # With all that it starts, it waits for its turn when it wakes up, and never interrupts the server.
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    server = os.pidfd_open(os.getppid())
    sock = socket.socket(fileno=int(control))
    os.set_inheritable(sock.fileno(), False)
    ProgramLauncher(sock, server).run()


if __name__ == "__main__":
    main(sys.argv[1])
