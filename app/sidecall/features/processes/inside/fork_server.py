"""The fork server: it runs no tool, and forks the processes that do."""

import ctypes
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple, NoReturn

from sidecall.features.processes.child import pack
from sidecall.features.processes.fork_server_watch import KILL, ORDER, RETIRE, SIGN
from sidecall.kernel.concurrency.descendants import (
    add_descendants,
    children_of,
    kill,
    kill_group,
    mark_this_process,
    owner_of,
)

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# How often to look again for what was started while the others were being killed.
_ROUNDS = 4
# Seconds that what descends from here has for its end, less than the server waits for it, and between two looks.
_PATIENCE = 1.5
_PAUSE = 0.05

# Runs in a child, over the socket that leads to the server, with the descriptor of the code to load.
Serve = Callable[[socket.socket, int], None]


class _Forked(NamedTuple):
    number: int
    sock: socket.socket


class ForkServer:
    """Forks and kills children on order, reports their ends, and ends with its server.

    It has one thread, so that forking it is safe and takes milliseconds.
    """

    def __init__(self, control: socket.socket, serve: Serve, mark: int, said: Sequence[bytes] = ()) -> None:
        """Prepare to serve.

        Args:
            control: The socket over which orders come.
            serve: What a child does.
            mark: What all children are known by.
            said: Messages for the server, which the first child passes on.
        """
        self._control = control
        self._mark = mark
        self._serve = serve
        self._said = [*said]
        self._children: dict[int, _Forked] = {}
        self._pids: dict[int, int] = {}
        self._killed: set[int] = set()
        self._pid = os.getpid()
        self._is_retired = False
        # Processes that tools have started and left alone become children of this one, which finds and ends them so,
        # and not of a server that, as process 1 of a container, would have to reap them.
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        self._woken, self._wakeup = socket.socketpair()
        self._woken.setblocking(False)
        self._wakeup.setblocking(False)
        # The end of a child wakes the loop, since a handler that reaps it could run in the middle of a fork. Children
        # have the handler of before, which a tool's module may have set.
        self._handler = signal.signal(signal.SIGCHLD, lambda *_: None) or signal.SIG_DFL
        signal.set_wakeup_fd(self._wakeup.fileno(), warn_on_full_buffer=False)

    def run(self) -> None:
        """Serve orders until the server is gone, then kill all descendants."""
        try:
            while self._obey():
                self._reap()
                if self._is_retired and not self._children:
                    return
        finally:
            self._kill_all()

    def _obey(self) -> bool:
        others, seconds = self._others()
        ready, _, _ = select.select([self._control, self._woken, *others], [], [], seconds)
        if self._woken in ready:
            self._woken.recv(4096)
        self._hear(ready)
        if self._control not in ready:
            return True
        order, handed, _, _ = socket.recv_fds(self._control, ORDER.size, 2)
        if len(order) < ORDER.size:
            return False
        with suppress(OSError):  # A sign of life; where the server reads none, it misses none.
            self._control.send(SIGN, socket.MSG_DONTWAIT)
        what, number, generation = ORDER.unpack(order)
        self._carry_out(what, number, generation, handed)
        return True

    def _others(self) -> tuple[Iterable[socket.socket], float | None]:
        """Return what is to be heard beside the server, and for how long."""
        return (), None

    def _hear(self, ready: Sequence[socket.socket]) -> None:
        """Read what the others say."""

    def _carry_out(self, what: bytes, number: int, generation: int, handed: Sequence[int]) -> None:  # noqa: ARG002
        if what == RETIRE:
            self._is_retired = True
        if what == KILL and number in self._pids:
            self._kill(self._pids[number])
        if len(handed) == 2:
            with closed_after(handed[1]):
                self._fork(number, open_socket(handed[0]), handed[1])
        else:
            for fd in handed:  # Not all have come with an order to fork when this process may open no more.
                os.close(fd)

    def _fork(self, number: int, sock: socket.socket, code: int) -> None:
        said, self._said = self._said, []
        try:
            pid = os.fork()
        except OSError:
            report_end(sock, None)
            return
        if pid == 0:
            self._become(partial(self._begin, sock, code, said))
        with suppress(OSError):  # It has done so itself.
            os.setpgid(pid, pid)
        self._children[pid] = _Forked(number, sock)
        self._pids[number] = pid

    def _begin(self, sock: socket.socket, code: int, said: Sequence[bytes]) -> None:
        for message in said:
            sock.sendall(message)
        self._serve(sock, code)

    def _become(self, run: Callable[[], None]) -> NoReturn:
        """Become a child: close the fork server's resources, and do what it is there for."""
        status = 1
        try:
            os.setpgid(0, 0)
            mark_this_process(self._mark)
            _end_with_parent(self._pid)
            _set_batch_policy()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, self._handler)
            self._close_own()
            run()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(status)

    def _close_own(self) -> None:
        """Close, in a child, what leads elsewhere."""
        others = [forked.sock for forked in self._children.values()]
        for inherited in (self._control, self._woken, self._wakeup, *others):
            inherited.close()

    def _kill(self, pid: int) -> None:
        """Kill a child and its descendants; its process id stays valid until it is reaped."""
        self._killed.add(pid)
        self._kill_leftovers()
        kill_group(pid)
        kill(pid)  # It may not have come to lead its group.

    def _reap(self) -> None:
        """Reap ended children, and kill what they left running."""
        ended = self._collect_ended()
        if not ended:
            return
        gone = []
        for pid, status in ended:
            if pid in self._children:
                gone.append((self._children.pop(pid), status))
                self._killed.discard(pid)
                kill_group(pid)
        # Also after the end of what is no child of ours: it may have had children of its own, which are here now.
        self._kill_leftovers()
        for forked, status in gone:
            del self._pids[forked.number]
            report_end(forked.sock, os.waitstatus_to_exitcode(status))

    def _collect_ended(self) -> list[tuple[int, int]]:
        found = []
        with suppress(ChildProcessError):  # There is none left.
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                found.append(ended)
        return found

    def _kill_leftovers(self) -> None:
        """Kill descendants of dead or killed children, until none are left."""
        killed: set[int] = set()
        for _ in range(_ROUNDS):
            found = [pid for pid in add_descendants(self._list_leftovers()) if pid not in killed]
            if not found:
                return
            for pid in found:
                kill(pid)
            killed.update(found)

    def _list_leftovers(self) -> list[int]:
        """List the children to be killed, and orphans of those and of dead children."""
        living = (self._children.keys() - self._killed) | self._list_templates()
        owners = {pid: pid if pid in self._children else owner_of(pid, self._mark) for pid in children_of(self._pid)}
        return [pid for pid, owner in owners.items() if owner is not None and owner not in living]

    def _list_templates(self) -> set[int]:
        """Return the children that run no tool."""
        return set()

    def _kill_all(self) -> None:
        """Kill all descendants, and reap them as they are reparented here."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            for pid in self._children:
                kill_group(pid)
            for pid in (*self._children, *self._list_templates(), *add_descendants(children_of(self._pid))):
                kill(pid)
            for pid, _ in self._collect_ended():
                self._children.pop(pid, None)
            if not _has_children():
                return
            select.select([self._woken], [], [], _PAUSE)
            with suppress(BlockingIOError):
                self._woken.recv(4096)


@contextmanager
def closed_after(fd: int) -> Iterator[None]:
    """Close a descriptor at the end."""
    try:
        yield
    finally:
        os.close(fd)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def open_socket(fd: int) -> socket.socket:
    """Open a socket that blocks, even if a tool's module has set a default timeout."""
    sock = socket.socket(fileno=fd)
    sock.settimeout(None)
    return sock


def report_end(sock: socket.socket, code: int | None) -> None:
    """Report how a child ended, and whether it left a request unread, on its own socket after its last message."""
    with sock, suppress(OSError):
        # From now on the server cannot send, so nothing comes after the look.
        sock.shutdown(socket.SHUT_RD)
        sock.send(pack("end", None, [code, _is_unread(sock)]), socket.MSG_DONTWAIT)


def _is_unread(sock: socket.socket) -> bool:
    try:
        return bool(sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except OSError:
        return False


def _end_with_parent(parent: int) -> None:
    """Ask the system to kill this process when its parent dies, where supported."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # It died before it was asked to tell.
        os._exit(1)


def _set_batch_policy() -> None:
    """Let this process wait for its turn when it wakes up, so that a server hands on all its calls without a break."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def wake_with_parent() -> None:
    """Ask the system to let this process go on when its parent dies, so that it ends all that descends from it."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def _prctl(option: int, argument: int) -> None:
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)
